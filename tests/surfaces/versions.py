"""A newer Covey: the current code with one more migration, installed in its own folder."""

from pathlib import Path
from shutil import copytree, ignore_patterns

import covey
from covey.adapters.sqlite.engine.access import MIGRATIONS_FOLDER

NAME = "9999_newer"

QUICK = "create table newer (x integer) strict; insert into newer values (1);"
"""A migration that fails if it is applied twice."""

SLOW = f"""
{QUICK}
create table bulk (n integer primary key, text text not null) strict;
with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 60000)
insert into bulk select n, printf('%0200d', n) from numbers;
create index bulk_by_text on bulk (text);
"""
"""A migration that runs long enough to be killed."""


def install_newer(folder: Path, migration: str = QUICK) -> str:
    """Create a newer Covey; return the folder for PYTHONPATH."""
    package = Path(covey.__file__).parent
    copytree(package, folder / "covey", ignore=ignore_patterns("__pycache__", "testing"))
    inside = Path(MIGRATIONS_FOLDER).relative_to(package)
    (folder / "covey" / inside / f"{NAME}.sql").write_text(migration)
    return str(folder)
