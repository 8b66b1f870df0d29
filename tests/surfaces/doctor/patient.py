"""A space that a doctor looks at, and ways to harm it."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import apsw

from tests.surfaces.commands import Said

Covey = Callable[..., Said]


class Patient:
    """A space in a folder of its own; commands run in this process."""

    def __init__(self, folder: Path, runtime: Path, covey: Covey) -> None:
        self.folder = folder
        self.runtime = runtime
        self.covey = covey

    @property
    def store(self) -> Path:
        return self.folder / ".covey" / "covey.db"

    def sql(self, statement: str, *values: object, file: Path | None = None) -> Sequence[tuple[Any, ...]]:
        """Do something to the store behind Covey's back. Rows have no checksum afterwards, as an older Covey left
        them: what is changed is to be found by other means."""
        connection = apsw.Connection(str(file or self.store))
        try:
            cursor: Any = connection.cursor()  # apsw's own types for values are not known to every type checker
            found = list(cursor.execute(statement, values))
            tables = {name for (name,) in cursor.execute("select name from sqlite_schema where type = 'table'")}
            for table in tables & {"messages", "deliveries"}:
                if "checksum" in {row[1] for row in list(cursor.execute(f"pragma table_info({table})"))}:
                    cursor.execute(f"update {table} set checksum = null where checksum is not null")
            return found
        finally:
            connection.close()

    def codes(self, *words: str) -> Sequence[str]:
        """Return what a doctor finds, who changes nothing."""
        said = self.covey("doctor", "--json", *words)
        found = [finding["code"] for finding in said.json["findings"]]
        assert said.code == (1 if found else 0)
        assert said.json["healthy"] == (not found)
        return found

    def finding(self, code: str) -> Any:
        """Return one finding, after checking that it explains itself."""
        (found,) = [f for f in self.covey("doctor", "--json").json["findings"] if f["code"] == code]
        assert all(found[field] for field in ("area", "severity", "what", "meaning", "advice"))
        return found

    def events(self, action: str) -> Sequence[Any]:
        """Return what the journal has of one action."""
        return [json.loads(line) for line in self.covey("log", "--json", "--action", action).out.splitlines()]

    def mend(self, *words: str) -> Said:
        """Let the doctor mend everything."""
        return self.covey("doctor", "--fix", "--yes", *words)

    def send(self, *words: str, to: str = "coder", sender: str = "critic") -> str:
        """Send a message; return its id."""
        said = self.covey("send", *(words or ("hello",)), "--from", sender, "--to", to, "--register", "--json")
        assert said.code == 0, said
        return said.json["id"]

    def ask(self, *words: str) -> str:
        """Let the critic ask the coder something in scope T-1."""
        return self.send("why?", "--request", "--scope", "T-1", "--subject", "style", *words)
