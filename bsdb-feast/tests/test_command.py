"""The command bsdb-feast."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from bsdb_feast.__main__ import main
from conftest import Repo, rows

YAML = """
project: shop
provider: local
registry: {registry}
online_store:
  type: bsdb_feast.BsdbOnlineStore
  path: online
batch_engine:
  type: bsdb_feast.BsdbMaterializationEngine
offline_store:
  type: duckdb
entity_key_serialization_version: 3
"""


@pytest.fixture
def written(repo: Repo) -> Repo:
    """A repository with a feature_store.yaml."""
    (repo.directory / "feature_store.yaml").write_text(YAML.format(registry=repo.directory / "registry.db"))
    return repo


def test_publish_and_status(written: Repo, capsys: Any) -> None:
    where = ["--chdir", str(written.directory)]
    assert main(["status", *where]) == 0
    assert capsys.readouterr().out == "users\tno version\t0 rows waiting\n"
    written.materialize()
    capsys.readouterr()
    written.store.write_to_online_store("users", rows((9, "pushed", 9.0, 50)).to_pandas())
    assert main(["status", *where, "users"]) == 0
    out = capsys.readouterr().out.split("\t")
    assert (out[0], *out[2:]) == ("users", "2 entities", "2 features", "newest 2026-11-01T02:00:00Z", "1 row waiting\n")
    assert main(["publish", *where]) == 0
    out = capsys.readouterr().out.split("\t")
    assert (out[0], *out[2:]) == ("users", "3 entities", "1 row merged\n")
    assert main(["publish", *where]) == 0
    assert capsys.readouterr().err == "no rows were collected\n"
    assert written.read(9)["name"] == ["pushed"]


def test_mistakes(written: Repo, tmp_path: Path, capsys: Any) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    for arguments, message in (
        (["publish", "--chdir", str(empty)], "is no feature repository: it has no feature_store.yaml; name it with --chdir"),
        (["publish", "--chdir", str(written.directory), "nobody"], "there is no feature view nobody; there are: users"),
        (["status", "--chdir", str(written.directory), "nobody"], "there is no feature view nobody; there are: users"),
    ):
        assert main(arguments) == 2
        assert message in capsys.readouterr().err
    (written.directory / "feature_store.yaml").write_text("project: [")
    assert main(["status", "--chdir", str(written.directory)]) == 2
    (written.directory / "feature_store.yaml").write_text(YAML.format(registry="r.db").replace("path: online", "paths: online"))
    assert main(["status", "--chdir", str(written.directory)]) == 2
    assert "path" in capsys.readouterr().err
    for arguments in ([], ["other"]):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert ended.value.code == 2
