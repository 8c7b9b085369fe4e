"""Records as JSON, in the forms of the command ``bsdb``."""

from __future__ import annotations

import base64
import datetime
import decimal
import json
import math
import re
import struct
import uuid
from typing import Any, Optional

# A double holds all whole numbers up to it, exactly.
_SAFE = 2**53 - 1


def of_bytes(value: Optional[bytes]) -> str:
    """The text of bytes that are UTF-8, otherwise an object with their base64 form; null for None."""
    if value is None:
        return "null"
    try:
        return _text(value.decode())
    except UnicodeDecodeError:
        return '{"base64":%s}' % _text(base64.b64encode(value).decode())


def compact(value: Any) -> str:
    """A value of Python as JSON without blanks."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def names(text: str) -> list[str]:
    """Names that commas separate. In a name, ``\\,`` is a comma and ``\\\\`` a backslash."""
    if re.search(r"(?s)^(?:[^\\]|\\[,\\])*\\(?![,\\])", text):
        raise ValueError(
            "has a backslash before neither a comma nor a backslash (in a name, \\, is a comma and \\\\ a backslash)"
        )
    found = [""]
    for part in re.findall(r"(?s)\\.|.", text):
        if part == ",":
            found.append("")
        else:
            found[-1] += part[-1]
    if "" in found:
        raise ValueError("has an empty name")
    return found


class RowWriter:
    """Writes rows of a schema as JSON objects: all columns, or only some; large numbers as strings if ``safe``."""

    def __init__(self, schema: Any, columns: Optional[list[str]] = None, safe: bool = False) -> None:
        self._names: dict[str, Any] = {}
        self._schema = schema
        self._columns = None if columns is None else set(columns)
        self._safe = safe
        self._learn(schema, "")

    @property
    def columns(self) -> list[str]:
        """The names of all columns."""
        return [field.get("column", field["name"]) for field in self._schema["fields"]]

    def write(self, row: Any) -> str:
        """The JSON object of a row as ``Database.get_row`` returns it; null for None."""
        if row is not None and self._columns is not None:
            row = {name: value for name, value in row.items() if name in self._columns}
        return self._write(self._schema, row)

    def _learn(self, schema: Any, space: str) -> None:
        if isinstance(schema, list):
            for branch in schema:
                self._learn(branch, space)
        elif isinstance(schema, dict):
            if isinstance(schema.get("name"), str):
                space = schema.get("namespace", space)
                self._names[schema["name"].rpartition(".")[2]] = schema
            for inner in ("type", "items", "values"):
                self._learn(schema.get(inner), space)
            for field in schema.get("fields", ()):
                self._learn(field["type"], space)

    def _write(self, schema: Any, value: Any) -> str:
        schema = self._resolved(schema)
        if value is None:
            return "null"
        if isinstance(value, (bool, str)):
            return _text(value)
        if isinstance(value, int):
            return self._integer(schema, value)
        if isinstance(value, float):
            return _float(value, schema.get("type") == "float")
        if isinstance(value, decimal.Decimal):
            digits = format(value, "f")
            unscaled = int("".join(map(str, value.as_tuple().digits)))
            return f'"{digits}"' if self._safe and unscaled > _SAFE else digits
        if isinstance(value, bytes):
            return _text(base64.b64encode(value).decode())
        if isinstance(value, list):
            items = schema.get("items")
            return "[%s]" % ",".join(self._write(items, item) for item in value)
        if isinstance(value, dict):
            types = {field.get("column", field["name"]): field["type"] for field in schema.get("fields", ())}
            values = schema.get("values")
            members = (_text(name) + ":" + self._write(types.get(name, values), of) for name, of in value.items())
            return "{%s}" % ",".join(members)
        return _text(_time(value))

    def _resolved(self, schema: Any) -> dict[str, Any]:
        """The type of a value that is not null; that of an int in a union of several types is not known."""
        if isinstance(schema, list):
            others = [branch for branch in schema if branch != "null"]
            return self._resolved(others[0]) if len(others) == 1 else {}
        if isinstance(schema, str):
            return self._resolved(self._names.get(schema.rpartition(".")[2], {"type": schema}))
        if isinstance(schema, dict) and not isinstance(schema.get("type", ""), str):
            return self._resolved(schema["type"])
        return schema or {}

    def _integer(self, schema: dict[str, Any], value: int) -> str:
        logical = _logical(schema)
        if not logical.endswith("-nanos"):
            return f'"{value}"' if self._safe and abs(value) > _SAFE else str(value)
        seconds, nanos = divmod(value, 10**9)
        moment = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=seconds)
        text = moment.strftime("%H:%M:%S")
        if "timestamp" in logical:
            text = moment.isoformat()
        zone = "Z" if logical == "timestamp-nanos" else ""
        return _text(text + _fraction(nanos) + zone)


def _logical(schema: dict[str, Any]) -> str:
    return str(schema.get("logicalType", ""))


def _time(value: Any) -> str:
    if isinstance(value, (datetime.datetime, datetime.time)):
        text = value.replace(microsecond=0, tzinfo=None).isoformat()
        return text + _fraction(1000 * value.microsecond) + ("Z" if value.tzinfo is not None else "")
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, uuid.UUID):
        return str(value)
    return _duration(*value)  # MonthDayNano


def _duration(months: int, days: int, nanos: int) -> str:
    seconds, millis = divmod(nanos // 10**6, 1000)
    date = (f"{months}M" if months else "") + (f"{days}D" if days else "")
    time = f"{seconds}" + (f".{millis:03}" if millis else "") + "S" if nanos or not date else ""
    return "P" + date + ("T" + time if time else "")


def _fraction(nanos: int) -> str:
    """The fraction of a second, in 3, 6 or 9 digits."""
    digits = f"{nanos:09}"
    while digits.endswith("000"):
        digits = digits[:-3]
    return "." + digits if digits else ""


def _float(value: float, single: bool) -> str:
    """The shortest text that reads as the same number."""
    if not math.isfinite(value):
        return '"NaN"' if math.isnan(value) else '"Infinity"' if value > 0 else '"-Infinity"'
    if single:
        for digits in range(1, 9):
            shorter = float(f"{value:.{digits}g}")
            if abs(shorter) < 3.4e38 and struct.unpack("f", struct.pack("f", shorter))[0] == value:
                return repr(shorter)
    return repr(value)


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
