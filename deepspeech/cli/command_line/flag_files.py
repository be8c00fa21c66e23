"""Files of flags, which `--flagfile` names."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from ...errors import FlagError
from ...util.files.user_paths import user_path

FLAG = "flagfile"


def without_flag_files(arguments: Sequence[str]) -> list[str]:
    """Return the arguments with the flags of its file in place of each `--flagfile`.

    A file has one flag per line; lines that are empty or begin with `#` or `//` are ignored. An empty name stands for
    no file. Raise FlagError for a file that cannot be read or names itself, and for a line that is not a flag.
    """
    return list(_expanded(arguments))


def _expanded(arguments: Sequence[str]) -> Iterator[str]:
    rest = iter(arguments)
    for argument in rest:
        name, equals, value = argument.partition("=")
        if argument == "--":
            yield argument
            yield from rest
        elif name not in (f"--{FLAG}", f"-{FLAG}"):
            yield argument
        else:
            file = value if equals else next(rest, None)
            if file is None:
                raise FlagError(f"--{FLAG}: must name a file")
            yield from _flags_of(file, ())


def _flags_of(file: str, within: Sequence[Path]) -> Iterator[str]:
    if not file:
        return
    path = user_path(file)
    if path in within:
        raise FlagError(f"--{FLAG}={path}: the file names itself")
    for place, line in _lines(path):
        name, _, value = line.partition("=")
        if not name.startswith("-") or len(name.split()) > 1:
            told = "write one flag per line, with = before its value: --epochs=10"
            raise FlagError(f"{place}: {line!r} is not a flag; {told}")
        if name.lstrip("-") == FLAG:
            yield from _flags_of(value, (*within, path))
        else:
            yield line


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the lines for flags, each after its place."""
    try:
        text = path.read_text("utf-8-sig", "surrogateescape")  # as on a command line, paths may be any bytes
    except OSError as error:
        raise FlagError(f"--{FLAG}={path}: cannot be read ({error.strerror})") from error
    if "\0" in text:  # UTF-16, which PowerShell writes, is full of them
        raise FlagError(f"--{FLAG}={path}: holds null characters; save it as UTF-8 text")
    for number, line in enumerate(text.split("\n"), start=1):
        flag = line.strip()
        if flag and not flag.startswith(("#", "//")):
            yield f"{path}:{number}", flag
