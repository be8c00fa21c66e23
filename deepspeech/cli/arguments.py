"""The common part of all commands: arguments whose errors are FlagErrors, and errors as one line and exit code 1."""

import argparse
import codecs
import json
import os
import select
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from pathlib import Path
from typing import Any, NoReturn

from .. import __version__
from ..commands import missing_package, open_closed_streams
from ..options import TranscriptOptions, check_values, flags_of, with_values
from ..options.rows.checks import Check
from ..util.errors import DeepSpeechError, FlagError, line_of
from ..util.files.quiet_mpg123 import without_mpg123s_lines
from ..util.files.user_paths import user_path
from ..util.files.writable import why_no_output_file, why_not_writable
from ..util.monitoring.log_lines import last_words, log_progress
from ..util.signals import Terminated, end_at_once_if_interrupted, interrupted_by_termination
from ..util.storage.addresses import address_of
from ..util.transcripts import Normalizer
from .command_line.spelling import see_help

NOT_HERE = "is an address; download it, and give a path of this machine"
"""What is wrong with an input at an address, for commands that do not fetch it."""

VERSION = f"DeepSpeech {__version__}"
"""The output of `--version` of every command."""

OUTPUT = "standard output"
"""What an error of standard output names in place of a file."""

ESCAPES = "deepspeech.escapes"
"""The name under which Python knows `_escaped`."""


class ArgumentParser(argparse.ArgumentParser):
    """An argument parser that raises FlagError, naming the argument, instead of printing its usage and exiting.

    The lines of `description`, which may be the docstring of the command's module, stay as they are. In an argument of
    type Path, a `~` at the beginning is the user's home folder. An empty text, which an unset shell variable causes, is
    refused, and so is an address: only lists of utterances, of the type `list_path`, may be at one.
    """

    def __init__(self, description: str | None, program: str | None = None) -> None:
        """`program` is the command's name in the help; the name of the running script if not given."""
        super().__init__(prog=program, description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
        self.register("type", Path, input_path)

    def error(self, message: str) -> NoReturn:
        """Raise FlagError with the message; for an unknown flag, with the most similar one."""
        _, unknown, given = message.partition("unrecognized arguments: ")
        names = [each[2:].partition("=")[0] for each in given.split() if each.startswith("--")]
        if not unknown or not names:
            raise FlagError(f"{message}; see --help")
        shown = [name for name, of in self._option_string_actions.items() if of.help != argparse.SUPPRESS]
        raise FlagError(f"{message}; {see_help(names[0], [name[2:] for name in shown if name.startswith('--')])}")


def add_replaced_flags(parser: argparse.ArgumentParser, instead: Mapping[str, str]) -> None:
    """Add flags of predecessors that are refused, and hidden in the help; the error says what to do `instead`."""

    class Refuse(argparse.Action):
        def __call__(self, *_: object) -> NoReturn:
            (name,) = self.option_strings
            raise FlagError(f"{name}: {instead[name]}")

    for name in instead:
        parser.add_argument(name, nargs="?", action=Refuse, help=argparse.SUPPRESS)


def add_version_flag(parser: argparse.ArgumentParser) -> None:
    """Add the flag that prints which version of the package is installed."""
    parser.add_argument("--version", action="version", version=VERSION, help="print the version and stop")


def output_path(text: str) -> Path:
    """Return the path of a command's output: the type of arguments that must name a place on this machine."""
    if (address := address_of(text)) is not None:
        raise argparse.ArgumentTypeError(f"{address} is an address; give a path of this machine, and upload the result")
    return list_path(text)


def input_path(text: str) -> Path:
    """Return the path of an input that must be on this machine: what arguments of the type Path become."""
    if (address := address_of(text)) is not None:
        raise argparse.ArgumentTypeError(f"{address} {NOT_HERE}")
    return list_path(text)


def list_path(text: str) -> Path:
    """Return the path of a list of utterances: the type of arguments that may also be an address."""
    if not text:
        raise argparse.ArgumentTypeError("the path is empty; give . for the current folder")
    return user_path(text)


def check_list_of_rows(path: Path, read: Iterable[Path]) -> None:
    """Raise FlagError for an output file of rows as `check_output_file` does."""
    check_output_file(f"{path}", path, read, "another file for the rows that are found")


def check_output_file(named: str, path: Path, read: Iterable[Path], instead: str = "another file") -> None:
    """Raise FlagError, which begins with `named`, for an output that cannot be written, or is one of those read."""
    if wrong := why_no_output_file(path, instead):
        raise FlagError(f"{named}: {wrong}")
    check_not_read(named, path, read, instead)


def check_not_read(named: str, path: Path, read: Iterable[Path], instead: str = "another file") -> None:
    """Raise FlagError, which begins with `named`, for an output that is one of the files to read."""
    if path.resolve() in {each.resolve() for each in read}:
        raise FlagError(f"{named}: is read here, and would be written over; name {instead}")


def check_output_folder(flag: str, folder: Path) -> None:
    """Raise FlagError for the folder of a flag if nothing can be written into it; it need not exist."""
    if wrong := why_not_writable(folder):
        raise FlagError(f"{flag}={folder}: {wrong}; name another folder")


def add_alphabet_flags(parser: argparse.ArgumentParser, of: str) -> None:
    """Add the flags for the alphabet `of` something, such as "of the acoustic model"; the program has the default."""
    from ..util.output_units import UNITS  # NumPy, which not every command needs
    from ..util.text import Alphabet

    parser.add_argument("--alphabet", type=Path, help=f"{of} (default: data/alphabet.txt)")
    parser.add_argument(
        "--output_unit",
        choices=tuple(UNITS),
        default=Alphabet.unit,
        help="what its labels stand for (default: %(default)s)",
    )


def add_transcript_flags(parser: argparse.ArgumentParser) -> None:
    """Add the trainer's flags for the normalization of transcripts."""
    for row in flags_of(TranscriptOptions):
        of_kind: dict[str, Any] = {"action": "store_const", "const": True} if row.kind is bool else {"type": row.kind}
        told = f"{row.help} (default: {row.default})" if row.default else row.help
        parser.add_argument(f"--{row.name}", help=told, **of_kind)


def chosen_normalizer(arguments: argparse.Namespace) -> Normalizer | None:
    """Return the normalizer of these flags; None if texts stay as they are. Raise FlagError for wrong values."""
    values = {row.name: getattr(arguments, row.name) for row in flags_of(TranscriptOptions)}
    given = {name: value for name, value in values.items() if value is not None}
    options = with_values(TranscriptOptions, given)
    check_values(options)
    options.check_given(given)
    return options.normalizer


def check_arguments(arguments: argparse.Namespace, checks: Mapping[str, Check]) -> None:
    """Raise FlagError for the first value that a check does not allow; `checks` are by the names of arguments.

    Of an argument with several values, each is checked.
    """
    for name, check in checks.items():
        given = getattr(arguments, name.replace("-", "_"))
        for value in given if isinstance(given, list) else [given]:
            if complaint := check.complaint(name, value):
                raise FlagError(complaint)


def run_command(command: Callable[[], int | None], program: str = "deepspeech", failure: int = 1) -> int:
    """Run a command and return its exit code: what it returns (None: 0), `failure` after an error, 130 if interrupted.

    An error is printed on stderr, after the name of the program and a colon. It is not an error if the reader of
    standard output has closed it, as `head` does. Characters that the encoding of standard output lacks, for example in
    names of files, are printed as escapes.
    """
    if isinstance(sys.stdout, TextIOWrapper) and sys.stdout.errors in ("strict", "surrogateescape"):
        codecs.register_error(ESCAPES, _escaped)
        sys.stdout.reconfigure(errors=ESCAPES)
    try:
        with without_mpg123s_lines():
            return _with_its_output(command)
    except DeepSpeechError as error:
        failed(error, program)
    except ModuleNotFoundError as error:
        failed(missing_package(error), program)
    except UnicodeEncodeError as error:
        if error.encoding in ("utf-8", "utf8"):
            raise
        lacking = f"{error.encoding}, the encoding of this locale, lacks characters of {error.object}"
        failed(f"{lacking}; set PYTHONUTF8=1, or LC_ALL=C.UTF-8", program)
    except MemoryError:
        failed("there is not enough memory", program)
    except OSError as error:
        closed = isinstance(error, BrokenPipeError) and _output_is_closed()
        if _drop_unwritten_output() and error.filename is None:
            error.filename = OUTPUT
        if closed:
            return 0
        failed(line_of(error), program)
    except Terminated as stop:
        with suppress(OSError):  # the terminal may be gone
            print(last_words("terminated", program), file=sys.stderr)
        return 128 + stop.number
    except KeyboardInterrupt:
        print(last_words("interrupted", program), file=sys.stderr)
        end_at_once_if_interrupted()
        return 128 + signal.SIGINT
    return failure


def run_tool(command: Callable[[], int | None], program: str) -> int:
    """Run a command like `run_command`, and show the progress of its work also where stderr is no terminal.

    SIGTERM and SIGHUP let it remove its unfinished files, as Ctrl-C does.
    """

    def stoppable() -> int | None:
        log_progress()
        with interrupted_by_termination():
            return command()

    return run_command(stoppable, program)


@contextmanager
def writing_output() -> Iterator[None]:
    """Let an OSError that names no file name standard output."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = OUTPUT
        raise


def run_script(script: Callable[[], None]) -> NoReturn:
    """Run a script like `run_tool`, with the name of its file before an error, and exit."""
    open_closed_streams()
    sys.exit(run_tool(script, f"{Path(sys.argv[0]).name}: error"))


def failed(error: DeepSpeechError | str, program: str = "deepspeech") -> int:
    """Print an error on stderr; return the exit code 1."""
    print(last_words(str(error), program), file=sys.stderr)
    return 1


def _drop_unwritten_output() -> bool:
    """Discard what standard output still holds if it cannot be written, as it would fail again; return whether so."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return True
    return False


def _output_is_closed() -> bool:
    """Return whether standard output is a pipe without a reader."""
    poll = select.poll()
    poll.register(sys.stdout, 0)
    return any(events & (select.POLLERR | select.POLLHUP) for _, events in poll.poll(0))


def _with_its_output(command: Callable[[], int | None]) -> int:
    """Run a command, and write what it printed; return its exit code."""
    try:
        code = command() or 0
    except SystemExit:  # argparse's, after its help
        with writing_output():
            sys.stdout.flush()
        raise
    with writing_output():
        sys.stdout.flush()
    return code


def _escaped(error: UnicodeError) -> tuple[str, int]:
    """Return JSON's escapes for characters that cannot be encoded, so that JSON keeps its meaning."""
    assert isinstance(error, UnicodeEncodeError)
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end
