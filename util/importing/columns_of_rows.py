"""What further columns of a list's rows say of them: their sets, and the parts and channels of shared recordings.

Times count where rows name several parts of a recording, and channels where they name several. A row with a recording
of its own may have been cut out, and its times and channel may be those in the recording that it was cut out of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from typing import NamedTuple

from ..corpus_files.lookup import Lookup
from ..corpus_files.speakers import column_name
from ..progress import without_warnings
from .pipeline.columns import CHANNELS, SETS_OF_ROWS, SIDES, TIMES, part_in, times_in
from .pipeline.folders import set_of_name
from .pipeline.records import WRONG_TIMES, Item, LeftOut, Record

_SEVERAL = "\0"
"""Stands for several times or channels of a recording; none is it."""
_Texts = Mapping[str, str]
"""The texts of a row by the names of their columns, without empty ones."""


def with_columns(read: Callable[[], Iterator[Item]]) -> Iterator[Item]:
    """Yield the items that `read` reads; they are read again, without warnings, if columns name times or channels.

    A record has the set that a column names. If the records of a recording name several parts of it, or channels, each
    is the part, and has the channel, that it names. Channels are counted from 0 if one is 0, else from 1.
    """
    with ExitStack() as stack:
        shared: _Shared | None = None
        for item in read():
            if isinstance(item, Record):
                texts = _texts_of(item)
                if official_set := set_of_name(_first(texts, SETS_OF_ROWS)):
                    item = item._replace(official_set=official_set)
                if _names_part(item, texts) or _channel_in(texts):
                    if shared is None:
                        with without_warnings():
                            shared = _Shared.among(read(), stack)
                    yield _part_of(item, texts, shared)
                    continue
            yield item


class _Shared(NamedTuple):
    """What the records of all rows have in common."""

    times: Lookup
    """The times that all records of a recording name, or `_SEVERAL`, by the recording's path."""
    channels: Lookup
    """The same of channels."""
    first_channel: int
    """The number of the first channel."""

    @classmethod
    def among(cls, items: Iterable[Item], stack: ExitStack) -> _Shared:
        """Read all items."""
        times, channels = stack.enter_context(Lookup()), stack.enter_context(Lookup())
        first_channel = 1
        for item in items:
            if isinstance(item, Record):
                texts = _texts_of(item)
                channel = _channel_in(texts)
                first_channel = min(first_channel, int(channel)) if channel.isdecimal() else first_channel
                channels.put_or(item.path, channel, _SEVERAL)
                times.put_or(item.path, f"{times_in(texts)}", _SEVERAL)
        return cls(times, channels, first_channel)


def _part_of(record: Record, texts: _Texts, shared: _Shared) -> Item:
    """Return the part of a recording that its columns name, or why it is left out."""
    channel = _channel_in(texts)
    if record.channel is None and channel and shared.channels.get(record.path) == _SEVERAL:
        record = record._replace(channel=SIDES[channel] if channel in SIDES else int(channel) - shared.first_channel)
    if not _names_part(record, texts) or shared.times.get(record.path) != _SEVERAL:
        return record
    try:
        start, duration = part_in(texts)
    except ValueError as error:
        return LeftOut(record.source, WRONG_TIMES, record.path, str(error))
    return record._replace(start=start, duration=duration)


def _texts_of(record: Record) -> _Texts:
    return {column_name(name): text for name, text in record.columns.items() if text}


def _names_part(record: Record, texts: _Texts) -> bool:
    """Return whether columns name the start of a record that is a whole recording so far."""
    return not record.start and record.duration is None and not TIMES[0].keys().isdisjoint(texts)


def _channel_in(texts: _Texts) -> str:
    """Return the number or the name of a channel that a column has; empty if none has one."""
    name = _first(texts, CHANNELS).lower()
    return name if name in SIDES or name.isdecimal() else ""


def _first(texts: _Texts, names: Iterable[str]) -> str:
    return next((texts[name] for name in names if name in texts), "")
