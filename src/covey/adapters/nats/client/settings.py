"""Settings of a space on NATS: servers, credentials, user keys, time limits, replicas, and the path of the replica."""

import os
import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final, NamedTuple, cast
from urllib.parse import unquote

from covey.core.errors import ExtraMissing, Invalid
from covey.core.formats.nats_names import SpaceName, parse_space_name
from covey.core.store_url import StoreUrl

DEFAULT_PORT: Final = 4222
DEFAULT_LIMIT_S: Final = 20.0
"""Default time limit of one operation: longer than a cluster needs to elect a new leader."""
MAX_LIMIT_S: Final = 600.0
MAX_REPLICAS: Final = 5
VARIABLES: Final[Mapping[str, str]] = {
    "creds": "COVEY_NATS_CREDS",
    "nkey": "COVEY_NATS_NKEY",
    "user": "COVEY_NATS_USER",
    "password": "COVEY_NATS_PASSWORD",
    "token": "COVEY_NATS_TOKEN",
    "tls_ca": "COVEY_NATS_TLS_CA",
    "tls_cert": "COVEY_NATS_TLS_CERT",
    "tls_key": "COVEY_NATS_TLS_KEY",
    "cache": "COVEY_NATS_CACHE",
    "limit": "COVEY_NATS_LIMIT",
    "monitor": "COVEY_NATS_MONITOR",
    "replicas": "COVEY_NATS_REPLICAS",
}
"""Environment variables of settings that the URL does not have. Apart from USER:PASSWORD@, secrets come only from
here."""
URL_OPTIONS: Final = ("cache", "creds", "limit", "monitor", "nkey", "replicas", "tls_ca", "tls_cert", "tls_key")

_HOST: Final = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(?P<port>[0-9]{1,5}))?")
_MONITOR: Final = re.compile(r"https?://[^\s@?#]+")
_SEED: Final = re.compile(r"\s*S[A-Z][A-Z2-7]{40,}\s*")


class Secret:
    """A text that its `repr` does not reveal."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return "Secret(…)"


class NatsSettings(NamedTuple):
    """The settings of a space, from its URL and the environment."""

    servers: tuple[str, ...]
    """Addresses, each HOST:PORT."""
    space: SpaceName
    is_tls: bool = False
    user: str | None = None
    password: Secret | None = None
    token: Secret | None = None
    creds: str | None = None
    """Path of the file with a user's JWT and seed."""
    nkey: str | None = None
    """Path of the file with a user's seed."""
    tls_ca: str | None = None
    tls_cert: str | None = None
    tls_key: str | None = None
    cache: str | None = None
    """The folder of the local replica; None means this user's cache."""
    limit_s: float = DEFAULT_LIMIT_S
    replicas: int | None = None
    """Replicas of each stream; None means three for a new stream, or one if the cluster is too small."""
    monitor: str | None = None
    """URL of a server's monitor, the only source for its sync interval."""

    @property
    def name(self) -> str:
        """The URL without secrets."""
        return f"{'tls' if self.is_tls else 'nats'}://{','.join(self.servers)}/{self.space}"

    @property
    def shown(self) -> str:
        """The addresses of the servers, for error messages."""
        return ", ".join(self.servers)

    def wants_tls(self) -> bool:
        """Tell whether the connection has to use TLS."""
        return self.is_tls or self.tls_ca is not None or self.tls_cert is not None

    def connect_options(self) -> dict[str, Any]:
        """Return the options of `nats.connect` for addresses and credentials; raise Invalid for an unusable file."""

        options: dict[str, Any] = {"servers": [f"nats://{server}" for server in self.servers]}
        if self.wants_tls():
            options["tls"] = self._tls_context()
        if self.creds is not None:
            options["user_credentials"] = self.creds
            options["inbox_prefix"] = f"_INBOX.{public_key('creds', self.creds)}"
        elif self.nkey is not None:
            options["nkeys_seed"] = self.nkey
            options["inbox_prefix"] = f"_INBOX.{public_key('nkey', self.nkey)}"
        return options

    def _tls_context(self):
        import ssl

        try:
            context = ssl.create_default_context(cafile=self.tls_ca)
        except (OSError, ssl.SSLError) as error:
            raise Invalid("tls_ca", self.tls_ca, _why(error, "a file of certificates")) from None
        if self.tls_cert is not None:
            try:
                context.load_cert_chain(self.tls_cert, self.tls_key)
            except (OSError, ssl.SSLError) as error:
                raise Invalid("tls_cert", self.tls_cert, _why(error, "a certificate with its key (tls_key)")) from None
        return context


def parse_nats(url: StoreUrl, environ: Mapping[str, str]) -> NatsSettings:
    """Return the settings of the space that a URL names."""
    before, _, place = url.place.rpartition("//")
    is_tls = url.scheme == "tls" or before.startswith("tls")
    return nats_settings(place, url.options, environ, is_tls=is_tls)


def nats_settings(
    place: str, options: Mapping[str, str], environ: Mapping[str, str], *, is_tls: bool = False
) -> NatsSettings:
    """Return the settings of a space at `place`, [USER:PASSWORD@]HOST[:PORT][,HOST[:PORT]…]/SPACE.

    Raise Invalid for a wrong setting; the error shows no secret.
    """
    login, at, rest = place.rpartition("@")
    hosts, slash, space = rest.partition("/")
    if not slash or not hosts:
        raise Invalid("store URL", rest, "use nats://HOST:PORT/SPACE")
    user, colon, password = login.partition(":")
    given = {name: environ[variable] for name, variable in VARIABLES.items() if environ.get(variable)} | dict(options)
    if at:
        given = {k: v for k, v in given.items() if k not in ("user", "password", "token")}
        given |= {"user": unquote(user), "password": unquote(password)} if colon else {"token": unquote(user)}
    for name in options:
        if name not in URL_OPTIONS:
            raise Invalid("store option", name, f"the known options are: {', '.join(URL_OPTIONS)}")
    _check_files(given)
    if not _MONITOR.fullmatch(given.get("monitor", "http://x")):
        raise Invalid("monitor", given["monitor"], "use http://HOST:PORT")
    return NatsSettings(
        servers=tuple(_server(host) for host in hosts.split(",")),
        space=parse_space_name(space),
        is_tls=is_tls,
        user=given.get("user"),
        password=_secret(given.get("password")),
        token=_secret(given.get("token")),
        creds=given.get("creds"),
        nkey=given.get("nkey"),
        tls_ca=given.get("tls_ca"),
        tls_cert=given.get("tls_cert"),
        tls_key=given.get("tls_key"),
        cache=given.get("cache"),
        limit_s=_number("limit", given.get("limit", str(DEFAULT_LIMIT_S)), float, MAX_LIMIT_S),
        replicas=_number("replicas", given["replicas"], int, MAX_REPLICAS) if "replicas" in given else None,
        monitor=given.get("monitor"),
    )


def _server(text: str) -> str:
    match = _HOST.fullmatch(text.strip())
    if match is None or not 0 < int(match["port"] or DEFAULT_PORT) < 65536:
        raise Invalid("NATS server", text, "use HOST:PORT")
    return f"{match['host']}:{match['port'] or DEFAULT_PORT}"


def _check_files(given: Mapping[str, str]) -> None:
    for name in ("creds", "nkey", "tls_ca", "tls_cert", "tls_key"):
        path = given.get(name)
        if path is None:
            continue
        if _SEED.fullmatch(path) or "\n" in path:  # the secret itself, which must not be part of an error
            raise Invalid(name, "…", "give the path of a file with the secret, not the secret")
        if not os.path.isfile(path):
            raise Invalid(name, path, "there is no such file")
    if "creds" in given and "nkey" in given:
        raise Invalid("nkey", given["nkey"], "creds has a key already: give one of them")


def _number(name: str, text: str, kind: type[int] | type[float], most: float) -> Any:
    try:
        number = kind(text)
    except ValueError:
        number = 0
    if not 0 < number <= most:
        raise Invalid(name, text, f"a number from above 0 to {most:g}")
    return number


def _secret(text: str | None) -> Secret | None:
    return None if text is None else Secret(text)


def _why(error: OSError, wanted: str) -> str:
    return error.strerror if error.filename is None and error.strerror else f"it has to be {wanted}"


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


REPLICA_FILE: Final = "covey.db"


def replica_path(url: StoreUrl, environ: Mapping[str, str]) -> str:
    """Return the replica file: in the folder that the settings name, or in this user's cache folder."""
    settings = parse_nats(url, environ)
    if settings.cache is not None:
        folder = os.path.abspath(os.path.expanduser(settings.cache))
    else:
        home = environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
        place = sha256(",".join(sorted(settings.servers)).encode()).hexdigest()[:16]
        folder = os.path.join(home, "covey", f"{settings.space}-{place}")
    return os.path.join(folder, REPLICA_FILE)
