"""A check that the files of a checkpoint are intact: by digests in its description, or else by reading them."""

import hashlib
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import CheckpointError
from .folder_reading import index_path
from .identity import DESCRIPTION_FORMAT, description_path, read_description, write_description
from .sources import READING_ERRORS, open_checkpoint

FILES = "files"
"""Holds the SHA-256 digests of the checkpoint's other files, by the suffixes of their names."""

DIGEST = "digest"
"""Holds the SHA-256 digest of the description's progress and files; the rest is compared with the model."""

UNFINISHED = "unfinished"
"""Is true while the other files are being written: each may be the old or the new one."""

_BLOCK = 1 << 20


def unfinished(description: Mapping[str, Any]) -> dict[str, Any]:
    """Return the description to write before the other files of a checkpoint."""
    return {**description, UNFINISHED: True}


def begin_writing(prefix: Path, description: Mapping[str, Any], *, was_there: bool) -> None:
    """Mark a checkpoint as being written; if it was there before, it keeps its description until the write is complete.

    Raise OSError.
    """
    if was_there:
        try:
            description = read_description(prefix) or description
        except CheckpointError:  # a damaged one must not look intact
            return
    write_description(prefix, unfinished(description))


def finished(description: Mapping[str, Any], prefix: Path) -> dict[str, Any]:
    """Return the description with digests of itself and of the files at `prefix`, which are synced to the disk.

    Raise OSError.
    """
    paths = [index_path(prefix), *_data_files(prefix)]
    digests = {path.name[len(prefix.name) :]: _file_digest(path, synchronize=True) for path in paths}
    described = {**description, FILES: digests}
    return {**described, DIGEST: _digest_of_progress(described)}


def redigested(description: Mapping[str, Any]) -> dict[str, Any]:
    """Return a description whose progress was changed, with a new digest."""
    return {**description, DIGEST: _digest_of_progress(description)} if DIGEST in description else dict(description)


def is_unfinished(prefix: Path) -> bool:
    """Return whether a checkpoint has no index file because its first save is not complete."""
    if index_path(prefix).exists():
        return False
    try:
        return json.loads(description_path(prefix).read_text(encoding="utf-8")).get(UNFINISHED) is True
    except (OSError, ValueError, AttributeError):
        return False


def step_of(prefix: Path) -> int | None:
    """Return the step in the name of a checkpoint, NAME-STEP, if it has one."""
    match = re.fullmatch(r".*-(\d+)", prefix.name)
    return int(match[1]) if match else None


def damage(prefix: Path) -> str:
    """Return what is wrong with a file of a checkpoint, with its name; empty if all are intact.

    A description of a newer format counts as intact: the error comes when the checkpoint is restored.
    """
    path = description_path(prefix)
    try:
        description = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return _damage_by_reading(prefix)
    except (OSError, ValueError):
        return f"{path.name} is damaged"
    if not isinstance(description, dict) or not isinstance(description.get("format"), int):
        return f"{path.name} is damaged"
    if description["format"] > DESCRIPTION_FORMAT:
        return ""
    if DIGEST in description and description[DIGEST] != _digest_of_progress(description):
        return f"{path.name} is damaged"
    if step_of(prefix) not in (None, description.get("global_step")):
        return f"{path.name} is of step {description.get('global_step')}"
    files = None if description.get(UNFINISHED) else description.get(FILES)
    return _damage_by_digest(prefix, files) if isinstance(files, dict) else _damage_by_reading(prefix)


def _damage_by_digest(prefix: Path, digests: Mapping[str, str]) -> str:
    for suffix, digest in digests.items():
        path = prefix.with_name(prefix.name + suffix)
        try:
            if _file_digest(path) != digest:
                return f"{path.name} is damaged"
        except FileNotFoundError:
            return f"{path.name} is missing"
        except OSError as error:
            return f"{path.name} cannot be read ({error.strerror})"
    return ""


def _damage_by_reading(prefix: Path) -> str:
    """Read all variables with TensorFlow, which verifies its own checksums."""
    index, data = index_path(prefix), _data_files(prefix)
    if not index.exists():
        return f"{index.name} is missing"
    if not data:
        return f"{prefix.name}.data-00000-of-00001 is missing"
    try:
        reader = open_checkpoint(prefix)
        names = list(reader.get_variable_to_shape_map())
    except READING_ERRORS:
        return f"{index.name} is damaged"
    try:
        for name in names:
            reader.get_tensor(name)
    except READING_ERRORS:
        return f"{data[0].name} is damaged"
    return ""


def _data_files(prefix: Path) -> list[Path]:
    return sorted(prefix.parent.glob(prefix.name + ".data-*-of-?????"))


def _file_digest(path: Path, *, synchronize: bool = False) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
        if synchronize:
            os.fsync(file.fileno())
    return digest.hexdigest()


def _digest_of_progress(description: Mapping[str, Any]) -> str:
    covered = {name: description.get(name) for name in ("global_step", "state", FILES)}
    return hashlib.sha256(json.dumps(covered, sort_keys=True).encode()).hexdigest()
