"""CMU AN4: letters, digits, commands and dates by 74 speakers, of whom each is in one set."""

from ..options import ModelOptions, Options, ScheduleOptions, SetOptions
from .experiment import Experiment, register

AN4 = register(
    "an4",
    Experiment(
        corpus="an4",
        summary="letters, digits and dates by 74 speakers, each in one set: WER 35 % without a language model",
        cached_sets=("train", "dev"),
        options=Options(
            train=SetOptions(batch_size=16),
            dev=SetOptions(batch_size=16),
            test=SetOptions(batch_size=16),
            model=ModelOptions(n_hidden=256, dropout_rate=0.2),
            schedule=ScheduleOptions(epoch=75, validation_step=1),
        ),
    ),
)
