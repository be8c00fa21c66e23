"""The command line: the flags of a dataclass of options, defined, read and checked (see `options.rows.flag`)."""

import textwrap
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from ..errors import FlagError
from ..options import Flag, LogOptions, Options, check_values, flags_of, with_values
from ..util.augmentation.registry import KINDS
from .arguments import VERSION
from .combinations.flags import check_options
from .combinations.places import placed
from .command_line.flag_files import without_flag_files
from .command_line.predecessors import define_foreign_flags, ignored_flags
from .command_line.spelling import Spelling, given_values, spellings, unknown_flag
from .experiments.base_options import asks_for_list, base_options, list_experiments

T = TypeVar("T")

USAGE = "Train, test and run a speech recognizer: python -m deepspeech --train_files train.csv [flags]"

TEXTS = {"h", "help", "helpfull", "version"}
"""The flags that only print a text. They are looked for before the others are read, which needs absl of `train`."""

MORE = (
    "--version prints the version, and --flagfile=FILE reads flags from a file, one per line.",
    "Other flags of DeepSpeech 0.9 and Coqui STT: see docs/migration.md, or give one to read what replaces it.",
)
"""What the help says after the flags."""


@dataclass(frozen=True)
class CommandLine(Generic[T]):
    """The options of a command line, and the names of the flags that were given.

    `ignored` are given flags of predecessors that have no effect and belong to no option.
    """

    options: T
    given: Collection[str]
    ignored: tuple[str, ...] = ()


def parse(arguments: Sequence[str], prepare_log: Callable[[LogOptions], None] = lambda _: None) -> Options | None:
    """Return the options of the trainer's arguments (without the program's name); None if they ask for a text.

    That text is the help, the version or the list of experiments, which is printed.

    `prepare_log` is called with the options of the log before an experiment reads recordings, which can take long.
    Flags that are not given have the values of the experiment, or of the `params.txt`, that the arguments name.
    Raise FlagError, in one line that names the flag, for an unknown flag, a value that cannot be used or a
    combination of flags that cannot be used. Write no file.
    """
    read = read_command_line(arguments, Options(), USAGE)
    if read is None:
        return None
    if asks_for_list(read.options.experiment):
        print(list_experiments())
        return None
    prepare_log(read.options.logs)
    base = base_options(read.options, read.given)
    if base is not None:
        named = base.experiment.name
        read = read_command_line(arguments, base, USAGE)
        assert read is not None
        read = replace(read, options=with_values(read.options, {"experiment": named}))
    options = placed(with_values(read.options, {"ignored_flags": read.ignored}), read.given)
    check_options(options, read.given)
    return replace(options, front_end=options.front_end.filled_in)


def read_command_line(arguments: Sequence[str], options: T, usage: str) -> CommandLine[T] | None:
    """Return the options with the values of the flags that the arguments give; None if help or the version was printed.

    `usage` is the first line of the help. Raise FlagError, in one line that names the flag, for an unknown flag or a
    value that its check does not allow. The caller checks combinations of flags.
    """
    asked = TEXTS.intersection(each.lstrip("-") for each in arguments if each.startswith("-"))
    if asked:
        print(VERSION if "version" in asked else help_text(type(options), usage))
        return None
    names = list(spellings([row for row in flags_of(type(options)) if row.on_command_line]))
    values = _defined(names)
    positional = _parsed(values, arguments, names)

    def given_value(name: str) -> Any:
        return values[name].value if values[name].present else None

    ignored = ignored_flags(given_value, {each.name for each in names})
    if positional:
        raise _unexpected(positional[0])
    given = given_values(names, given_value)
    implied = {row.name: True for row in flags_of(type(options)) if not given.keys().isdisjoint(row.given_by)}
    filled = with_values(options, {**given, **implied})
    check_values(filled)
    return CommandLine(filled, given.keys(), ignored)


def help_text(options_class: type[Any], usage: str) -> str:
    """Return every flag with its default and its help text, in groups."""
    parts = [usage]
    for title, rows in groups(options_class):
        parts.append(f"\n{title}:")
        for row in rows:
            shown = f"--[no]{row.name}" if row.kind is bool else f"--{row.name}"
            default = f" ({row.default_text})" if row.default_text else ""
            parts.append("  " + ", ".join((shown + default, *(f"--{name}" for name in row.alias_names))))
            parts.append(textwrap.fill(row.help, 110, initial_indent=" " * 6, subsequent_indent=" " * 6))
    return "\n".join((*parts, "", *(textwrap.fill(line, 110) for line in MORE)))


def markdown_tables(options_class: type[Any]) -> str:
    """Return the flags with their defaults and help texts as the tables of the README."""
    return "\n".join(_markdown(options_class)) + "\n"


def groups(options_class: type[Any]) -> list[tuple[str, list[Flag]]]:
    """Return the flags of the command line by the titles of their groups, in the order in which these first appear."""
    by_title: dict[str, list[Flag]] = {}
    for row in flags_of(options_class):
        if row.on_command_line:
            by_title.setdefault(row.title, []).append(row)
    return list(by_title.items())


def _markdown(options_class: type[Any]) -> Iterator[str]:
    for number, (title, rows) in enumerate(groups(options_class)):
        yield from [""] * bool(number)
        yield from (f"**{title}**", "", "| flag | default | meaning |", "| --- | --- | --- |")
        for row in rows:
            default = f"`{row.default_text}`" if row.default_text else ""
            meaning = row.help.replace("|", "\\|")
            names = ", ".join(f"`{name}`" for name in (row.name, *row.alias_names))
            yield f"| {names} | {default} | {meaning} |"


def _defined(names: Sequence[Spelling]) -> Any:
    from absl import flags as absl_flags

    values: Any = absl_flags.FlagValues()
    for name in names:
        of_text = absl_flags.DEFINE_multi_string if name.row.repeated else absl_flags.DEFINE_string
        define: Any = absl_flags.DEFINE_bool if name.kind is bool else of_text
        define(name.name, None, name.row.help, flag_values=values)
    define_foreign_flags(values, {name.name for name in names})
    return values


def _parsed(values: Any, arguments: Sequence[str], names: Sequence[Spelling]) -> list[str]:
    """Return the arguments that are not flags."""
    from absl import flags as absl_flags

    try:
        return list(values(["deepspeech", *without_flag_files(arguments)])[1:])
    except absl_flags.UnrecognizedFlagError as error:
        raise unknown_flag(error.flagname, names) from error
    except absl_flags.IllegalFlagValueError as error:  # of a switch only: the texts of other flags are read later
        given = " ".join(str(error).removeprefix("flag ").split()).partition(": ")[0]
        raise FlagError(f"{given}: must be true or false; switches are --flag and --noflag") from error
    except (absl_flags.Error, ValueError) as error:
        raise FlagError(" ".join(str(error).removeprefix("ERROR:: ").split())) from error


def _unexpected(argument: str) -> FlagError:
    if argument.lower() in ("true", "false"):
        return FlagError(f"unexpected argument {argument!r}; switches are --flag and --noflag, or --flag={argument}")
    if argument.partition("[")[0] in KINDS:
        return FlagError(f"unexpected argument {argument!r}; give --augment once for each augmentation")
    return FlagError(
        f"unexpected argument {argument!r}; every argument is a flag, and several files are separated by commas; "
        "see --help"
    )
