"""The engine `nats://HOST:PORT/SPACE`: one log on servers, and a replica of the ledger on each machine."""

import os
from collections.abc import Sequence
from typing import Final

import covey.ports as ports
from covey.core.errors import Invalid
from covey.core.late import late
from covey.core.reporting import Report, report_nothing
from covey.core.store_url import StoreUrl, parse_options, split_store_url, without_login
from covey.engines.engine import EngineCapabilities
from covey.engines.nats_driver import nats_ports

FILE_OPTIONS: Final = ("cache", "creds", "nkey", "tls_ca", "tls_cert", "tls_key")
"""The options of a URL that name files."""


class NatsEngine:
    """An engine for `nats`, and for `tls`, which is `nats` with a secure connection. The options are checked when a
    space is opened, because some of them come from the environment."""

    usage = "nats://HOST:PORT/SPACE"
    capabilities = EngineCapabilities(is_shared=True, is_lasting=True, has_accounts=True)

    def parse(self, text: str) -> StoreUrl:
        scheme, place, query = split_store_url(text)
        if "//" not in place:
            raise Invalid("store URL", without_login(text), f"use {self.usage}")
        return StoreUrl(scheme or "", place, parse_options(query), is_server=True)

    def absolute(self, url: StoreUrl) -> StoreUrl:
        files = {name: os.path.abspath(url.options[name]) for name in FILE_OPTIONS if name in url.options}
        return url._replace(options={**url.options, **files})

    def for_new(self, url: StoreUrl) -> StoreUrl:
        return url

    @late
    def care(self) -> "ports.Care":
        from covey.engines.nats_care import NatsCare

        return NatsCare(self)

    def is_there(self, url: StoreUrl) -> bool:
        return nats_ports().is_there(url)

    def has_messages(self, url: StoreUrl) -> bool:
        return self.is_there(url)

    def ledger_path(self, url: StoreUrl) -> str:
        from covey.adapters.nats.client.settings import replica_path

        return replica_path(url, os.environ)

    def connect(self, url: StoreUrl, roots: Sequence[str], report: Report = report_nothing) -> "ports.Ports":
        return nats_ports().ThreadedNats(url, roots, report)

    def connect_inline(self, url: StoreUrl, roots: Sequence[str], report: Report = report_nothing) -> "ports.Ports":
        return nats_ports().InlineNats(url, roots, report)


ENGINE: Final = NatsEngine()
