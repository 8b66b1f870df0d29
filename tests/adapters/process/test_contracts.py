"""The process launcher keeps the contracts of launchers."""

from covey.testing.contracts import LauncherContract, LauncherEndsContract, LauncherRefusalsContract


class TestLauncher(LauncherContract): ...


class TestLauncherEnds(LauncherEndsContract): ...


class TestLauncherRefusals(LauncherRefusalsContract): ...
