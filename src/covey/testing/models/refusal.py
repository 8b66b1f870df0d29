"""Refusals: a provider's error answers to requests."""


class Refusal(Exception):
    """The reason for refusing a request, with the status and the fields of the provider's answer."""

    def __init__(
        self,
        message: str,
        *,
        status: int = 400,
        kind: str = "invalid_request_error",
        param: str | None = None,
        code: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.kind = kind
        self.param = param
        self.code = code
        self.retry_after = retry_after
