"""Recordings that a corpus lists with different transcripts, of which one at most is what is said."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


def contradictions(utterances: Iterable[tuple[str, str, str]]) -> Iterator[str]:
    """Yield a line if there are recordings that have several transcripts.

    `utterances` are the recording of each, or the part of it, what its transcript says, and where it is listed.
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
        yield f"{count} several transcripts (such as {recording}, {one} and {other}); remove those that are not said"
