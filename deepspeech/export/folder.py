"""The folder of an exported model: the files that it may hold, and the writing of an export. Needs no TensorFlow."""

import logging
from collections.abc import Collection, Mapping
from pathlib import Path

from ..errors import ExportError
from ..options.export import GRAPH
from ..util.files.whole_files import encoded, folder_written_whole, unfinished_name, write_all_whole
from ..util.files.writable import why_not_writable
from ..util.storage.copies import named_for_all
from .formats import FORMATS

logger = logging.getLogger(__name__)

GRAPH_FILE = FORMATS[GRAPH].file
CARD_FILE = "model.md"

MODEL_FILES = {each.file for each in FORMATS.values()}
_OTHERS = {name for each in FORMATS.values() for name in each.others}
EXPORTED_FILES = {*MODEL_FILES, *_OTHERS, CARD_FILE, "output_graph.pbmm", "alphabet.txt"}
"""The files that an export may hold; a folder with any other file is not deleted."""


def check_folder(folder: Path, *, remove: bool) -> None:
    """Raise ExportError unless an export can be written to the folder, in place of its content with `remove`.

    Write nothing.
    """
    if remove and folder.exists():
        _check_removable(folder)
    reason = why_not_writable(folder)
    if reason:
        raise ExportError(f"--export_dir={folder}: {reason}; name another one")


def write_export(
    folder: Path, model: Mapping[str, bytes], card: str, *, remove: bool, others: Collection[str] = ()
) -> None:
    """Write an export, the files of a model by name.

    Either all files are written, or none. Then remove older files with the names `others`, which a model of the format
    may have and this one lacks; with `remove`, all files of an older export. The folder itself stays: it may be the
    current one, or a mounted one. Raise ExportError if the export cannot be written.
    """
    check_folder(folder, remove=remove)
    files = {CARD_FILE: encoded(card), **model}
    try:
        if folder.exists():
            write_all_whole(folder, files)
        else:
            with folder_written_whole(folder) as new:
                write_all_whole(new, files)
    except OSError as error:
        which = f"{Path(error.filename).name}: " if error.filename else ""
        raise ExportError(
            f"--export_dir={folder}: cannot be written ({which}{error.strerror}); nothing was changed"
        ) from error
    older = {path.name for path in folder.iterdir() if _is_of_export(path.name)} if remove else {*others}
    for name in sorted(older - {*files}):
        _remove_older(folder / name)


def check_files(folder: Path, names: Collection[str]) -> None:
    """Raise ExportError unless all files of a folder, by their `names`, belong to an export, or there are none.

    Files that a killed export left belong to it.
    """
    named, foreign = named_for_all(folder), sorted(name for name in names if not _is_of_export(name))
    if foreign:
        raise ExportError(
            f"--remove_export: {named} is not an export: it also holds {foreign[0]!r}; "
            "remove it yourself, or name another --export_dir"
        )
    names = {name for name in names if not unfinished_name(name)}
    if names and not names & MODEL_FILES:
        raise ExportError(
            f"--remove_export: {named} is not an export: there is no {GRAPH_FILE} in it; remove it yourself"
        )


def _check_removable(folder: Path) -> None:
    if not folder.is_dir():
        raise ExportError(f"--remove_export: {folder} is not a folder; name another --export_dir")
    paths = list(folder.iterdir())
    check_files(folder, {path.name for path in paths})
    for path in paths:
        if path.is_symlink() or not path.is_file():
            raise ExportError(
                f"--remove_export: {folder} is not an export: {path.name!r} in it is a link or a folder; "
                "remove it yourself, or name another --export_dir"
            )


def _is_of_export(name: str) -> bool:
    return (unfinished_name(name) or name) in EXPORTED_FILES


def _remove_older(path: Path) -> None:
    try:
        path.unlink()
        logger.info("%s: removed, as it belongs to an older export, and this model has no such file", path)
    except FileNotFoundError:
        return
    except OSError as error:
        logger.warning("%s: belongs to an older export, and cannot be removed (%s)", path, error.strerror)
