"""Feast on bsdb: features that a batch job publishes as immutable versions.

In ``feature_store.yaml``:

    online_store:
      type: bsdb_feast.BsdbOnlineStore
      path: data/online
    batch_engine:
      type: bsdb_feast.BsdbMaterializationEngine

``feast materialize`` then publishes a version of each feature view, and ``get_online_features`` reads it, all views in one
batch. See docs/guides/feast.md.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Optional

from feast import FeatureStore

from ._engine import BsdbMaterializationEngine, BsdbMaterializationEngineConfig
from ._rows import RowError
from ._sources import ServerError
from ._store import BsdbOnlineStore, BsdbOnlineStoreConfig
from ._views import Publication

__all__ = [
    "BsdbMaterializationEngine",
    "BsdbMaterializationEngineConfig",
    "BsdbOnlineStore",
    "BsdbOnlineStoreConfig",
    "Publication",
    "RowError",
    "ServerError",
    "__version__",
    "publish_collected",
]

__version__ = "1.1.0.dev0"


def publish_collected(store: FeatureStore, views: Optional[Iterable[str]] = None) -> list[Publication]:
    """Publish the rows that ``online_write_batch`` has collected, of these feature views or of all.

    Returns what was published; views for which nothing was collected are left out.
    """
    online = store._get_provider().online_store
    if not isinstance(online, BsdbOnlineStore):
        raise ValueError(f"online_store is {type(online).__name__}; expected bsdb_feast.BsdbOnlineStore")
    tables = {table.name: table for table in store.list_all_feature_views()}
    names = list(tables) if views is None else list(views)
    unknown = [name for name in names if name not in tables]
    if unknown:
        raise ValueError(f"there is no feature view {', '.join(unknown)}; there are: {', '.join(sorted(tables))}")
    published = [online.publish(store.config, tables[name], None) for name in names]
    return [publication for publication in published if publication.version is not None]
