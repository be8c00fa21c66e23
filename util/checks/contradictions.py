"""Recordings that a corpus lists with different transcripts, of which at most one is right."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


def contradictions(utterances: Iterable[tuple[str, str, str]]) -> Iterator[str]:
    """Yield a line if there are recordings with several transcripts.

    Each of `utterances` has the recording, or the part of it, the transcript, and the place in the list.
    """
    first: dict[str, tuple[str, str]] = {}
    others: dict[str, tuple[str, str]] = {}
    for recording, transcript, source in utterances:
        said, where = first.setdefault(recording, (transcript, source))
        if transcript != said:
            others.setdefault(recording, (where, source))
    if others:
        recording, (one, other) = next(iter(others.items()))
        count = "1 recording has" if len(others) == 1 else f"{len(others)} recordings have"
        yield (
            f"{count} several transcripts (such as {recording}, {one} and {other}); remove the wrong ones, or, if "
            "these are parts of a recording, name the columns of their times start and duration, in seconds"
        )
