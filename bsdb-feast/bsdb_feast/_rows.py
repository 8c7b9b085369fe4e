"""Rows: what the database of a feature view holds.

The key of a record is an entity key as Feast serializes it, in version 3. Its value, the *row*, is a message
``FeatureVector`` of Feast: first one event timestamp, then a Value for each feature. One more record, whose key
``features`` no entity can have, says in JSON which features those are: ``Features``. A row may have fewer values than
there are features. The others were added to the view after the row was written, and have no value yet.

The frames of a row, that is its event timestamp and each value with the field number and length before it, are the
same bytes that a response of ``get_online_features`` has. A response is therefore made of whole frames.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from operator import itemgetter
from typing import Any, Optional

from feast.protos.feast.serving.ServingService_pb2 import FieldStatus, GetOnlineFeaturesResponse
from feast.protos.feast.types.Value_pb2 import BytesList
from google.protobuf.timestamp_pb2 import Timestamp

__all__ = ["FEATURES", "Features", "RowError", "encoded", "head", "micros", "respond", "row_micros", "split", "varint"]

FEATURES = b"features"
"""The key of the record that names the features."""

_FORMAT = 1
_NO_TIME = b"\x1a\x00"
_NO_VALUE = b"\x0a\x00"
_HEADS = [b"\x0a" + bytes([size]) for size in range(128)]
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


class RowError(ValueError):
    """A record that is no row of a feature view."""


@dataclass(frozen=True)
class Features:
    """What the rows of a database hold."""

    view: str
    """The name of the feature view."""
    names: tuple[str, ...]
    """The features, in the order of their values."""
    newest: int
    """The greatest event timestamp of all rows, in microseconds."""

    def encoded(self) -> bytes:
        """The value of the record ``FEATURES``."""
        return json.dumps(
            {"format": _FORMAT, "view": self.view, "newest": self.newest, "features": self.names}, ensure_ascii=False
        ).encode()

    @staticmethod
    def decoded(text: Optional[bytes], view: str, place: str) -> Features:
        """Reads the record ``FEATURES`` of a database, which is at a place and should be that of a view."""
        if text is None:
            raise RowError(f"{place} holds no feature view: it has no record with the key 'features'")
        try:
            read = json.loads(text)
            form, features = read["format"], Features(read["view"], tuple(read["features"]), read["newest"])
        except (ValueError, KeyError, TypeError) as error:
            raise RowError(f"{place} holds no feature view: its record 'features' cannot be read: {error}") from error
        if form != _FORMAT:
            raise RowError(f"{place} has rows in format {form}; this version of bsdb-feast reads format {_FORMAT}")
        if features.view != view:
            raise RowError(f"{place} holds the feature view {features.view!r}, not {view!r}")
        return features


def micros(time: datetime) -> int:
    """The microseconds of a time since 1970; without a time zone, it is in UTC."""
    if time.tzinfo is None:
        time = time.replace(tzinfo=timezone.utc)
    return (time - _EPOCH) // timedelta(microseconds=1)


def head(time: int) -> bytes:
    """The first frame of a row: its event timestamp, in microseconds."""
    seconds, rest = divmod(time, 1_000_000)
    text = Timestamp(seconds=seconds, nanos=rest * 1000).SerializeToString()
    return b"\x1a" + bytes([len(text)]) + text


def encoded(time: int, values: Iterable[bytes]) -> bytes:
    """A row of an event timestamp and serialized Values."""
    parts = [head(time)]
    for value in values:
        parts += (_head(len(value)), value)
    return b"".join(parts)


def varint(number: int) -> bytes:
    """A number as protobuf writes it."""
    text = bytearray()
    while number > 0x7F:
        text.append(number & 0x7F | 0x80)
        number >>= 7
    text.append(number)
    return bytes(text)


def row_micros(row: bytes) -> int:
    """The event timestamp of a row, in microseconds."""
    time = Timestamp.FromString(_time_frame(row)[2:])
    return int(time.seconds) * 1_000_000 + int(time.nanos) // 1000


def split(row: bytes) -> Sequence[bytes]:
    """The serialized Values of a row."""
    # A list of bytes has the same form as a list of messages; the event timestamp is a field it does not know.
    return BytesList.FromString(row).val


def respond(
    response: GetOnlineFeaturesResponse,
    features: Optional[Features],
    requested: Sequence[str],
    rows: Sequence[Optional[bytes]],
    places: Iterable[Iterable[int]],
    count: int,
) -> int:
    """Adds the vectors of requested features to a response, and returns how many of its values are present.

    ``rows`` has a row for each entity, or None; ``places`` says at which of the ``count`` places of each vector that entity
    is. The names of features are not added.
    """
    numbers = {} if features is None else {name: i for i, name in enumerate(features.names)}
    wanted = [numbers.get(name, -1) for name in requested]
    most = max(wanted, default=0)
    choose = itemgetter(*wanted) if len(wanted) > 1 and min(wanted) >= 0 else None  # of one, it makes no tuple
    present = _statuses([FieldStatus.PRESENT] * count)
    found: list[Sequence[Optional[bytes]]] = [[None] * len(requested)] * count
    times = [_NO_TIME] * count
    for row, entity_places in zip(rows, places):
        if row is None:
            continue
        frame, values = _time_frame(row), list(split(row))
        if choose is not None and len(values) > most:
            shown: Sequence[Optional[bytes]] = choose(values)
        else:
            shown = [values[number] if 0 <= number < len(values) else None for number in wanted]
        for place in entity_places:
            found[place], times[place] = shown, frame
    frames = b"".join(times)
    texts: list[bytes] = []
    missing = 0
    for column in zip(*found):
        text, absent = _vector(column, present)
        missing += absent
        texts += (b"\x12", varint(len(text) + len(frames)), text, frames)
    response.MergeFromString(b"".join(texts))
    return len(requested) * count - missing


def _vector(column: Sequence[Optional[bytes]], present: bytes) -> tuple[bytes, int]:
    """The values and statuses of a FeatureVector, and how many values are absent."""
    absent = column.count(None)
    if absent:
        statuses = [FieldStatus.NOT_FOUND if value is None else FieldStatus.PRESENT for value in column]
        text = b"".join([_NO_VALUE if value is None else _head(len(value)) + value for value in column])
        return text + _statuses(statuses), absent
    sizes = set(map(len, column))  # type: ignore[arg-type]
    if len(sizes) == 1:
        head_ = _head(sizes.pop())
        return head_ + head_.join(column) + present, 0  # type: ignore[arg-type]
    heads: Any = _HEADS if max(sizes) < 128 else {size: _head(size) for size in sizes}
    return b"".join([heads[len(value)] + value for value in column]) + present, 0  # type: ignore[arg-type]


def _time_frame(row: bytes) -> bytes:
    if len(row) < 2 or row[0] != 0x1A or len(row) < 2 + row[1]:
        raise RowError("a record of the database is no row of a feature view: it does not begin with an event timestamp")
    return row[: 2 + row[1]]


def _statuses(statuses: list[Any]) -> bytes:
    return b"\x12" + varint(len(statuses)) + bytes(statuses)


def _head(size: int) -> bytes:
    return _HEADS[size] if size < 128 else b"\x0a" + varint(size)
