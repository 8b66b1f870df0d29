from collections.abc import Callable, Mapping

late = property

def late_names(package: str, homes: Mapping[str, str]) -> Callable[[str], object]: ...
