"""Secrets: what is kept of one."""


def hash_secret(secret: str) -> str:
    """Return what is stored of a secret."""
    from hashlib import sha256  # here because it brings OpenSSL, and most short-lived programs prove nothing

    return sha256(secret.encode()).hexdigest()
