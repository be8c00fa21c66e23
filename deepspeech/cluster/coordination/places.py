"""Places of workers: which are free for workers without a fixed place, and which of two processes came later."""

from collections.abc import Collection

RESERVED_SECONDS = 30.0
"""Seconds for which a place stays reserved for a worker that does not ask again; it builds its graph meanwhile."""


class FreePlaces:
    """The places that are reserved for workers that have yet to join. Place 0 is the chief's, and never assigned."""

    def __init__(self, places: int) -> None:
        """Begin with all places free."""
        self._places = places
        self._given: dict[int, float] = {}
        self._reserved: dict[int, tuple[str, float]] = {}

    def take(self, process: str, taken: Collection[int], now: float) -> int | None:
        """Reserve a place for a process and return it; None if all places are reserved or `taken`.

        A process that asks again keeps its place. Otherwise it gets a place that was never assigned or, if there is
        none, the one whose assignment is the longest ago.
        """
        self._reserved = {
            place: (holder, asked)
            for place, (holder, asked) in self._reserved.items()
            if place not in taken and now - asked < RESERVED_SECONDS
        }
        place = next((each for each, (holder, _) in self._reserved.items() if holder == process), None)
        if place is None:
            free = [each for each in range(1, self._places) if each not in taken and each not in self._reserved]
            if not free:
                return None
            place = min(free, key=lambda each: self._given.get(each, float("-inf")))
            self._given[place] = now
        self._reserved[place] = process, now
        return place

    def end_reservation(self, process: str) -> None:
        """End a process's reservation, because it joins: its place is now a member's, or free if it is refused."""
        self._reserved = {place: entry for place, entry in self._reserved.items() if entry[0] != process}


class Successions:
    """The processes that have joined, in the order in which each first joined; the later of two at a place has it."""

    def __init__(self) -> None:
        """Begin without processes."""
        self._numbers: dict[str, int] = {}

    def note(self, process: str) -> None:
        """Record that a process joins."""
        self._numbers.setdefault(process, len(self._numbers))

    def is_before(self, process: str, other: str) -> bool:
        """Return whether a process first joined before the other one, which has joined."""
        return process in self._numbers and self._numbers[process] < self._numbers[other]
