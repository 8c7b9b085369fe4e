"""The engine that materializes feature views."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import timezone
from typing import Any, Literal, Optional, Union

import pyarrow as pa
import pyarrow.compute as pc
from feast.feature_view import DUMMY_ENTITY_ID, DUMMY_ENTITY_VAL
from feast.infra.common.materialization_job import MaterializationJob, MaterializationJobStatus, MaterializationTask
from feast.infra.compute_engines.dag.context import ColumnInfo, ExecutionContext
from feast.infra.compute_engines.local.arrow_table_value import ArrowTableValue
from feast.infra.compute_engines.local.compute import LocalComputeEngine
from feast.infra.compute_engines.local.feature_builder import LocalFeatureBuilder
from feast.infra.compute_engines.local.job import LocalMaterializationJob
from feast.infra.compute_engines.local.local_node import LocalNode
from feast.infra.registry.base_registry import BaseRegistry
from feast.repo_config import FeastConfigBaseModel

from ._rows import micros
from ._store import BsdbOnlineStore
from ._views import Publication, Rows

__all__ = ["BsdbMaterializationEngine", "BsdbMaterializationEngineConfig"]

_log = logging.getLogger("bsdb_feast")


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
    join_keys = {field.name: field.dtype.to_value_type() for field in view.entity_columns}
    features = {field.name: field.dtype.to_value_type() for field in view.features}
    if DUMMY_ENTITY_ID in join_keys and DUMMY_ENTITY_ID not in table.column_names:
        constant = pa.array([DUMMY_ENTITY_VAL] * table.num_rows, pa.string())
        table = table.append_column(DUMMY_ENTITY_ID, constant)
    absent = [name for name in (*join_keys, *features) if name not in table.column_names]
    if absent:
        raise ValueError(
            f"the feature view {view.name} cannot be materialized: its source has no column {', '.join(absent)}; "
            f"it has {', '.join(table.column_names)}"
        )
    times = _times(table, (columns.timestamp_column, view.batch_source.timestamp_field))
    if times is None:  # aggregations keep no event timestamp: it is that of the end of their range
        end = task.end_time
        times = pa.array([micros(end)] * table.num_rows, pa.int64())
    created = _times(table, (columns.created_timestamp_column, view.batch_source.created_timestamp_column))
    return Rows(table, join_keys, features, times, created)


def _times(table: Any, names: Sequence[Optional[str]]) -> Optional[Any]:
    """A column of timestamps in microseconds; None if there is none of these names."""
    for name in names:
        if name and name in table.column_names:
            column = table.column(name).combine_chunks()
            if isinstance(column, pa.ChunkedArray):
                column = pa.concat_arrays(column.chunks)
            if not pa.types.is_timestamp(column.type):
                column = pc.cast(column, pa.timestamp("us"))  # of dates and texts
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
