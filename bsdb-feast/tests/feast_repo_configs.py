"""What Feast's own tests of online stores run with: see scripts/test-feast."""

from __future__ import annotations

import os
import tempfile

from tests.universal.feature_repos.integration_test_repo_config import IntegrationTestRepoConfig
from tests.universal.feature_repos.universal.data_sources.file import FileDataSourceCreator
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


# Tests that are only for the store of this name are for bsdb, too.
AVAILABLE_ONLINE_STORES = {os.environ.get("BSDB_FEAST_AS", "bsdb"): ({"type": "bsdb_feast.BsdbOnlineStore"}, BsdbCreator)}
AVAILABLE_OFFLINE_STORES = [("local", FileDataSourceCreator)]

# The tests name no engine, and this is the default of the field batch_engine.
_engine = list(IntegrationTestRepoConfig.__dataclass_fields__).index("batch_engine")
_defaults = list(IntegrationTestRepoConfig.__init__.__defaults__ or ())
assert _defaults[_engine] == "local"
_defaults[_engine] = {"type": "bsdb_feast.BsdbMaterializationEngine"}
IntegrationTestRepoConfig.__init__.__defaults__ = tuple(_defaults)
