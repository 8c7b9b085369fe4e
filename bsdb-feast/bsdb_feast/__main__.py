"""The command ``bsdb-feast``."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Optional

import bsdbkv
import yaml
from feast import FeatureStore
from feast.errors import FeastError
from feast.repo_config import FeastConfigError

from . import BsdbOnlineStore, __version__, publish_collected

_EXAMPLES = """examples:
  bsdb-feast status                        the version of each feature view, and how many rows wait
  bsdb-feast publish                       merge the rows that push has collected into new versions
  bsdb-feast publish --chdir repo driver_stats
"""


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Runs the command and returns its exit code: 0, or 2 after an error."""
    parser = argparse.ArgumentParser(
        prog="bsdb-feast",
        description="Publishes what Feast has written row by row, and shows which versions are there.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"bsdb-feast {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, text in (
        ("publish", "merge the rows that were collected into new versions"),
        ("status", "show the version, the entities and the newest event timestamp of each feature view"),
    ):
        command = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        command.add_argument("--chdir", default=".", metavar="DIR", help="the feature repository (default: this directory)")
        command.add_argument("views", nargs="*", metavar="VIEW", help="feature views (default: all)")
    given = parser.parse_args(arguments)
    logging.basicConfig(format="bsdb-feast: %(message)s", level=logging.WARNING)
    try:
        if not (Path(given.chdir) / "feature_store.yaml").is_file():
            raise ValueError(f"{given.chdir} is no feature repository: it has no feature_store.yaml; name it with --chdir")
        store = FeatureStore(repo_path=given.chdir)
        (_publish if given.command == "publish" else _status)(store, given.views)
    except (ValueError, OSError, bsdbkv.Error, FeastError, FeastConfigError, yaml.YAMLError) as error:
        print(f"bsdb-feast {given.command}: {error}", file=sys.stderr)
        return 2
    return 0


def _publish(store: FeatureStore, views: list[str]) -> None:
    published = publish_collected(store, views or None)
    for each in published:
        print(f"{each.view}\t{each.version}\t{each.records:,} entities\t{_count(each.collected)} merged")
    if not published:
        print("no rows were collected", file=sys.stderr)


def _count(rows: int) -> str:
    return f"{rows:,} row{'' if rows == 1 else 's'}"


def _status(store: FeatureStore, views: list[str]) -> None:
    online = store._get_provider().online_store
    if not isinstance(online, BsdbOnlineStore):
        raise ValueError(f"online_store is {type(online).__name__}; expected bsdb_feast.BsdbOnlineStore")
    tables = {table.name: table for table in store.list_all_feature_views()}
    unknown = [name for name in views if name not in tables]
    if unknown:
        raise ValueError(f"there is no feature view {', '.join(unknown)}; there are: {', '.join(sorted(tables))}")
    for name in views or sorted(tables):
        view = online.view(store.config, tables[name])
        current, waiting = view.current(), view.collected()
        if current is None:
            shown = "no version"
        else:
            database, features = current
            newest = datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(microseconds=features.newest)
            shown = (
                f"{Path(str(database.path)).name}\t{len(database) - 1:,} entities\t{len(features.names)} features\t"
                f"newest {newest:%Y-%m-%dT%H:%M:%SZ}"
            )
        print(f"{name}\t{shown}\t{_count(waiting)} waiting")


if __name__ == "__main__":
    sys.exit(main())
