"""How TensorFlow runs the graph."""

from dataclasses import dataclass
from typing import ClassVar

from .checkpoints import CHECKPOINTS
from .rows.checks import OneOf, at_least, up_to
from .rows.flag import SwitchAlias, flag
from .training.optimizer import TRAINING

MIXED_PRECISION = ("auto", "on", "off")


@dataclass(frozen=True)
class SessionOptions:
    """How TensorFlow runs the graph; 0 threads leaves the number to TensorFlow.

    `mixed_precision` determines whether the matrix products of training have bfloat16 factors: "on", "off", or "auto",
    which is on for devices that multiply bfloat16 faster than float32. With `quantize_aware`, training rounds the
    factors of inner layers' products to 8 bits after `quantize_after` global steps.
    """

    title: ClassVar[str] = "Performance"
    quantize_aware: bool = flag(
        False, "train for inference in int8: round the factors of inner layers' products", title=TRAINING
    )
    quantize_after: int = flag(
        0, "global steps before --quantize_aware begins to round", title=TRAINING, check=at_least(0)
    )
    mixed_precision: str = flag(
        "auto",
        "matrix products of training in bfloat16: on, off, or auto, which is on where that is faster",
        check=OneOf(MIXED_PRECISION),
        aliases=(SwitchAlias("automatic_mixed_precision", on="on", off="off"),),
    )
    inter_op_threads: int = flag(
        0,
        "operations that run at once; 0: TensorFlow chooses",
        name="inter_op_parallelism_threads",
        check=up_to(65_536, "0 to 65536"),
        decides_result=False,
    )
    intra_op_threads: int = flag(
        0,
        "threads of an operation; 0: as many as cores that this process may use",
        name="intra_op_parallelism_threads",
        check=up_to(65_536, "0 to 65536"),
        decides_result=False,
    )
    log_placement: bool = flag(False, "log the device of each operation", title=CHECKPOINTS, decides_result=False)
