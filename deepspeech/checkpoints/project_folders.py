"""The default folders of runs: a project in XDG's data folder for each experiment or corpus."""

import hashlib
import logging
import re
from pathlib import Path

from ..errors import FlagError
from ..options import Options, with_values
from ..util.files.user_folders import data_folder
from .folder_reading import holds_checkpoints

logger = logging.getLogger(__name__)

CHECKPOINTS, SUMMARIES = "checkpoints", "summaries"

_LONGEST_NAME = 60
_DIGEST_DIGITS = 8


def in_project_folders(options: Options) -> Options:
    """Return the options with folders of checkpoints and summaries; by default those of the project.

    A run without a training set uses the only project that has checkpoints. Earlier versions stored all checkpoints in
    one folder: if it has some and the project has none, the run continues there. Log the folder. Raise FlagError if
    there is no project, or if there are several, which it lists.
    """
    project = _project_of(options)
    if _needs_folder(options):
        project = _with_checkpoints(project)
        options = with_values(options, {"checkpoint_dir": project / CHECKPOINTS})
    if options.summaries.given_directory is None and project is not None:
        options = with_values(options, {"summary_dir": project / SUMMARIES})
    return options


def _needs_folder(options: Options) -> bool:
    """Return whether this process uses a folder of checkpoints that no flag names."""
    folders = options.checkpoints
    given = folders.given_directory or folders.given_save_directory
    return options.leads and given is None and (options.trains or folders.given_load_directory is None)


def _project_of(options: Options) -> Path | None:
    """Return the folder of the experiment, or else of the training set, identified by its first CSV file."""
    name = options.experiment.name
    if name:
        file, colon, inside = name.rpartition(":")
        return _project(inside, f"{Path(file).resolve()}:{inside}" if colon else name)
    if options.train.files:
        path = options.train.files[0].resolve()
        return _project(f"{path.parent.name}-{path.stem}", str(path))
    return None


def _project(name: str, identity: str) -> Path:
    digest = hashlib.sha256(identity.encode("utf-8", "surrogateescape")).hexdigest()[:_DIGEST_DIGITS]
    readable = re.sub(r"[^\w.-]+", "-", name)[:_LONGEST_NAME].strip(".-")
    return _projects() / f"{readable}-{digest}"


def _projects() -> Path:
    return data_folder() / "projects"


def _with_checkpoints(project: Path | None) -> Path:
    of_all = data_folder()  # of earlier versions
    if project is not None:
        if not _has_checkpoints(of_all) or _has_checkpoints(project):
            logger.info("Checkpoints are kept in %s (--checkpoint_dir)", project / CHECKPOINTS)
            return project
        logger.warning(
            "--checkpoint_dir: not given; continuing in %s, where an earlier version stored the checkpoints of all "
            "projects; if they are of this project, move them to %s, else to another place",
            of_all / CHECKPOINTS,
            project / CHECKPOINTS,
        )
        return of_all
    found = [folder for folder in (of_all, *sorted(_projects().glob("*"))) if _has_checkpoints(folder)]
    if not found:
        raise FlagError(
            f"--checkpoint_dir: needed, as {_projects()} holds no checkpoints; give the folder of the model"
        )
    if len(found) > 1:
        listed = ", ".join(str(folder / CHECKPOINTS) for folder in found)
        raise FlagError(f"--checkpoint_dir: needed, as there are several; give one of {listed}")
    logger.info("--checkpoint_dir: not given; the only checkpoints are those in %s", found[0] / CHECKPOINTS)
    return found[0]


def _has_checkpoints(project: Path) -> bool:
    return holds_checkpoints(project / CHECKPOINTS)
