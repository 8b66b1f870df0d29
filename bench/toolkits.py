"""Toolkits: the share of a model's context that each tool list takes."""

from bench.figures import Row
from covey.toolkits.catalogue import DEFAULT, HOMES, toolkit
from covey.toolkits.schemas import FORMATS, size

NATIVE_LIMIT = 6_000


def toolkits() -> Row:
    """Return the bytes of the native toolkit and of the others, in the format of Anthropic.

    The raw figures have every format.
    """
    native = size(toolkit())
    others = [name for name in HOMES if name != DEFAULT]
    beside = ", ".join(f"{name} {size(toolkit(name)):,}" for name in others)
    raw = {f"{name} {form}": float(size(toolkit(name), form)) for name in HOMES for form in FORMATS}
    figure = f"{native:,} bytes ({beside})"
    return Row("tools of native, in a request", figure, f"{native / NATIVE_LIMIT:.2f} × limit", "≤ 6,000 bytes", raw)
