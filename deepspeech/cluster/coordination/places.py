"""Places of nodes: which are free for workers that join without one, and which processes have had each."""

from collections.abc import Collection

RESERVED_SECONDS = 30.0
"""Seconds for which a worker that does not ask again has the place that it was given. It builds its graph meanwhile."""


class FreePlaces:
    """Which places are reserved for whom, beside those that members have. Place 0 is the chief's, and never given."""

    def __init__(self, places: int) -> None:
        """Begin with all places free."""
        self._places = places
        self._given: dict[int, float] = {}
        self._reserved: dict[int, tuple[str, float]] = {}

    def take(self, process: str, taken: Collection[int], now: float) -> int | None:
        """Reserve a place for a process and return it; None while there is none beside those that are `taken`.

        A process that asks again keeps its place. Of the others, one that was never given comes first, then the one
        that was given the longest ago.
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
        """Note that a worker comes to join: its place is a member's, or is free if the worker is refused."""
        self._reserved = {place: entry for place, entry in self._reserved.items() if entry[0] != process}


class Successions:
    """The processes that have joined, in the order in which they came first: of two at one place, the later has it."""

    def __init__(self) -> None:
        """Begin without any."""
        self._numbers: dict[str, int] = {}

    def note(self, process: str) -> None:
        """Note that a process joins."""
        self._numbers.setdefault(process, len(self._numbers))

    def is_before(self, process: str, other: str) -> bool:
        """Return whether a process came before the other one, which has joined."""
        return process in self._numbers and self._numbers[process] < self._numbers[other]
