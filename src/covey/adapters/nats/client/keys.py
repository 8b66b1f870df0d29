"""NATS user keys: new ones, and public keys from files."""

import os
import re
from typing import Any, Final, NamedTuple, cast

from covey.core.errors import ExtraMissing, Invalid

_IN_CREDS: Final = re.compile(rb"-----BEGIN USER NKEY SEED-----\s*(?P<seed>[A-Z2-7]+)\s")


class UserKey(NamedTuple):
    """A user's key pair: a secret seed, and the public key that a server's configuration names."""

    public: str
    seed: str


def new_key() -> UserKey:
    """Create a key pair for a user."""
    nkeys = _nkeys()
    seed = bytes(nkeys.encode_seed(os.urandom(32), nkeys.PREFIX_BYTE_USER))
    return UserKey(_public(seed), seed.decode())


def public_key(setting: str, path: str) -> str:
    """Return the public key for the seed in a file, which holds a bare seed or a user's credentials."""
    try:
        with open(path, "rb") as file:
            content = file.read(64 * 1024)
    except OSError as error:
        raise Invalid(setting, path, error.strerror or str(error)) from error
    match = _IN_CREDS.search(content)
    try:
        return _public(match["seed"] if match else content.strip())
    except (ValueError, TypeError, IndexError):
        raise Invalid(setting, path, "the file has no seed of a user (SU…)") from None


def _public(seed: bytes) -> str:
    nkeys = _nkeys()
    try:
        key = nkeys.from_seed(bytearray(seed))
    except nkeys.NkeysError:
        raise ValueError from None
    public = cast(bytes, key.public_key).decode()
    if not public.startswith("U"):
        raise ValueError("not a user's key")
    return public


def _nkeys() -> Any:
    """Return the `nkeys` library, which has no type annotations."""
    try:
        import nkeys  # pyright: ignore[reportMissingTypeStubs]
    except ImportError as error:
        raise ExtraMissing("a space on NATS", "nats") from error
    return nkeys
