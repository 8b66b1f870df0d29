"""The NATS driver, an optional dependency."""

from covey.core.errors import ExtraMissing


def nats_ports():
    """Return the module of the adapters that need the driver; ExtraMissing if the driver is not installed."""
    try:
        import covey.engines.nats_ports as ports
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "nats":
            raise
        raise ExtraMissing("a space on NATS", "nats") from None
    return ports
