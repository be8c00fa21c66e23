"""LibriSpeech: books read in English, in parts of 5, 100 and 960 hours; no speaker is in two sets."""

from ..options import (
    ModelOptions,
    OptimizerOptions,
    Options,
    ScheduleOptions,
    SetOptions,
    with_values,
)
from .experiment import Experiment, register
from .unheard import UNHEARD

MINI_LIBRISPEECH = register(
    "mini_librispeech",
    Experiment(
        corpus="librispeech",
        summary="5 hours of books read in English: batches of 16, two cores and two hours",
        cached_sets=("dev",),
        parts=("train-clean-5", "dev-clean-2"),
        writes_report=True,
        options=with_values(UNHEARD, {"n_hidden": 320, "train_batch_size": 16, "epoch": 40}),
    ),
)

LIBRISPEECH_100 = register(
    "librispeech_100",
    Experiment(
        corpus="librispeech",
        summary="100 hours of books read in English: batches of 32, one GPU of 16 GB",
        cached_sets=("train", "dev"),
        parts=("train-clean-100", "dev-clean", "test-clean"),
        writes_report=True,
        options=Options(
            train=SetOptions(batch_size=32),
            dev=SetOptions(batch_size=32),
            test=SetOptions(batch_size=32),
            model=ModelOptions(n_hidden=2048, dropout_rate=0.4),
            optimizer=OptimizerOptions(learning_rate=0.0001),
            schedule=ScheduleOptions(epoch=50, validation_step=1),
        ),
    ),
)

LIBRISPEECH_960 = register(
    "librispeech_960",
    Experiment(
        corpus="librispeech",
        summary="960 hours of books read in English: batches of 64, one GPU of 24 GB or more",
        parts=("train-clean-100", "train-clean-360", "train-other-500", "dev-clean", "test-clean"),
        writes_report=True,
        options=Options(
            train=SetOptions(batch_size=64),
            dev=SetOptions(batch_size=64),
            test=SetOptions(batch_size=64),
            model=ModelOptions(n_hidden=2048, dropout_rate=0.3),
            optimizer=OptimizerOptions(learning_rate=0.0001),
            schedule=ScheduleOptions(epoch=25, validation_step=1),
        ),
    ),
)
