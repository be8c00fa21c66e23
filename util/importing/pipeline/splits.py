"""Divides rows into sets: the corpus's own sets and, for the other rows, sets of speakers or of recordings.

All rows of a speaker, or of a recording with an unknown speaker, are a unit, and units are not divided. With fewer
speakers than sets each recording is a unit; with fewer recordings than sets, each utterance. Small corpora are divided
exactly: each set has its share of the rows, and at least one unit. With more than `MOST_UNITS` units, a hash of each
unit's name decides, which needs no memory. The same seed gives the same sets. If a corpus is divided again with the
same shares, each known unit stays in its set, because a checkpoint may have been trained on it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import NamedTuple

from ...figures.counted import counted
from .records import DEFAULT_SPLIT, DEV, SETS, TEST, TRAIN, Choices, Record
from .speakers import SPEAKER

MOST_UNITS = 100_000
"""The most units that are counted individually."""

_HASHES = 1 << 64

_SPEAKER, _RECORDING, _UTTERANCE = _KINDS = ("speaker", "recording", "utterance")


class Division(NamedTuple):
    """The set of each unit."""

    how: str
    """The seed, the shares, and the kind of units."""
    sets: Mapping[int, str]


class Splitter:
    """Chooses sets, after it has counted every row."""

    def __init__(self, choices: Choices, roots: Sequence[str], before: Division = Division("", {})) -> None:  # noqa: B008
        """Names of recordings are relative to the first of the folders `roots` that they are in, so these may be moved.

        Units of the previous division `before` keep their sets, if it was made in the same way.
        """
        self.division = before
        """The division of the rows, once they are divided."""
        self._shares = dict(zip(SETS, choices.split or DEFAULT_SPLIT, strict=True))
        self._official = choices.split is None
        self._seed = (choices.seed % _HASHES).to_bytes(8, "big")
        self._roots = [f"{root}/" for root in roots]
        self._official_sets: set[str] = set()
        self._rows: dict[str, dict[int, int]] = {kind: {} for kind in _KINDS}
        self._total = 0
        self._unknown = 0
        self._assigned: dict[int, str] = {}
        self._limits: list[tuple[int, str]] = []
        self._kind = _SPEAKER

    def count(self, record: Record, *, usable: bool = True) -> None:
        """Count a row.

        A row that is not `usable`, because its recording is missing, makes no unit, as that could be the only unit of a
        set; but a unit of the previous division keeps its set.
        """
        if self._official and record.official_set:
            self._official_sets.add(record.official_set)
            if record.official_set != TRAIN:
                return
        kinds = _KINDS if usable else (self._kind_before,) if self._is_known(record) else ()
        if not kinds:
            return
        self._total += 1
        self._unknown += not (record.speaker and _SPEAKER in kinds)
        for kind in kinds:
            rows = self._rows[kind]
            if kind == _UTTERANCE and len(self._rows[_RECORDING]) >= len(SETS):
                continue  # they will not be needed
            unit = self._unit(record, kind)
            if unit in rows or len(rows) <= MOST_UNITS:
                rows[unit] = rows.get(unit, 0) + 1

    def divide(self) -> list[str]:
        """Divide the counted rows; return lines of information for the user."""
        wanted = [name for name in (TEST, DEV) if name not in self._official_sets and self._shares[name] > 0]
        lines = []
        if self._official_sets:
            lines.append(
                f"sets of the corpus itself: {', '.join(name for name in SETS if name in self._official_sets)}"
            )
        if not self._total or (self._official_sets and not wanted):
            return lines
        needed = len(wanted) + (self._shares[TRAIN] > 0)
        kinds = _KINDS if self._unknown < self._total else _KINDS[1:]
        self._kind = next((kind for kind in kinds if len(self._rows[kind]) >= needed), _UTTERANCE)
        units = self._rows[self._kind]
        if len(units) < needed or not wanted:
            self.division = Division(self._how, dict.fromkeys(units, TRAIN))
            count = counted(len(units), "utterance")
            return [*lines, f"{count}: too few for {needed} sets; all are in train"] if wanted else lines
        whole = sum(self._shares.values())
        shares = [(name, self._shares[name] / whole) for name in wanted]
        lines += self._keep(wanted, needed)
        if len(units) > MOST_UNITS:
            self._limits = _limits(shares)
        else:
            kept, everything = self._assigned, self._shares[TRAIN] == 0
            self._assigned = kept | _assign(units, shares, self._total, kept, everything=everything)
            self.division = self.division._replace(sets=dict.fromkeys(units, TRAIN) | self._assigned)
        self._rows = {}
        return [*lines, self._describe(wanted, len(units))]

    @property
    def _kind_before(self) -> str:
        return self.division.how.rpartition(" ")[2]

    def _is_known(self, record: Record) -> bool:
        sets = self.division.sets
        return bool(sets) and self._unit(record, self._kind_before) in sets

    @property
    def _how(self) -> str:
        return f"{self._seed.hex()} {self._shares} {self._kind}"

    def _keep(self, wanted: Sequence[str], needed: int) -> list[str]:
        """Assign units as before, unless a set would have none; return lines of information for the user."""
        before, units = self.division, self._rows[self._kind]
        if before.how == self._how:
            own = {*wanted, TRAIN} if self._shares[TRAIN] > 0 else set(wanted)
            self._assigned = {unit: name for unit, name in before.sets.items() if name in own}
        found = [self._assigned[unit] for unit in units if unit in self._assigned]
        if needed - len(set(found)) > len(units) - len(found):
            self._assigned = {}
        self.division = Division(self._how, self._assigned)
        if not before.sets or self._assigned:
            return []
        return ["not divided as before: dev and test may have what was in train; train with a new --checkpoint_dir"]

    def choose(self, record: Record) -> str:
        """Return the set of a row."""
        if self._official and record.official_set and record.official_set != TRAIN:
            return record.official_set
        if not self._assigned and not self._limits:
            return TRAIN
        unit = self._unit(record, self._kind)
        if unit in self._assigned:
            return self._assigned[unit]
        return next((name for limit, name in self._limits if unit < limit), TRAIN)

    def _unit(self, record: Record, kind: str) -> int:
        """Return a hash of the unit of a row: a number below `_HASHES`, with a uniform distribution."""
        root = next((root for root in self._roots if record.path.startswith(root)), "/")
        name = record.path[len(root) - 1 :]
        if kind == _SPEAKER and record.speaker:
            name = f"speaker {record.speaker}"
        elif kind == _UTTERANCE:
            name = f"{name} {record.start} {record.transcript}"
        digest = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8, key=self._seed)
        return int.from_bytes(digest.digest(), "big")

    def _describe(self, wanted: Sequence[str], units: int) -> str:
        names = " and ".join(reversed(wanted))
        what = f"{names} taken from train" if self._official_sets else "divided into sets"
        if self._kind == _SPEAKER and self._unknown:
            unknown = counted(self._unknown, "row")
            return f"{what} by speaker, and by a hash of the name where no speaker is known ({unknown})"
        if self._kind == _SPEAKER:
            count = "more than 100,000 speakers" if units > MOST_UNITS else counted(units, "speaker")
            return f"{what} by speaker ({count}; no speaker is in two of these sets)"
        known = "no speaker is known" if self._unknown == self._total else "there are too few speakers for sets of them"
        if self._kind == _RECORDING:
            hint = f"; if paths name the speakers, say how, as in --speakers '{SPEAKER}/*'" if self._unknown else ""
            return f"{what} by a hash of each recording's name: {known}, so a speaker can be in several sets{hint}"
        return f"{what} by a hash of each utterance: {known}, and too few recordings, so each can be in several sets"


def _limits(shares: Sequence[tuple[str, float]]) -> list[tuple[int, str]]:
    limits, reached = [], 0.0
    for name, share in shares:
        reached += share
        limits.append((int(reached * _HASHES), name))
    return limits


def _assign(
    units: dict[int, int], shares: Sequence[tuple[str, float]], total: int, kept: Mapping[int, str], *, everything: bool
) -> dict[int, str]:
    """Return the set of each unit that is neither `kept` nor left for training, given the rows of each unit.

    In the order of their hashes, units are added to a set while they bring it nearer to its share of the rows; a set
    that would get none gets the smallest unit. `everything`: nothing is left for training.
    """
    free = sorted(unit for unit in units if unit not in kept)
    held = dict.fromkeys((TRAIN, *(name for name, _ in shares)), 0)
    for unit in units.keys() & kept.keys():
        held[kept[unit]] += units[unit]
    empty = [name for name, rows in held.items() if not rows and not (everything and name == TRAIN)]
    assigned: dict[int, str] = {}
    for name, share in shares:
        target, rows = share * total, held[name]
        empty = [other for other in empty if other != name]
        most = len(free) - len(empty)
        for unit in free:
            if most and abs(rows + units[unit] - target) < abs(rows - target):
                assigned[unit] = name
                rows += units[unit]
                most -= 1
        if not rows:
            assigned[min(free, key=lambda unit: (units[unit], unit))] = name
        free = [unit for unit in free if unit not in assigned]
    if everything:
        assigned |= dict.fromkeys(free, shares[-1][0])
    return assigned
