"""A response that becomes Python values quickly."""

from __future__ import annotations

from typing import Any

from feast.online_response import TIMESTAMP_POSTFIX, OnlineResponse
from feast.type_map import feast_value_type_to_python_type
from feast.value_type import ValueType

__all__ = ["Response"]

# Fields of Value whose content is the Python value, whatever the feature says.
_PLAIN = {"bytes_val", "int32_val", "int64_val", "double_val", "float_val", "bool_val"}
_UUIDS = {ValueType.UUID, ValueType.TIME_UUID}


class Response(OnlineResponse):
    """What Feast's ``OnlineResponse`` is, with a quick way for numbers and text in ``to_dict`` and what uses it."""

    @staticmethod
    def of(response: OnlineResponse) -> OnlineResponse:
        """The response, as one of these."""
        return Response(response.proto, response._feature_types)

    def to_dict(self, include_event_timestamps: bool = False) -> dict[str, Any]:
        """The values of each feature, and the seconds of their event timestamps if wanted."""
        result: dict[str, Any] = {}
        for name, vector in zip(self.proto.metadata.feature_names.val, self.proto.results):
            result[name] = _values(vector.values, self._feature_types.get(name))
            if include_event_timestamps:
                result[name + TIMESTAMP_POSTFIX] = [time.seconds for time in vector.event_timestamps]
        return result


def _values(values: Any, kind: Any) -> list[Any]:
    fields = [value.WhichOneof("val") for value in values]
    kinds = set(fields)
    kinds.discard(None)
    if len(kinds) == 1:
        [field] = kinds
        if field in _PLAIN or field == "string_val" and kind not in _UUIDS:
            return [None if each is None else getattr(value, field) for value, each in zip(values, fields)]
    return [feast_value_type_to_python_type(value, kind) for value in values]
