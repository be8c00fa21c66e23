"""Damage to files of a folder of checkpoints, and what of it is whole, found without the program's own code."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any


def truncate(path: Path, chance: random.Random) -> None:
    path.write_bytes(path.read_bytes()[: chance.randrange(path.stat().st_size or 1)])


def fill_with_zeros(path: Path, _chance: random.Random) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def delete(path: Path, _chance: random.Random) -> None:
    path.unlink()


def flip_bits(path: Path, chance: random.Random) -> None:
    content = bytearray(path.read_bytes())
    for _ in range(chance.randint(1, 8) if content else 0):
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    path.write_bytes(content)


DAMAGES: tuple[Callable[[Path, random.Random], None], ...] = (truncate, fill_with_zeros, delete, flip_bits)


def damage_a_file(folder: Path, chance: random.Random) -> tuple[str, Path] | None:
    """Damage a file of the folder at random; return the kind of damage and the file, or None if there are no files."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    if not files:
        return None
    path, kind = chance.choice(files), chance.choice(DAMAGES)
    kind(path, chance)
    return kind.__name__, path


def intact(folder: Path, prefix: str) -> dict[int, dict[str, Any]]:
    """Return the descriptions of checkpoints, by their step, whose files have the digests that are described."""
    found = {}
    for path in folder.glob(f"{prefix}-*.json"):
        try:
            description = json.loads(path.read_bytes())
            files = description["files"]
            whole = all(_digest(path.with_name(path.stem + suffix)) == files[suffix] for suffix in files)
            if whole and ".index" in files:
                found[int(path.stem.split("-")[1])] = description
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return found


def best_loss(folder: Path) -> float:
    """Return the validation loss of the best checkpoint that is whole; infinite if there is none."""
    losses = (description["state"]["dev_losses"] for description in intact(folder, "best_dev").values())
    return min((of_one[-1] for of_one in losses), default=float("inf"))


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
