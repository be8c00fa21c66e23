"""Checkpoints and summaries: where they are written, and how often."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from ..util.files.user_folders import data_folder
from .rows.checks import Check, at_least
from .rows.flag import flag, whether_given

CHECKPOINTS = "Checkpoints, logs and summaries"

AUTOMATIC, BEST, LAST = "auto", "best", "last"
"""The values of `--checkpoint` besides a checkpoint's name."""


class CheckpointNameCheck(Check):
    """A checkpoint's name, without folder and extension."""

    def complaint(self, name: str, value: Any) -> str:
        """Return what is wrong with the name, and the flags of its folder."""
        if value and Path(value).name == value:
            return ""
        return (
            f"--{name}={value}: must be {BEST}, {LAST}, {AUTOMATIC} or a checkpoint's name, such as train-1200; its "
            "folder is --load_checkpoint_dir or --checkpoint_dir"
        )


@dataclass(frozen=True)
class CheckpointOptions:
    """Where checkpoints are kept, how often one is written (seconds, 0: only at the end) and how many stay.

    Training continues from the newest checkpoint in `directory`. If there is none, it starts from the checkpoint that
    `wanted` names in `load_directory`, if that is another folder, or from the weights of `initial_graph` or
    `initial_weights`, if given.

    With `fresh_optimizer`, `drop_source_layers` or `map_labels`, it takes only the weights of that checkpoint, without
    those of the dropped last layers, and of labels that only one of the two alphabets has.
    """

    title: ClassVar[str] = CHECKPOINTS
    given_directory: Path | None = flag(
        None,
        "folder of the checkpoints; default: one per experiment or corpus in deepspeech/projects in XDG's data folder",
        name="checkpoint_dir",
        decides_result=False,
    )
    given_load_directory: Path | None = flag(
        None,
        "folder of the checkpoint to start from, or to test, transcribe and export with; default: checkpoint_dir",
        name="load_checkpoint_dir",
    )
    given_save_directory: Path | None = flag(
        None,
        "folder that training saves to, and continues from if it holds a checkpoint; default: checkpoint_dir",
        name="save_checkpoint_dir",
        decides_result=False,
    )
    wanted: str = flag(
        AUTOMATIC,
        "checkpoint in load_checkpoint_dir to start from, or to test, transcribe and export with: best, last, or its"
        " name; auto: the best, or the last if training continued without validation",
        name="checkpoint",
        check=CheckpointNameCheck(),
        aliases=("load_evaluate",),
    )
    fresh_optimizer: bool = flag(
        False, "take only the weights of the checkpoint in load_checkpoint_dir; steps and epochs restart"
    )
    seconds: int = flag(
        600,
        "seconds between checkpoints; 0: only at the end",
        name="checkpoint_secs",
        check=at_least(0),
        decides_result=False,
    )
    max_to_keep: int = flag(5, "checkpoints to keep", check=at_least(1), decides_result=False)
    averaged: int = flag(
        1,
        "best checkpoints to keep; test, transcription and export use the mean of their weights; 1: the best alone",
        name="average_checkpoints",
        check=at_least(1),
    )
    initial_graph: Path | None = flag(
        None,
        "exported graph to take the initial weights from if there is no checkpoint",
        name="initialize_from_frozen_model",
    )
    initial_weights: Path | None = flag(
        None,
        "HDF5 file of deepspeech-weights to take the initial weights from if there is no checkpoint",
        name="initialize_from_weights",
    )
    drop_source_layers: int = flag(
        0,
        "last layers whose weights are not taken from that file, graph or load_checkpoint_dir; 1 for a new alphabet",
        check=at_least(0),
    )
    map_labels: bool = flag(False, "take the last layer's weights from there for all labels that are in both alphabets")

    @property
    def directory(self) -> Path:
        """The folder that training saves to."""
        return self.given_save_directory or self.given_directory or data_folder() / "checkpoints"

    @property
    def load_directory(self) -> Path:
        """The folder that checkpoints are loaded from without training, and that training may start from."""
        return self.given_load_directory or self.given_directory or self.directory

    @property
    def begins_elsewhere(self) -> bool:
        """Whether training starts from a checkpoint in another folder than the one it saves to."""
        return self.load_directory.resolve() != self.directory.resolve()

    @property
    def only_weights(self) -> bool:
        """Whether training takes only weights from another folder's checkpoint."""
        return self.fresh_optimizer or self.drop_source_layers > 0 or self.map_labels

    @property
    def initial_file(self) -> Path | None:
        """The file to take the initial weights from."""
        return self.initial_weights or self.initial_graph


@dataclass(frozen=True)
class SummaryOptions:
    """TensorBoard summaries: where, how often (seconds, 0: never), and whether to add a full trace each time."""

    title: ClassVar[str] = CHECKPOINTS
    given_directory: Path | None = flag(
        None,
        "folder of the TensorBoard summaries; default: in the project's folder, beside the checkpoints",
        name="summary_dir",
        decides_result=False,
    )
    seconds: int = flag(
        0,
        "seconds between summaries; 0: none are written",
        name="summary_secs",
        check=at_least(0),
        decides_result=False,
    )
    directory_given: bool = whether_given("summary_dir", name="summary_dir_given", decides_result=False)
    full_trace: bool = flag(False, "add a full trace of a step to each summary", name="fulltrace", decides_result=False)

    @property
    def directory(self) -> Path:
        """The folder of the summaries."""
        return self.given_directory or data_folder() / "summaries"
