"""Secrets: the hash that is stored in place of one."""


def hash_secret(secret: str) -> str:
    """Return the hash that is stored for a secret."""
    from hashlib import sha256  # here because it brings OpenSSL, and most short-lived programs check no secret

    return sha256(secret.encode()).hexdigest()
