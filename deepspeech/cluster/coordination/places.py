"""Places of workers that join without one: the coordinator gives each a number of its own."""

from collections.abc import Collection

RESERVED_SECONDS = 300.0
"""Seconds that a worker has to join at the place that it was given: it builds its graph first."""


class FreePlaces:
    """Which places are reserved for whom, beside those that members have. Place 0 is the chief's, and never given."""

    def __init__(self, places: int) -> None:
        """Begin with all places free."""
        self._places = places
        self._given: dict[int, float] = {}
        self._reserved: dict[int, tuple[str, float]] = {}

    def take(self, process: str, taken: Collection[int], now: float) -> int | None:
        """Reserve a place for a process and return it; None while there is none beside those that are `taken`.

        A process that asks again gets the same place. Of the others, one that was never given comes first, then the one
        that was given the longest ago.
        """
        self._reserved = {place: entry for place, entry in self._reserved.items() if now - entry[1] < RESERVED_SECONDS}
        for place, (holder, _) in self._reserved.items():
            if holder == process:
                return place
        free = [place for place in range(1, self._places) if place not in taken and place not in self._reserved]
        if not free:
            return None
        place = min(free, key=lambda each: self._given.get(each, float("-inf")))
        self._given[place] = now
        self._reserved[place] = process, now
        return place

    def end_reservation(self, place: int) -> None:
        """Note that a worker has joined at a place, which is free again when that worker is gone."""
        self._reserved.pop(place, None)
