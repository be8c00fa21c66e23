"""AISHELL-1: 178 hours of read Mandarin by 400 speakers, of whom each is in one set; labels are characters."""

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

AISHELL1 = register(
    "aishell1",
    Experiment(
        corpus="aishell",
        summary="150 hours of read Mandarin, some 4,200 characters as labels: batches of 32, one GPU of 16 GB",
        cached_sets=("train", "dev"),
        makes_alphabet=True,
        writes_report=True,
        options=Options(
            train=SetOptions(batch_size=32),
            dev=SetOptions(batch_size=32),
            test=SetOptions(batch_size=32),
            bad_rows=BadRowOptions(skip=True),
            transcripts=TranscriptOptions(normalize=True),
            model=ModelOptions(n_hidden=2048, dropout_rate=0.3),
            optimizer=OptimizerOptions(learning_rate=0.0003),
            schedule=ScheduleOptions(epoch=40, validation_step=1),
        ),
    ),
)
