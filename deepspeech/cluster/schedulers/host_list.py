"""Slurm's short forms of lists: "node[01-03,07],gpu1" for hosts, and "2(x3),1" for numbers."""

import re
from collections.abc import Iterator
from itertools import product

from .environment import Environment

_HOST = re.compile(r"((?:[^,\[\]]|\[[^\]]*\])+)(?:,|$)")
_BRACKETS = re.compile(r"\[([^\]]*)\]")
_RANGE = re.compile(r"(\d+)(?:-(\d+))?")
_NUMBER = re.compile(r"(\d+)(?:\(x(\d+)\))?")


def hosts_of(environment: Environment, name: str) -> list[str]:
    """Return the hosts that a variable lists; raise FlagError if it is missing or not such a list."""
    text = environment.text(name)
    if not re.fullmatch(rf"(?:{_HOST.pattern})+", text) or text.endswith(","):
        raise environment.error(f"{name}={text}: is not a list of hosts, such as node[01-03],gpu1")
    try:
        return [host for part in _HOST.findall(text) for host in _expanded(part)]
    except ValueError:
        raise environment.error(f"{name}={text}: is not a list of hosts, such as node[01-03],gpu1") from None


def numbers_of(environment: Environment, name: str) -> list[int]:
    """Return the numbers that a variable lists; raise FlagError if it is missing or not such a list."""
    text = environment.text(name)
    found = [_NUMBER.fullmatch(part) for part in text.split(",")]
    if not all(found):
        raise environment.error(f"{name}={text}: is not a list of numbers, such as 2(x3),1")
    return [int(each[1]) for each in found if each for _ in range(int(each[2] or 1))]


def _expanded(host: str) -> Iterator[str]:
    """Yield the hosts of a name with ranges in brackets; numbers keep their leading zeros."""
    texts = _BRACKETS.split(host)  # plain text and the contents of brackets, alternately
    choices = [list(_in_brackets(text)) if position % 2 else [text] for position, text in enumerate(texts)]
    yield from map("".join, product(*choices))


def _in_brackets(text: str) -> Iterator[str]:
    for part in text.split(","):
        found = _RANGE.fullmatch(part)
        if found is None:
            raise ValueError(part)
        first, last = found[1], found[2] or found[1]
        yield from (str(number).zfill(len(first)) for number in range(int(first), int(last) + 1))
