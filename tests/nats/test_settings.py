"""Settings of a space on NATS, from a URL and the environment."""

from pathlib import Path

import pytest

from covey.adapters.nats.client.settings import NatsSettings, nats_settings, new_key, public_key
from covey.core.errors import Invalid


def test_a_url_names_servers_and_a_space() -> None:
    settings = nats_settings("a.example,b.example:4333,[::1]:4222/team", {"replicas": "3", "limit": "2.5"}, {})
    assert settings.servers == ("a.example:4222", "b.example:4333", "[::1]:4222")
    assert (settings.space, settings.replicas, settings.limit_s) == ("team", 3, 2.5)
    assert settings.name == "nats://a.example:4222,b.example:4333,[::1]:4222/team"


def test_settings_that_the_url_does_not_have_come_from_the_environment(tmp_path: Path) -> None:
    key = tmp_path / "coder.nk"
    key.write_text(new_key().seed)
    environ = {"COVEY_NATS_NKEY": str(key), "COVEY_NATS_LIMIT": "7", "COVEY_NATS_REPLICAS": "1"}
    settings = nats_settings("host/team", {"limit": "3"}, environ)
    assert (settings.nkey, settings.limit_s, settings.replicas) == (str(key), 3.0, 1)
    assert settings.connect_options()["inbox_prefix"] == f"_INBOX.{public_key('nkey', str(key))}"


def test_a_login_in_the_url_precedes_one_of_the_environment() -> None:
    environ = {"COVEY_NATS_USER": "env", "COVEY_NATS_PASSWORD": "env", "COVEY_NATS_TOKEN": "env"}
    settings = nats_settings("me:s%40crt@host/team", {}, environ)
    assert settings.user == "me"
    assert settings.password is not None
    assert settings.password.text == "s@crt"
    assert settings.token is None


@pytest.mark.parametrize(
    "place",
    [
        "",
        "/team",
        "host",
        "host/",
        "host/a.b",
        "host/a b",
        "host:0/team",
        "host:70000/team",
        "ho st/team",
        "host,/team",
    ],
)
def test_an_invalid_place_is_refused(place: str) -> None:
    with pytest.raises(Invalid):
        nats_settings(place, {}, {})


@pytest.mark.parametrize(
    "options",
    [
        {"replicas": "0"},
        {"replicas": "x"},
        {"replicas": "9"},
        {"limit": "0"},
        {"limit": "inf"},
        {"limit": "nan"},
        {"nkey": "/no/such/file"},
        {"tls_ca": "/no/such/file"},
        {"password": "x"},
        {"monitor": "host:8222"},
        {"unknown": "x"},
    ],
)
def test_an_invalid_option_is_refused(options: dict[str, str]) -> None:
    with pytest.raises(Invalid):
        nats_settings("host/team", options, {})


def test_no_secret_is_shown(tmp_path: Path) -> None:
    environ = {"COVEY_NATS_TOKEN": "t0psecret"}
    shown = [nats_settings("host/team", {}, environ), nats_settings("me:t0psecret@host/team", {}, {})]
    for settings in shown:
        assert "t0psecret" not in f"{settings} {settings!r} {settings.name} {settings.shown}"
    for place in ("me:t0psecret@ho st/team", "me:t0psecret@host", "me:t0psecret@host/a.b"):
        with pytest.raises(Invalid) as error:
            nats_settings(place, {}, {})
        assert "t0psecret" not in str(error.value)
    seed = new_key().seed
    with pytest.raises(Invalid) as error:
        nats_settings("host/team", {"nkey": seed}, {})
    assert seed not in str(error.value)
    assert "path of a file" in str(error.value)


@pytest.mark.parametrize("content", ["", "nonsense", "SU", "-----BEGIN USER NKEY SEED-----\nSUXX\n"])
def test_a_file_without_a_seed_is_invalid(tmp_path: Path, content: str) -> None:
    path = tmp_path / "key"
    path.write_text(content)
    with pytest.raises(Invalid) as error:
        nats_settings("host/team", {"nkey": str(path)}, {}).connect_options()
    assert "SUXX" not in str(error.value)


def test_credentials_have_the_key_of_their_seed(tmp_path: Path) -> None:
    key = new_key()
    path = tmp_path / "user.creds"
    path.write_text(
        "-----BEGIN NATS USER JWT-----\neyJ0\n------END NATS USER JWT------\n\n"
        f"-----BEGIN USER NKEY SEED-----\n{key.seed}\n------END USER NKEY SEED------\n"
    )
    options = nats_settings("host/team", {"creds": str(path)}, {}).connect_options()
    assert options["inbox_prefix"] == f"_INBOX.{key.public}"


def test_a_file_that_is_not_a_certificate_is_invalid(tmp_path: Path) -> None:
    path = tmp_path / "ca.pem"
    path.write_text("nothing")
    with pytest.raises(Invalid, match="tls_ca"):
        nats_settings("host/team", {"tls_ca": str(path)}, {}).connect_options()


def test_settings_compare_as_plain_values() -> None:
    assert nats_settings("host/team", {}, {}) == NatsSettings(("host:4222",), nats_settings("host/team", {}, {}).space)
