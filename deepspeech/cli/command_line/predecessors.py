"""The flags of predecessors on the command line; `options.rows.predecessors` has their messages."""

from collections.abc import Callable, Collection
from typing import Any

from ...errors import FlagError
from ...options.rows.predecessors import FOREIGN_FLAGS


def define_foreign_flags(values: Any, taken: Collection[str]) -> None:
    """Define the flags of predecessors, except for names that are taken, so that their values can be read."""
    from absl import flags as absl_flags

    for name, foreign in FOREIGN_FLAGS.items():
        if name not in taken:
            define: Any = absl_flags.DEFINE_bool if foreign.switch else absl_flags.DEFINE_string
            define(name, None, foreign.answer, flag_values=values)


def ignored_flags(given: Callable[[str], Any], taken: Collection[str]) -> tuple[str, ...]:
    """Return the flags of predecessors that were given and have no effect; `given` returns None for the others.

    Raise FlagError, which says what replaces it, for the first that asks for something that does not exist.
    """
    ignored = []
    for name, foreign in FOREIGN_FLAGS.items():
        said = None if name in taken else given(name)
        if said is None or str(said) in foreign.same:
            continue
        if not foreign.ignored:
            raise FlagError(f"--{name}: {foreign.answer}")
        ignored.append(name)
    return tuple(ignored)
