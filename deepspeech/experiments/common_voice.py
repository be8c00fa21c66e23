"""Common Voice, any language: sentences read by volunteers; the alphabet is that of the transcripts."""

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

COMMON_VOICE = register(
    "common_voice",
    Experiment(
        corpus="common_voice",
        summary="sentences of any language read by volunteers, 10 to 1,000 hours: batches of 32, one GPU",
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
