"""Lookups of asyncio that no thread waits for."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Optional

from . import _bsdb

if TYPE_CHECKING:
    import asyncio

__all__ = ["mailbox"]


class _Mailbox:
    """The lookups of one event loop. All results that arrived meanwhile wake the loop once.

    Has no reference to the loop, except through the futures that are waited for.
    """

    __slots__ = ("__weakref__", "_numbers", "_waiting", "native")

    def __init__(self) -> None:
        self.native = _bsdb._Mailbox()
        self._numbers = itertools.count()
        self._waiting: dict[int, asyncio.Future[Any]] = {}

    async def arrival(self, start: Callable[[Any, Any, int], object], database: Any, asked: Any) -> Any:
        """Starts a lookup and waits for its result. The lookup ends if nobody waits any more."""
        import asyncio

        number = next(self._numbers)
        future = self._waiting[number] = asyncio.get_running_loop().create_future()
        lookup = None
        try:
            lookup = start(database, asked, number)
            return await future
        finally:
            del self._waiting[number], lookup

    def empty(self) -> None:
        """Passes on what has arrived."""
        for number, result, error in self.native.take():
            future = self._waiting.get(number)
            if future is None or future.done():
                continue
            if error is None:
                future.set_result(result)
            else:
                future.set_exception(error)


_mailboxes: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Optional[_Mailbox]] = weakref.WeakKeyDictionary()


def mailbox() -> Optional[_Mailbox]:
    """The mailbox of the running loop; none if the loop cannot watch sockets."""
    import asyncio

    loop = asyncio.get_running_loop()
    try:
        return _mailboxes[loop]
    except KeyError:
        pass
    for reference in _mailboxes.keyrefs():
        other = reference()
        if other is not None and other.is_closed():  # a future that waits in its mailbox would keep it for ever
            _mailboxes.pop(other, None)
    box = _Mailbox() if hasattr(_bsdb, "_Mailbox") else None
    if box is not None:
        try:
            loop.add_reader(box.native.fileno(), box.empty)
        except NotImplementedError:
            box = None
    _mailboxes[loop] = box
    return box
