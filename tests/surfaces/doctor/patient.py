"""A space for the doctor to examine, and ways to damage it."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import apsw

from tests.surfaces.commands import Said

Covey = Callable[..., Said]


class Patient:
    """A space in its own folder. Commands run in this process."""

    def __init__(self, folder: Path, runtime: Path, covey: Covey) -> None:
        self.folder = folder
        self.runtime = runtime
        self.covey = covey

    @property
    def store(self) -> Path:
        return self.folder / ".covey" / "covey.db"

    def sql(self, statement: str, *values: object, file: Path | None = None) -> Sequence[tuple[Any, ...]]:
        """Execute a statement on the store without Covey.

        Remove the checksums of all rows afterwards, as in a store of an older Covey, so that the change must be found
        by other checks.
        """
        connection = apsw.Connection(str(file or self.store))
        try:
            cursor: Any = connection.cursor()  # Not every type checker knows the types of values in apsw.
            found = list(cursor.execute(statement, values))
            tables = {name for (name,) in cursor.execute("select name from sqlite_schema where type = 'table'")}
            for table in tables & {"messages", "deliveries"}:
                if "checksum" in {row[1] for row in list(cursor.execute(f"pragma table_info({table})"))}:
                    cursor.execute(f"update {table} set checksum = null where checksum is not null")
            return found
        finally:
            connection.close()

    def codes(self, *words: str) -> Sequence[str]:
        """Return the codes of the doctor's findings. The doctor changes nothing."""
        said = self.covey("doctor", "--json", *words)
        found = [finding["code"] for finding in said.json["findings"]]
        assert said.code == (1 if found else 0)
        assert said.json["healthy"] == (not found)
        return found

    def finding(self, code: str) -> Any:
        """Return one finding, and check that its explanation is complete."""
        (found,) = [f for f in self.covey("doctor", "--json").json["findings"] if f["code"] == code]
        assert all(found[field] for field in ("area", "severity", "what", "meaning", "advice"))
        return found

    def events(self, action: str) -> Sequence[Any]:
        """Return the events of one action in the journal."""
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
        """Send a request from the critic to the coder in scope T-1; return its id."""
        return self.send("why?", "--request", "--scope", "T-1", "--subject", "style", *words)
