"""The names that a command line may give: flags and their aliases; and the error for any other name."""

import difflib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...errors import FlagError
from ...options import Flag, SwitchAlias
from .other_names import answer_in_training, flags_called

NEARNESS = 0.8
"""The least similarity of a flag's name to an unknown name to be suggested, from 0 to 1, as difflib measures it."""


@dataclass(frozen=True)
class Spelling:
    """A name by which a flag may be given: the flag's own, or an alias. Its values are of type `kind`."""

    name: str
    row: Flag
    kind: Any
    read: Callable[[Any], Any]
    """Returns the flag's value for the one that was given."""


def spellings(rows: Sequence[Flag]) -> Iterator[Spelling]:
    """Yield every name by which the flags may be given, a flag's own name before its aliases."""
    for row in rows:
        yield _spelling(row, row.name)
        for alias in row.aliases:
            yield _spelling(row, alias) if isinstance(alias, str) else _switch(row, alias)


def given_values(names: Sequence[Spelling], given: Callable[[str], Any]) -> dict[str, Any]:
    """Return the values of the flags that were given, by the flags' own names; `given` returns None for the others.

    Raise FlagError for a value that the flag's check does not allow, and for two names of a flag with two values.
    """
    values: dict[str, Any] = {}
    first: dict[str, str] = {}
    for name in names:
        said = given(name.name)
        if said is None:
            continue
        row, value = name.row, name.read(said)
        complaint = row.check.complaint(name.name, value) if row.check else ""
        if complaint:
            raise FlagError(complaint)
        if row.name in values and values[row.name] != value:
            raise FlagError(
                f"--{first[row.name]} and --{name.name}: two names of one flag, given with different values; give one"
            )
        values[row.name] = value
        first.setdefault(row.name, name.name)
    return values


def unknown_flag(name: str, names: Sequence[Spelling]) -> FlagError:
    """Return the error for a name that no flag has, with the most similar name; in training, with a better answer."""
    known = [each.name for each in names] + [f"no{each.name}" for each in names if each.kind is bool]
    answer = answer_in_training(_plain(name)) if "train" in known else ""
    return FlagError(f"--{name}: there is no such flag; {answer or see_help(name, known)}")


def see_help(name: str, known: Sequence[str]) -> str:
    """Return the advice for a name that no flag has: the most similar of the known names, if any is, and the help."""
    plain = _plain(name)
    longer = [each for each in known if each.endswith(f"_{plain}")]
    near = (
        [each for each in known if each == plain]
        or [each for each in flags_called(plain) if each in known]
        or (longer if "_" in plain or len(longer) == 1 else [])  # such as that of the training set
        or [each for each in known if plain.endswith(f"_{each}")]  # such as num_epochs
        or difflib.get_close_matches(plain, known, n=1, cutoff=NEARNESS)
        or [each for each in known if each.startswith(plain)]
    )
    return f"{f'did you mean --{near[0]}? See' if near else 'see'} --help"


def _plain(name: str) -> str:
    return name.lower().replace("-", "_")


def _spelling(row: Flag, name: str) -> Spelling:
    value = replace(row, name=name).value  # its errors have the name that was given
    if row.repeated:
        return Spelling(name, row, row.kind, lambda texts: value(",".join(texts)))
    return Spelling(name, row, row.kind, _as_it_is if row.kind is bool else value)


def _switch(row: Flag, alias: SwitchAlias) -> Spelling:
    return Spelling(alias.name, row, bool, lambda on: alias.on if on else alias.off)


def _as_it_is(value: Any) -> Any:
    return value
