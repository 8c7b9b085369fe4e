"""Rows, and the responses that are made of them."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any, Optional

import numpy as np
import pytest
from bsdb_feast import RowError, _rows
from feast import FeatureView, Field
from feast import utils
from feast.protos.feast.serving.ServingService_pb2 import GetOnlineFeaturesResponse
from feast.protos.feast.types.Value_pb2 import Value
from feast.types import Int64


def test_rows_come_back() -> None:
    values = [Value(int64_val=7), Value(), Value(string_val="x" * 500), Value(bytes_val=b"")]
    for time in (datetime(2026, 11, 30, 1, 2, 3, 456789, timezone.utc), datetime(1960, 1, 1, 0, 0, 0, 1, timezone.utc)):
        row = _rows.encoded(_rows.micros(time), [value.SerializeToString() for value in values])
        assert [Value.FromString(text) for text in _rows.split(row)] == values
        assert _rows.row_micros(row) == _rows.micros(time)
    vector = GetOnlineFeaturesResponse.FeatureVector.FromString(row)
    assert list(vector.values) == values and vector.event_timestamps[0].ToDatetime(timezone.utc) == time
    assert _rows.micros(datetime(1970, 1, 1, 0, 0, 1)) == 1_000_000


@pytest.mark.parametrize("row", [b"", b"x", b"\x1a\x09\x08", b"\x0a\x00"])
def test_records_that_are_no_rows(row: bytes) -> None:
    with pytest.raises(RowError, match="no row of a feature view"):
        _rows.row_micros(row)


def test_features_come_back() -> None:
    features = _rows.Features("é", ("a", "b"), -5)
    assert _rows.Features.decoded(features.encoded(), "é", "here") == features
    for text, message in (
        (None, "holds no feature view"),
        (b"{", "cannot be read"),
        (b'{"format": 2, "view": "v", "newest": 0, "features": []}', "format 2"),
        (_rows.Features("w", (), 0).encoded(), "holds the feature view 'w', not 'v'"),
    ):
        with pytest.raises(RowError, match=message):
            _rows.Features.decoded(text, "v", "here")


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("full", [False, True])
def test_responses_are_those_of_feast(seed: int, full: bool) -> None:
    random = np.random.default_rng(seed)
    names = [f"f{i}" for i in range(6)]
    view = FeatureView(name="v", entities=[], schema=[Field(name=name, dtype=Int64) for name in names], source=None)
    rows: list[Optional[bytes]] = []
    read: list[tuple[Optional[datetime], Optional[dict[str, Value]]]] = []
    for _ in range(8):
        if seed % 3 == 0 and random.random() < 0.3:
            rows.append(None)
            read.append((None, None))
            continue
        time = datetime(2026, 1, 1, tzinfo=timezone.utc) + timedelta(microseconds=int(random.integers(10**12)))
        count = len(names) if seed % 2 else int(random.integers(3, len(names)))
        values = [_value(random) for _ in range(count)]
        rows.append(_rows.encoded(_rows.micros(time), [value.SerializeToString() for value in values]))
        read.append((time, dict(zip(names, values))))
    requested = [str(name) for name in random.permutation([*names[:4], "unknown"])]
    places = [int(place) for place in random.integers(0, 8, 12)]
    places_of = [[i for i, place in enumerate(places) if place == row] for row in range(8)]
    expected, found = GetOnlineFeaturesResponse(), GetOnlineFeaturesResponse()
    utils._populate_response_from_feature_data(requested, read, places_of, expected, full, view, 12, False)
    _rows.respond(found, _rows.Features("v", tuple(names), 0), requested, rows, places_of, 12)
    found.metadata.CopyFrom(expected.metadata)
    assert found == expected


def test_a_view_without_a_version() -> None:
    response = GetOnlineFeaturesResponse()
    assert _rows.respond(response, None, ["a"], [None], [[0, 1]], 2) == 0
    assert list(response.results[0].values) == [Value(), Value()]


def _value(random: Any) -> Value:
    kind = random.integers(4)
    if kind == 0:
        return Value()
    if kind == 1:
        return Value(string_val="x" * int(random.integers(0, 400)))
    return Value(int64_val=int(random.integers(-9, 10**9))) if kind == 2 else Value(double_val=float(random.random()))
