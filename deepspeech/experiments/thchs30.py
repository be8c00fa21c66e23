"""THCHS-30: 33 hours of read Mandarin by 40 speakers; labels are characters."""

from ..options import (
    BadRowOptions,
    ModelOptions,
    OptimizerOptions,
    Options,
    ScheduleOptions,
    SetOptions,
    TranscriptOptions,
)
from .experiment import Experiment, register

THCHS30 = register(
    "thchs30",
    Experiment(
        corpus="thchs30",
        summary="25 hours of read Mandarin, some 2,900 characters as labels: batches of 32, one GPU of 8 GB",
        cached_sets=("train", "dev"),
        makes_alphabet=True,
        writes_report=True,
        options=Options(
            train=SetOptions(batch_size=32),
            dev=SetOptions(batch_size=32),
            test=SetOptions(batch_size=32),
            bad_rows=BadRowOptions(skip=True),
            transcripts=TranscriptOptions(normalize=True),
            model=ModelOptions(n_hidden=1024, dropout_rate=0.3),
            optimizer=OptimizerOptions(learning_rate=0.0003),
            schedule=ScheduleOptions(epoch=50, validation_step=1),
        ),
    ),
)
