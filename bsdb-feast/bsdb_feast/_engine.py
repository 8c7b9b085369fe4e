"""The engine that materializes feature views."""

from __future__ import annotations

import logging
import operator
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Literal, Optional

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from feast import FileSource, utils
from feast.data_format import ParquetFormat
from feast.feature_view import DUMMY_ENTITY_ID, DUMMY_ENTITY_VAL
from feast.infra.common.materialization_job import MaterializationJob, MaterializationJobStatus, MaterializationTask
from feast.infra.compute_engines.dag.context import ColumnInfo, ExecutionContext
from feast.infra.compute_engines.local.arrow_table_value import ArrowTableValue
from feast.infra.compute_engines.local.compute import LocalComputeEngine
from feast.infra.compute_engines.local.feature_builder import LocalFeatureBuilder
from feast.infra.compute_engines.local.job import LocalMaterializationJob
from feast.infra.compute_engines.local.local_node import LocalNode
from feast.infra.compute_engines.local.nodes import LocalSourceReadNode
from feast.infra.registry.base_registry import BaseRegistry
from feast.repo_config import FeastConfigBaseModel
from pyarrow.dataset import dataset, field

from ._rows import micros
from ._store import BsdbOnlineStore
from ._views import Publication, Rows

__all__ = ["BsdbMaterializationEngine", "BsdbMaterializationEngineConfig"]

_log = logging.getLogger("bsdb_feast")

# The offline stores of Feast that read files here. That of DuckDB may not be installed.
_LOCAL = {
    ("feast.infra.offline_stores.dask", "DaskOfflineStore"),
    ("feast.infra.offline_stores.duckdb", "DuckDBOfflineStore"),
}


class BsdbMaterializationEngineConfig(FeastConfigBaseModel):
    """What ``batch_engine`` in ``feature_store.yaml`` says. How to publish is said in ``online_store``."""

    type: Literal["bsdb_feast.BsdbMaterializationEngine"] = "bsdb_feast.BsdbMaterializationEngine"
    """The type of the engine."""

    backend: Optional[str] = None
    """What runs transformations, joins and filters: ``pandas`` (the default) or ``polars``, as in Feast's local engine."""


class BsdbMaterializationEngine(LocalComputeEngine):
    """Publishes a version of each feature view that is materialized.

    The rows come from the offline store as one table of Arrow, which is encoded column by column. Transformations, joins,
    aggregations, filters and validation are those of Feast's local engine, and so is ``get_historical_features``.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        if not isinstance(self.online_store, BsdbOnlineStore):
            raise ValueError(
                f"BsdbMaterializationEngine publishes versions for online_store: bsdb_feast.BsdbOnlineStore, which is "
                f"{type(self.online_store).__name__} here"
            )

    def _materialize_one(self, registry: BaseRegistry, task: MaterializationTask, **options: Any) -> MaterializationJob:
        job = f"{task.feature_view.name}-{task.start_time}-{task.end_time}"
        try:
            context = self.get_execution_context(registry, task)
            _Builder(registry, task, self._get_backend(context)).build().execute(context)
        except Exception as error:
            return LocalMaterializationJob(job_id=job, status=MaterializationJobStatus.ERROR, error=error)
        return LocalMaterializationJob(job_id=job, status=MaterializationJobStatus.SUCCEEDED)


class _Builder(LocalFeatureBuilder):
    """A plan of Feast's local engine without the steps that a table of Arrow passes unchanged."""

    def build_source_node(self, view: Any) -> Any:
        columns = self.get_column_info(view)
        node = _Read("source", view.source, columns, self.task.start_time, self.task.end_time)
        self.nodes.append(node)
        return node

    def build_filter_node(self, view: Any, input_node: Any) -> Any:
        if getattr(view, "filter", None) is None:
            return input_node
        return super().build_filter_node(view, input_node)

    def build_dedup_node(self, view: Any, input_node: Any) -> Any:
        # Publishing keeps the newest row of each entity.
        if view.name == self.feature_view.name and not view.offline:
            return input_node
        return super().build_dedup_node(view, input_node)

    def build_output_nodes(self, view: Any, input_node: Any) -> Any:
        node = _Publish(self.dag_root.view, self.task, self.get_column_info(self.dag_root.view), input_node)
        self.nodes.append(node)
        return node


class _Read(LocalSourceReadNode):
    """Reads the rows of a range of time, from files of Parquet without a conversion to pandas and back."""

    def execute(self, context: ExecutionContext) -> ArrowTableValue:
        table = self._table(context)
        if table is None:
            return super().execute(context)
        names = self.column_info.field_mapping or {}
        return ArrowTableValue(table.rename_columns([names.get(name, name) for name in table.column_names]))

    def _table(self, context: ExecutionContext) -> Optional[Any]:
        """The rows, if Feast would read them from local files of Parquet by Dask or DuckDB."""
        kind = type(context.offline_store)
        if (kind.__module__, kind.__name__) not in _LOCAL or not isinstance(self.source, FileSource):
            return None
        if not (self.source.file_format is None or isinstance(self.source.file_format, ParquetFormat)):
            return None
        path = FileSource.get_uri_for_file_path(context.repo_config.repo_path, self.source.file_options.uri)
        if "://" in path or not Path(path).exists():
            return None
        files = dataset(path, format="parquet", partitioning="hive")
        columns = self.column_info
        wanted = [*columns.join_keys, *columns.feature_cols, columns.ts_col]
        wanted += [columns.created_ts_col] if columns.created_ts_col else []
        if not set(wanted) <= set(files.schema.names):
            return None  # Feast says which one is missing
        times = files.schema.field(columns.ts_col).type
        if not pa.types.is_timestamp(times):
            return None
        chosen = None
        for time, compared in ((self.start_time, operator.ge), (self.end_time, operator.le)):
            if time is not None:
                condition = compared(field(columns.ts_col), _instant(time, times))
                chosen = condition if chosen is None else chosen & condition
        if chosen is not None:
            chosen |= field(columns.ts_col).is_null()
        table = files.to_table(columns=list(dict.fromkeys(wanted)) if columns.feature_cols else None, filter=chosen)
        absent = table.column(columns.ts_col).null_count
        if absent:  # and thus are in no range
            _log.warning("rows of %s without an event timestamp (%s) are left out: %s", path, columns.ts_col, f"{absent:,}")
            table = table.filter(table.column(columns.ts_col).is_valid())
        return table


def _instant(time: datetime, kind: Any) -> Any:
    """A time to compare with a column of timestamps, which is in UTC if it has no time zone."""
    time = time.replace(tzinfo=timezone.utc) if time.tzinfo is None else time.astimezone(timezone.utc)
    return pa.scalar(time.replace(tzinfo=None), pa.timestamp("us")).cast(pa.timestamp("us", kind.tz))


class _Publish(LocalNode):
    """Publishes a table as a version of a feature view."""

    def __init__(self, view: Any, task: MaterializationTask, columns: ColumnInfo, input_node: Any) -> None:
        super().__init__("publish", inputs=[input_node])
        self._view = view
        self._task = task
        self._columns = columns

    def execute(self, context: ExecutionContext) -> ArrowTableValue:
        table = self.get_single_table(context).data
        output = ArrowTableValue(data=table)
        context.node_outputs[self.name] = output
        if self._view.online:
            bar = None if self._task.tqdm_builder is None else self._task.tqdm_builder(table.num_rows)
            rows = _rows(self._view, self._task, self._columns, table)
            publication = context.online_store.publish(
                context.repo_config, self._view, rows, None if bar is None else bar.update
            )
            if bar is not None:
                bar.close()
            _say(publication)
        if self._view.offline:
            context.offline_store.offline_write_batch(
                config=context.repo_config, feature_view=self._view, table=table, progress=lambda _: None
            )
        return output


def _rows(view: Any, task: MaterializationTask, columns: ColumnInfo, table: Any) -> Rows:
    join_keys = {each.name: each.dtype.to_value_type() for each in view.entity_columns}
    features = {each.name: each.dtype.to_value_type() for each in view.features}
    if DUMMY_ENTITY_ID in join_keys and DUMMY_ENTITY_ID not in table.column_names:
        constant = pa.array([DUMMY_ENTITY_VAL] * table.num_rows, pa.string())
        table = table.append_column(DUMMY_ENTITY_ID, constant)
    absent = [name for name in (*join_keys, *features) if name not in table.column_names]
    if absent:
        raise ValueError(
            f"the feature view {view.name} cannot be materialized: its source has no column {', '.join(absent)}; "
            f"it has {', '.join(table.column_names)}"
        )
    utils._validate_vector_field_lengths(table, view)
    times = _times(view, table, (columns.timestamp_column, view.batch_source.timestamp_field))
    if times is None:
        if not getattr(view, "aggregations", None):
            raise ValueError(
                f"the feature view {view.name} cannot be materialized: its rows have no column {columns.timestamp_column} with "
                f"the event timestamp; they have {', '.join(table.column_names)}"
            )
        # Aggregations keep no event timestamp: it is that of the end of their range.
        times = pa.array([micros(task.end_time)] * table.num_rows, pa.int64())
    created = _times(view, table, (columns.created_timestamp_column, view.batch_source.created_timestamp_column))
    return Rows(table, join_keys, features, times, created)


def _times(view: Any, table: Any, names: Sequence[Optional[str]]) -> Optional[Any]:
    """A column of timestamps in microseconds; None if there is none of these names."""
    for name in names:
        if name and name in table.column_names:
            column = table.column(name).combine_chunks()
            if isinstance(column, pa.ChunkedArray):
                column = pa.concat_arrays(column.chunks)
            if not pa.types.is_timestamp(column.type):  # texts, such as DuckDB makes of nanoseconds with a zone, and dates
                try:
                    column = pa.array(pd.to_datetime(column.to_pandas(), utc=True))
                except (ValueError, TypeError) as error:
                    raise ValueError(
                        f"the feature view {view.name} cannot be materialized: the column {name} has no timestamps: {error}"
                    ) from error
            return pc.cast(column, pa.timestamp("us", column.type.tz), safe=False).cast(pa.int64())
    return None


def _say(publication: Publication) -> None:
    if publication.version is None:
        _log.info("feature view %s: nothing to publish", publication.view)
        return
    _log.info(
        "feature view %s: published version %s of %s entities; %s rows written, %s of them collected; %s older rows left out",
        publication.view,
        publication.version,
        f"{publication.records:,}",
        f"{publication.written:,}",
        f"{publication.collected:,}",
        f"{publication.older:,}",
    )
