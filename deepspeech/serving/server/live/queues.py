"""The queues between a live stream's connection and the threads that recognize it."""

from __future__ import annotations

import asyncio
import json
import time
from collections import deque
from dataclasses import dataclass
from typing import Any

from .protocol import Command, Event, Final, Partial

MOST_ITEMS = 64
"""The most items that wait: commands, and stretches of audio between them."""


@dataclass
class Audio:
    """Received audio, and when its last byte arrived, in seconds of the monotonic clock."""

    samples: bytearray
    arrived: float


class Inbox:
    """Audio and commands in the order of their arrival; adjacent messages of audio are joined."""

    def __init__(self, piece_bytes: int, largest_piece: int, most_bytes: int) -> None:
        """Hand out audio in pieces of `piece_bytes` to `largest_piece`; there is no room while `most_bytes` wait."""
        self._piece_bytes = piece_bytes
        self._largest_piece = largest_piece
        self._most_bytes = most_bytes
        self._items: deque[Audio | Command] = deque()
        self._waiting_bytes = 0
        self._changed = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()

    def put_audio(self, samples: bytes) -> None:
        """Add audio."""
        now = time.monotonic()
        newest = self._items[-1] if self._items else None
        if isinstance(newest, Audio):
            newest.samples += samples
            newest.arrived = now
        else:
            self._items.append(Audio(bytearray(samples), now))
        self._waiting_bytes += len(samples)
        self._update()

    def put(self, command: Command) -> None:
        """Add a command."""
        self._items.append(command)
        self._update()

    async def room(self) -> None:
        """Wait until there is room for more."""
        if not self._room.is_set():
            await self._room.wait()

    async def take(self) -> Audio | Command:
        """Wait for a piece of audio or a command, and return it."""
        while not self._is_ready():
            self._changed.clear()
            await self._changed.wait()
        item = self._items.popleft()
        if isinstance(item, Audio):
            rest = item.samples[self._largest_piece :]
            if rest:
                del item.samples[self._largest_piece :]
                self._items.appendleft(Audio(rest, item.arrived))
            self._waiting_bytes -= len(item.samples)
        self._update()
        return item

    def next_is(self, kind: type[Command]) -> bool:
        """Return whether the next item is a command of this kind."""
        return bool(self._items) and isinstance(self._items[0], kind)

    def _is_ready(self) -> bool:
        if not self._items:
            return False
        first = self._items[0]
        return not isinstance(first, Audio) or len(self._items) > 1 or len(first.samples) >= self._piece_bytes

    def _update(self) -> None:
        self._changed.set()
        if self._waiting_bytes < self._most_bytes and len(self._items) < MOST_ITEMS:
            self._room.set()
        else:
            self._room.clear()


class Outbox:
    """Messages to a client. A partial that is still unsent gives way to the next partial or final."""

    def __init__(self, most: int) -> None:
        """Hold at most `most` messages."""
        self._most = most
        self._items: deque[Event | dict[str, Any]] = deque()
        self._changed = asyncio.Event()
        self._ended = False

    def put(self, message: Event | dict[str, Any]) -> bool:
        """Add a message; return False if too many are unread."""
        if self._items and isinstance(self._items[-1], Partial) and isinstance(message, (Partial, Final)):
            self._items.pop()
        if len(self._items) >= self._most:
            return False
        self._items.append(message)
        self._changed.set()
        return True

    def end(self, *last: dict[str, Any]) -> None:
        """Add the last messages, however many are unread; `take` returns None once all are taken."""
        self._items.extend(last)
        self._ended = True
        self._changed.set()

    async def take(self) -> str | None:
        """Wait for a message, and return it as JSON; None at the end."""
        while not self._items:
            if self._ended:
                return None
            self._changed.clear()
            await self._changed.wait()
        item = self._items.popleft()
        return json.dumps(item if isinstance(item, dict) else item.to_json(), ensure_ascii=False)
