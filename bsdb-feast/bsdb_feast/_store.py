"""The online store."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, Callable, Literal, Optional, Union

from feast import Entity, FeatureView, RepoConfig, utils
from feast.infra.key_encoding_utils import serialize_entity_key
from feast.infra.online_stores.helpers import compute_versioned_name
from feast.infra.online_stores.online_store import OnlineStore
from feast.infra.supported_async_methods import SupportedAsyncMethods
from feast.online_response import OnlineResponse
from feast.protos.feast.types.EntityKey_pb2 import EntityKey
from feast.protos.feast.types.Value_pb2 import Value
from feast.repo_config import FeastConfigBaseModel
from pydantic import ConfigDict, Field, ValidationInfo, field_validator

from ._response import Response
from ._rows import micros, respond, row_micros, split
from ._sources import HttpSource, LocalSource, RedisSource, Source, Wanted
from ._views import OPTIONS, Publication, Rows, View

__all__ = ["BsdbOnlineStore", "BsdbOnlineStoreConfig"]

_log = logging.getLogger("bsdb_feast")
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)

_Row = tuple[EntityKey, dict[str, Value], datetime, Optional[datetime]]
_Read = list[tuple[Optional[datetime], Optional[dict[str, Value]]]]


class BsdbOnlineStoreConfig(FeastConfigBaseModel):
    """What ``online_store`` in ``feature_store.yaml`` says."""

    model_config = ConfigDict(**{**FeastConfigBaseModel.model_config, "hide_input_in_errors": True})  # type: ignore[typeddict-item]

    type: Literal["bsdb_feast.BsdbOnlineStore"] = "bsdb_feast.BsdbOnlineStore"
    """The type of the online store."""

    path: Optional[str] = None
    """The directory of the stores, in which versions are published and which are read unless there is a ``server``.
    A relative path is below the feature repository. A URL such as ``s3://bucket/features`` can only be read."""

    server: Optional[str] = Field(None, validate_default=True)
    """The server to read from: ``http://host:9999/bsdb/``, ``https://...``, ``redis://host:6379`` or ``rediss://...``."""

    token: Optional[str] = Field(None, repr=False)
    """The token for the server. Feast replaces ``$NAME`` in the file by that environment variable."""

    timeout_seconds: float = Field(5.0, gt=0)
    """How long the server may send nothing."""

    refresh_seconds: float = Field(1.0, ge=0)
    """How often to check for a new version of a store; of one at a URL, at most every 10 seconds."""

    materialize: Literal["merge", "replace"] = "merge"
    """Whether a materialization keeps the entities that it has no rows for (merge), or drops them, with all that was
    published before (replace), so that its range must have all entities. The tag ``bsdb_materialize`` of a feature view says
    so for that view."""

    max_shrink_percent: Optional[float] = Field(50, ge=0, le=100)
    """With ``replace``: refuse a version that has more than this many percent fewer entities than the current one."""

    online_write: Literal["collect", "publish"] = "collect"
    """What to do with rows that are written one by one, by ``push`` or by an engine that is not that of bsdb: collect them
    for the next version, or publish a version for each batch."""

    keep_versions: int = Field(2, ge=0)
    """How many versions to keep besides the current one."""

    build_options: dict[str, Any] = Field(default_factory=dict)
    """Options of ``bsdbkv.build``, such as ``memory_bytes`` and ``sign_key``. Those of the form, such as ``layout`` and
    ``compression_level``, have an effect on the first version of a view, which others are merged with, and with ``replace``."""

    # Validators of fields, because the message of one of the model shows all settings, the token included.
    @field_validator("server")
    @classmethod
    def _check_server(cls, server: Optional[str], others: ValidationInfo) -> Optional[str]:
        if server is None and others.data.get("path") is None:
            raise ValueError("online_store needs path, the directory of the stores, or server, a URL to read from")
        if server is not None and not server.startswith(("http://", "https://", "redis://", "rediss://")):
            raise ValueError("server begins with none of http://, https://, redis:// and rediss://")
        return server

    @field_validator("build_options")
    @classmethod
    def _check_build_options(cls, options: dict[str, Any]) -> dict[str, Any]:
        unknown = sorted(options.keys() - OPTIONS)
        if unknown:
            raise ValueError(f"build_options has {', '.join(unknown)}; there are {', '.join(sorted(OPTIONS))}")
        return options


class BsdbOnlineStore(OnlineStore):
    """Features that a batch job publishes as immutable versions, and that are read from local files or a server.

    Any number of threads can read at once. A version is made by ``BsdbMaterializationEngine``, or by
    ``publish_collected`` of rows that were written one by one.
    """

    def __init__(self) -> None:
        self._sources: dict[tuple[Any, ...], Source] = {}
        self._told: set[str] = set()

    @property
    def async_supported(self) -> SupportedAsyncMethods:
        """Asynchronous calls run in a thread, which is what Feast's server does by itself with the others."""
        return SupportedAsyncMethods()

    def online_write_batch(
        self,
        config: RepoConfig,
        table: FeatureView,
        data: list[_Row],
        progress: Optional[Callable[[int], Any]],
    ) -> None:
        """Collects rows for the next version, and says so; with ``online_write: publish``, publishes them."""
        if not data:
            return
        settings = _settings(config)
        view = self.view(config, table)
        keys = _keys(config, (key for key, _, _, _ in data))
        texts = [{name: value.SerializeToString() for name, value in values.items()} for _, values, _, _ in data]
        view.collect([(key, micros(row[2]), text) for key, row, text in zip(keys, data, texts)])
        if settings.online_write == "publish":
            self.publish(config, table, None)
        elif view.name not in self._told:
            self._told.add(view.name)
            _log.warning(
                "rows of the feature view %s are collected and not served yet: the next materialization with "
                "bsdb_feast.BsdbMaterializationEngine, or bsdb-feast publish, merges them into a version",
                view.name,
            )
        if progress is not None:
            progress(len(data))

    async def online_write_batch_async(self, *arguments: Any, **named: Any) -> None:
        """As ``online_write_batch``, in a thread."""
        await asyncio.to_thread(self.online_write_batch, *arguments, **named)

    def publish(
        self, config: RepoConfig, table: FeatureView, rows: Optional[Rows], progress: Optional[Callable[[int], Any]] = None
    ) -> Publication:
        """Publishes a version of a feature view: of the rows of a table, if any, and of those that were collected."""
        settings = _settings(config)
        mode = table.tags.get("bsdb_materialize", settings.materialize)
        if mode not in ("merge", "replace"):
            raise ValueError(
                f"the tag bsdb_materialize of the feature view {table.name} is {mode!r}; expected merge or replace"
            )
        return self.view(config, table).publish(
            rows,
            replace_all=mode == "replace" and rows is not None,
            max_shrink=settings.max_shrink_percent,
            keep=settings.keep_versions,
            options=settings.build_options,
            progress=progress,
        )

    def view(self, config: RepoConfig, table: FeatureView) -> View:
        """The store of a feature view, to write to."""
        project = _project(config)
        if not isinstance(project, Path):
            reason = "online_store has no path" if project is None else f"online_store is at {project}, which is only read"
            raise ValueError(
                f"the store of the feature view {table.name} is not in a directory here: {reason}. Materialize, push and "
                f"ask for the status where path is a directory, and copy its versions with bsdb push or rsync"
            )
        return View(project, _name(config, table))

    def online_read(
        self,
        config: RepoConfig,
        table: FeatureView,
        entity_keys: list[EntityKey],
        requested_features: Optional[list[str]] = None,
    ) -> _Read:
        """Reads the rows of entities."""
        [(features, rows)] = self._source(config).read([(_name(config, table), _keys(config, entity_keys))])
        result: _Read = []
        for row in rows:
            if row is None or features is None:
                result.append((None, None))
                continue
            texts = dict(zip(features.names, split(row)))
            names = texts.keys() if requested_features is None else [name for name in requested_features if name in texts]
            values = {name: Value.FromString(texts[name]) for name in names}
            result.append((_EPOCH + timedelta(microseconds=row_micros(row)), values))
        return result

    async def online_read_async(self, *arguments: Any, **named: Any) -> _Read:
        """As ``online_read``, in a thread."""
        return await asyncio.to_thread(self.online_read, *arguments, **named)

    def get_online_features(self, *arguments: Any, **named: Any) -> OnlineResponse:
        """As that of Feast; the response is quicker to convert."""
        return Response.of(super().get_online_features(*arguments, **named))

    async def get_online_features_async(self, *arguments: Any, **named: Any) -> OnlineResponse:
        """As ``get_online_features``, in a thread."""
        return Response.of(await super().get_online_features_async(*arguments, **named))

    def _read_features_per_fv(
        self,
        config: RepoConfig,
        grouped_refs: list[Any],
        join_key_values: dict[str, Any],
        entity_name_to_join_key_map: dict[str, str],
        online_features_response: Any,
        full_feature_names: bool,
        include_feature_view_version_metadata: bool,
    ) -> None:
        """Reads all feature views of a request in one batch, and makes the response of the bytes of their rows."""
        entities: dict[Any, tuple[list[bytes], Any, int]] = {}
        wanted: list[Wanted] = []
        plan = []
        for table, requested in grouped_refs:
            # Views of the same entities have the same keys.
            of = (tuple(table.entities), tuple(sorted(table.projection.join_key_map.items())))
            if of not in entities:
                unique, places, count = utils._get_unique_entities(table, join_key_values, entity_name_to_join_key_map)
                entities[of] = (_keys(config, utils._get_entity_key_protos(unique)), places, count)
            keys, places, count = entities[of]
            wanted.append((_name(config, table), keys))
            plan.append((table, requested, places, count))
        found = self._source(config).read(wanted) if wanted else []
        metadata = online_features_response.metadata
        for (table, requested, places, count), (features, rows) in zip(plan, found):
            prefix = f"{table.projection.name_to_use()}__" if full_feature_names else ""
            metadata.feature_names.val.extend([prefix + name for name in requested])
            if include_feature_view_version_metadata:
                name = table.projection.name_alias or table.projection.name
                if all(name != each.name for each in metadata.feature_view_metadata):
                    version = getattr(table, "current_version_number", 0) or 0
                    metadata.feature_view_metadata.add(name=name, version=version)
            present = respond(online_features_response, features, requested, rows, places, count)
            _track(table.name, present, len(requested) * count - present)

    async def _read_features_per_fv_async(self, *arguments: Any, **named: Any) -> None:
        await asyncio.to_thread(self._read_features_per_fv, *arguments, **named)

    @staticmethod
    def _build_feature_types(grouped_refs: list[Any]) -> dict[str, Any]:
        """As that of Feast, which looks for each feature of a view in a list of those that are requested."""
        kinds = {}
        for table, requested in grouped_refs:
            prefix, wanted = f"{table.projection.name_to_use()}__", set(requested)
            for each in table.features:
                if each.name in wanted:
                    kinds[each.name] = kinds[prefix + each.name] = each.dtype.to_value_type()
        return kinds

    def _is_versioned_read_supported(self) -> bool:
        return True

    def write_precomputed_vector(self, config: RepoConfig, feature_service_name: str, *_: Any, **__: Any) -> None:
        """Not supported: it writes one entity after the other."""
        raise NotImplementedError(
            f"the vectors of the feature service {feature_service_name} cannot be precomputed, because BsdbOnlineStore "
            f"does not write entities one by one; it reads all feature views of a service in one batch without them"
        )

    def update(
        self,
        config: RepoConfig,
        tables_to_delete: Sequence[FeatureView],
        tables_to_keep: Sequence[FeatureView],
        entities_to_delete: Sequence[Entity],
        entities_to_keep: Sequence[Entity],
        partial: bool,
    ) -> None:
        """Removes the stores of feature views that were deleted. Those of new ones are made when they are materialized."""
        if isinstance(_project(config), Path):
            for table in tables_to_delete:
                self.view(config, table).delete()
            self._close()

    def teardown(self, config: RepoConfig, tables: Sequence[FeatureView], entities: Sequence[Entity]) -> None:
        """Removes the stores of feature views."""
        self.update(config, tables, [], entities, [], False)

    async def close(self) -> None:
        """Closes what was opened for reading. A later read opens it again."""
        self._close()

    def _close(self) -> None:
        while self._sources:
            self._sources.popitem()[1].close()

    def _source(self, config: RepoConfig) -> Source:
        settings = _settings(config)
        of = (config.project, str(config.repo_path), settings.server, settings.token, settings.path, settings.refresh_seconds)
        source = self._sources.get(of)
        return source or self._sources.setdefault(of, _opened(config, settings))


def _opened(config: RepoConfig, settings: BsdbOnlineStoreConfig) -> Source:
    if settings.server is None:
        project = _project(config)
        assert project is not None
        return LocalSource(project, settings.refresh_seconds)
    kind = HttpSource if settings.server.startswith("http") else RedisSource
    token = None if settings.token is None else settings.token.strip()
    return kind(settings.server, token, settings.timeout_seconds)


def _settings(config: RepoConfig) -> BsdbOnlineStoreConfig:
    settings = config.online_store
    if not isinstance(settings, BsdbOnlineStoreConfig):
        raise ValueError(f"online_store is {settings.type!r}; expected bsdb_feast.BsdbOnlineStore")
    return settings


def _project(config: RepoConfig) -> Union[Path, str, None]:
    """Where the stores of a project are."""
    path = _settings(config).path
    if path is None:
        return None
    if "://" in path:
        return f"{path.rstrip('/')}/{config.project}"
    base = Path(path)
    if not base.is_absolute() and config.repo_path is not None:
        base = config.repo_path / base
    return base / config.project


def _name(config: RepoConfig, table: Any) -> str:
    return str(compute_versioned_name(table, config.registry.enable_online_feature_view_versioning))


def _keys(config: RepoConfig, keys: Iterable[EntityKey]) -> list[bytes]:
    version = config.entity_key_serialization_version
    if version != 3:
        raise ValueError(f"entity_key_serialization_version is {version}; bsdb_feast has the keys of version 3 only")
    return [serialize_entity_key(key, version) for key in keys]


def _track(view: str, present: int, absent: int) -> None:
    try:
        from feast.metrics import track_feature_statuses
    except ImportError:
        return
    track_feature_statuses(view, present, absent)
