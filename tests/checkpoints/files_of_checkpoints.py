"""Harm that comes to files of checkpoints."""

from pathlib import Path


def remove(path: Path) -> None:
    path.unlink()


def empty(path: Path) -> None:
    path.write_bytes(b"")


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def fill_with_zeros(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def flip_a_bit(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def change_the_epoch(path: Path) -> None:
    path.write_text(path.read_text().replace('"epoch": 2', '"epoch": 3'))


def garbage(path: Path) -> None:
    path.write_bytes(bytes(range(256)) * 8)


DAMAGES = (remove, empty, truncate, fill_with_zeros, garbage)
