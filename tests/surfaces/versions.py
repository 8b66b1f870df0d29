"""A newer Covey: this one with one more migration, installed in a folder of its own."""

from pathlib import Path
from shutil import copytree, ignore_patterns

import covey
from covey.adapters.sqlite.engine.statements import MIGRATIONS_FOLDER

NAME = "9999_newer"

QUICK = "create table newer (x integer) strict; insert into newer values (1);"
"""Can't be applied twice."""

SLOW = f"""
{QUICK}
create table bulk (n integer primary key, text text not null) strict;
with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 60000)
insert into bulk select n, printf('%0200d', n) from numbers;
create index bulk_by_text on bulk (text);
"""
"""Takes long enough to be killed in the middle."""


def install_newer(folder: Path, migration: str = QUICK) -> str:
    """Make a newer Covey; return the path that Python finds it by."""
    package = Path(covey.__file__).parent
    copytree(package, folder / "covey", ignore=ignore_patterns("__pycache__", "testing"))
    inside = Path(MIGRATIONS_FOLDER).relative_to(package)
    (folder / "covey" / inside / f"{NAME}.sql").write_text(migration)
    return str(folder)
