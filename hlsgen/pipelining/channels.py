"""Bounded queues between parts, which end together when something goes wrong."""

from __future__ import annotations

import threading
from collections import deque
from typing import Any


class Stopped(Exception):
    """The pipeline ends: nothing more comes or goes."""


class Channel:
    """A queue of at most `depth` items from one thread to another.

    Who puts waits while it is full, who gets while it is empty; `stop` ends the waiting of both.
    """

    def __init__(self, depth: int) -> None:
        self.depth = depth
        self._items: deque[Any] = deque()
        self._changed = threading.Condition()
        self._stopped = False

    def put(self, item: Any) -> None:
        """Raises Stopped."""
        with self._changed:
            self._changed.wait_for(lambda: self._stopped or len(self._items) < self.depth)
            if self._stopped:
                raise Stopped
            self._items.append(item)
            self._changed.notify_all()

    def get(self) -> Any:
        """Raises Stopped."""
        with self._changed:
            self._changed.wait_for(lambda: self._stopped or bool(self._items))
            if self._stopped:
                raise Stopped
            item = self._items.popleft()
            self._changed.notify_all()
            return item

    def stop(self) -> None:
        with self._changed:
            self._stopped = True
            self._items.clear()
            self._changed.notify_all()
