"""One raw writer among several."""

import json
import sys
from pathlib import Path

from bench.raw import appends
from bench.workers import wait_for


def main() -> None:
    start_at, folder, seconds, name = sys.argv[1:]
    wait_for(start_at)
    took = appends(Path(folder), float(seconds), name)
    print(json.dumps({"count": len(took)}))


if __name__ == "__main__":
    main()
