"""Flags as fields: a field of a frozen dataclass defines a flag's name, default, help text, check and option.

    @dataclass(frozen=True)
    class OptimizerOptions:
        title: ClassVar[str] = "Training"
        learning_rate: float = flag(0.001, "Adam's learning rate", check=more_than(0))

The flag's name is that of the field, unless `name` gives another one. Its type is that of the field: str, int, float,
bool, `Path | None` (an empty text is None), `tuple[Path, ...]` or `tuple[str, ...]` (separated by commas; `\\,` is a
comma inside an item). `title` is the group of the flags on the help page. A field whose type is such a dataclass
includes the flags of that dataclass; other fields have no flags. Fields hold only the values of flags, so that
`values_of` returns values that can be written to a file and read back by `with_values`; derived values are properties.

`aliases` are other names of the same flag on the command line, such as those of DeepSpeech 0.9. A `~` at the beginning
of a path is the user's home folder.
"""

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar, get_type_hints, overload

from ...util.errors import FlagError
from .checks import Check
from .values import Value, value_of_text, value_of_type, with_commas_inside

Words = tuple[tuple[str, str], ...]
T = TypeVar("T")

_ROW, _WORDS = "flag", "words"


@dataclass(frozen=True)
class SwitchAlias:
    """Another name of a flag: a switch that means the value `on` if it is true, and `off` if it is false."""

    name: str
    on: Value
    off: Value


Alias = str | SwitchAlias


@dataclass(frozen=True)
class Flag:
    """A row: the definition of a flag."""

    name: str
    default: Value
    kind: Any
    """Its type, as the field is annotated."""
    help: str
    check: Check | None = None
    title: str = ""
    """Its group on the help page."""
    decides_result: bool = True
    """Whether the result of a run depends on it, not only its place, its speed and its output."""
    given_by: tuple[str, ...] = ()
    """The flags that make this row true if one of them is given."""
    on_command_line: bool = True
    """Whether it can be given on the command line."""
    aliases: tuple[Alias, ...] = ()
    """Other names by which it can be given."""
    repeated: bool = False
    """Whether it can be given several times, for several values; commas in brackets do not separate values."""

    @property
    def default_text(self) -> str:
        """The default as a user would write it; empty for None."""
        return self.text(self.default)

    @property
    def alias_names(self) -> tuple[str, ...]:
        """The other names by which it can be given."""
        return tuple(alias if isinstance(alias, str) else alias.name for alias in self.aliases)

    def text(self, value: Value) -> str:
        """Return a value as a user would write it; empty for None."""
        if isinstance(value, tuple):
            return ",".join(map(str, value) if self.repeated else map(with_commas_inside, value))
        return "" if value is None else str(value)

    def value(self, text: str) -> Value:
        """Return the value of a text; raise FlagError if it is not of the flag's type."""
        return value_of_text(self.name, self.kind, text, repeated=self.repeated)

    def taken(self, value: Any) -> Value:
        """Return a value that Python code gives, converted to the flag's type; texts are read as on the command line.

        Raise FlagError, in one line that names the flag, for a value of another type.
        """
        return self.value(value) if isinstance(value, str) else value_of_type(self.name, self.kind, value)


def flag(
    default: Value,
    help: str,  # noqa: A002 - the word of absl and argparse
    *,
    name: str = "",
    check: Check | None = None,
    title: str = "",
    decides_result: bool = True,
    on_command_line: bool = True,
    aliases: tuple[Alias, ...] = (),
    repeated: bool = False,
) -> Any:
    """Return the field that a flag fills; `{words}` in its name, aliases and help are those of `flags_with`.

    An alias that becomes an empty text is left out.
    """
    row = Flag(
        name,
        default,
        None,
        help,
        check=check,
        title=title,
        decides_result=decides_result,
        on_command_line=on_command_line,
        aliases=aliases,
        repeated=repeated,
    )
    return field(default=default, metadata={_ROW: row})


def whether_given(*names: str, name: str, decides_result: bool = True) -> Any:
    """Return the field that becomes true when one of the flags `names` is given; `name` is its own in `values_of`."""
    row = Flag(
        name,
        False,
        bool,
        f"whether {' or '.join(names)} was given",
        decides_result=decides_result,
        given_by=names,
        on_command_line=False,
    )
    return field(default=False, metadata={_ROW: row})


def flags_with(options_class: type[Any], **words: str) -> Any:
    """Return the field that holds another dataclass of flags, whose names and help texts use these words."""
    return field(default_factory=options_class, metadata={_WORDS: tuple(words.items())})


def flags_of(options_class: type[Any]) -> Iterator[Flag]:
    """Yield every row of a dataclass and of those inside it, in the order of their fields."""
    return _flags(options_class, ())


def items_of(options: Any) -> Iterator[tuple[Flag, Value]]:
    """Yield every row and its value, in the same order."""
    return _items(options, ())


def values_of(options: Any) -> dict[str, Value]:
    """Return the value of every row by its name."""
    return {row.name: value for row, value in items_of(options)}


@overload
def with_values(options: type[T], values: Mapping[str, Value]) -> T: ...


@overload
def with_values(options: T, values: Mapping[str, Value]) -> T: ...


def with_values(options: Any, values: Mapping[str, Value]) -> Any:
    """Return the options, or the defaults of a class of options, with other values of some flags.

    Raise FlagError for a name that no flag has, and for a value of another type than the flag's.
    """
    base = options() if isinstance(options, type) else options
    known = {row.name for row in flags_of(type(base))}
    for name in values:
        if name not in known:
            raise FlagError(f"--{name}: there is no such flag; see --help")
    return _changed(base, values, ())


def check_values(options: Any) -> None:
    """Raise FlagError, in one line that names the flag, for the first value that its check does not allow."""
    for row, value in items_of(options):
        complaint = row.check.complaint(row.name, value) if row.check else ""
        if complaint:
            raise FlagError(complaint)


@dataclass(frozen=True)
class _Member:
    """A field that is a flag (`row`), or holds a dataclass (`inside`) whose rows use `words`."""

    field: str
    row: Flag | None = None
    inside: type[Any] = object
    words: Words = ()


def _members(options_class: type[Any], words: Words) -> tuple[_Member, ...]:
    types = get_type_hints(options_class)
    members = []
    for each in dataclasses.fields(options_class):
        kind = types[each.name]
        if _ROW in each.metadata:
            row = _row(each, kind, getattr(options_class, "title", ""), words)
            members.append(_Member(each.name, row))
        elif dataclasses.is_dataclass(kind) and isinstance(kind, type):
            members.append(_Member(each.name, inside=kind, words=each.metadata.get(_WORDS, ())))
    return tuple(members)


def _row(each: "dataclasses.Field[Any]", kind: Any, title: str, words: Words) -> Flag:
    row: Flag = each.metadata[_ROW]
    name, text, aliases = row.name or each.name, row.help, row.aliases
    if words:
        name, text = name.format(**dict(words)), text.format(**dict(words))
        formatted = (alias.format(**dict(words)) if isinstance(alias, str) else alias for alias in aliases)
        aliases = tuple(alias for alias in formatted if alias)
    return dataclasses.replace(row, name=name, help=text, kind=kind, title=row.title or title, aliases=aliases)


def _flags(options_class: type[Any], words: Words) -> Iterator[Flag]:
    for member in _members(options_class, words):
        if member.row:
            yield member.row
        else:
            yield from _flags(member.inside, member.words)


def _items(options: Any, words: Words) -> Iterator[tuple[Flag, Value]]:
    for member in _members(type(options), words):
        value = getattr(options, member.field)
        if member.row:
            yield member.row, value
        else:
            yield from _items(value, member.words)


def _changed(options: Any, values: Mapping[str, Value], words: Words) -> Any:
    changes = {}
    for member in _members(type(options), words):
        if member.row is None:
            changes[member.field] = _changed(getattr(options, member.field), values, member.words)
        elif member.row.name in values:
            changes[member.field] = member.row.taken(values[member.row.name])
    return dataclasses.replace(options, **changes)
