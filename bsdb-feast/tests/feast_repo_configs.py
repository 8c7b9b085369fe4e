"""The stores that Feast's own tests of online stores are run with: see scripts/test-feast."""

from __future__ import annotations

import tempfile

from tests.universal.feature_repos.integration_test_repo_config import IntegrationTestRepoConfig
from tests.universal.feature_repos.universal.online_store_creator import OnlineStoreCreator


class BsdbCreator(OnlineStoreCreator):
    """A directory of stores for each environment."""

    def create_online_store(self) -> dict[str, str]:
        self.directory = tempfile.TemporaryDirectory(prefix="bsdb-feast-")
        return {
            "type": "bsdb_feast.BsdbOnlineStore",
            "path": self.directory.name,
            # The tests read what they have just written.
            "online_write": "publish",
            "refresh_seconds": "0",
        }

    def teardown(self) -> None:
        self.directory.cleanup()


FULL_REPO_CONFIGS = [
    IntegrationTestRepoConfig(
        online_store={"type": "bsdb_feast.BsdbOnlineStore"},
        online_store_creator=BsdbCreator,
        batch_engine={"type": engine},
    )
    for engine in ("bsdb_feast.BsdbMaterializationEngine", "local")
]
