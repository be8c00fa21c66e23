"""A mark in the newest checkpoint that its run is complete, including test and export."""

import logging
from pathlib import Path

from ..errors import CheckpointError
from .folder import Kind, read_index
from .identity import read_description, write_description
from .integrity import redigested
from .lock import locked_for_training

logger = logging.getLogger(__name__)


def record_end_of_run(folder: Path) -> None:
    """Record in the newest checkpoint of a folder that its run has ended, so that `--epoch=-N` continues from there.

    If this cannot be written, or another run now trains in the folder, log it.
    """
    prefix = read_index(folder, Kind.NEWEST).named
    try:
        description = None if prefix is None else read_description(prefix)
        state = (description or {}).get("state", {})
        if prefix is None or description is None or state.get("run_ended", True):
            return
        ended = redigested({**description, "state": {**state, "run_ended": True}})
        with locked_for_training(folder):
            write_description(prefix, ended)
    except (CheckpointError, OSError) as error:
        logger.warning("%s: the end of this run cannot be recorded (%s)", folder, error)
