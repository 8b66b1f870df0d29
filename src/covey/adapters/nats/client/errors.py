"""Translation of NATS errors into Covey errors: cause, servers and remedy, without the secrets of the settings."""

import os
import ssl
from collections.abc import Iterable
from typing import Final

import nats.errors
import nats.js.errors

from covey.adapters.nats.client.settings import NatsSettings
from covey.core.errors import (
    CoveyError,
    Invalid,
    NatsNoJetStream,
    NatsRefused,
    NatsStorageFull,
    NatsUnreachable,
    NatsUntrusted,
    Unavailable,
)

_NO_JETSTREAM: Final = frozenset({10035, 10039, 10076})
"""JetStream is not enabled for the account's tier, the account or the server."""
NO_ROOM: Final = frozenset({10002, 10022, 10023, 10028, 10047, 10077})
"""A limit of the account, the server, its memory, its storage or the stream is reached."""
TOO_FEW_SERVERS: Final = frozenset({10005, 10074})
"""The stream asks for more replicas than the cluster has servers."""
_UNTRUSTED: Final = (
    ssl.SSLError,
    nats.errors.SecureConnFailedError,
    nats.errors.SecureConnRequiredError,
    nats.errors.SecureConnWantedError,
)
_REFUSALS: Final = ("authorization violation", "authentication", "permissions violation", "user authentication")


def explained(error: BaseException, settings: NatsSettings) -> CoveyError:
    """Return the Covey error for an error of the client or the server."""
    where = settings.shown
    if isinstance(error, CoveyError):
        return error
    if isinstance(error, nats.js.errors.APIError) and error.err_code is not None:
        return _of_the_server(error, settings)
    if isinstance(error, nats.js.errors.NoStreamResponseError | nats.errors.NoRespondersError):
        return NatsNoJetStream(where, "no server answers for the stream now")
    if isinstance(error, nats.js.errors.ServiceUnavailableError):
        return NatsNoJetStream(where, "no server answers for streams")
    if _is_untrusted(error):
        return NatsUntrusted(where, _reason(error))
    if _is_refusal(error):
        return NatsRefused(where, _reason(error))
    if isinstance(error, TimeoutError | nats.errors.TimeoutError):
        return NatsUnreachable(where, "no answer in time")
    if isinstance(error, nats.js.errors.Error):
        return Unavailable(f"the NATS server at {where} failed: {_reason(error)}", servers=where)
    return NatsUnreachable(where, _reason(error))


def is_final(error: BaseException) -> bool:
    """Tell whether a retry on the same server will not help."""
    return _is_untrusted(error) or _is_refusal(error)


def most_telling(errors: Iterable[BaseException]) -> BaseException | None:
    """Return the error that best explains several failed tries: a final error first, a missing server last."""
    found: BaseException | None = None
    for error in errors:
        if is_final(error):
            return error
        if found is None or isinstance(found, nats.errors.NoServersError):
            found = error
    return found


def _of_the_server(error: nats.js.errors.APIError, settings: NatsSettings) -> CoveyError:
    where = settings.shown
    reason = error.description or f"error {error.err_code}"
    if error.err_code in _NO_JETSTREAM:
        return NatsNoJetStream(where, reason)
    if error.err_code in NO_ROOM:
        return NatsStorageFull(where, reason)
    if error.err_code in TOO_FEW_SERVERS:
        return Invalid("replicas", settings.replicas, f"the cluster has too few servers for it ({reason})")
    return Unavailable(f"the NATS server at {where} failed: {reason}", servers=where, code=error.err_code)


def _is_untrusted(error: BaseException) -> bool:
    return isinstance(error, _UNTRUSTED)


def _is_refusal(error: BaseException) -> bool:
    if isinstance(error, nats.errors.AuthorizationError):
        return True
    return isinstance(error, nats.errors.Error) and any(words in str(error).lower() for words in _REFUSALS)


def _reason(error: BaseException) -> str:
    if isinstance(error, ssl.SSLError):
        is_about_trust = isinstance(error, ssl.SSLCertVerificationError)
        return error.verify_message if is_about_trust else (error.reason or str(error)).lower().replace("_", " ")
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno)
    return str(error).removeprefix("nats: ").strip("'") or type(error).__name__
