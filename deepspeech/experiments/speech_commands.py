"""Speech Commands in English and in Arabic: single words of one second."""

from ..options import (
    ModelOptions,
    OptimizerOptions,
    Options,
    ScheduleOptions,
    SetOptions,
    with_values,
)
from ..util.features import UTTERANCE
from .experiment import Experiment, register
from .unheard import OTHER_VOICES, UNHEARD

SPEECH_COMMANDS = register(
    "speech_commands",
    Experiment(
        corpus="speech_commands",
        summary="35 English words, 29 hours: batches of 100, two cores",
        cached_sets=("train", "dev"),
        writes_report=True,
        options=Options(
            train=SetOptions(batch_size=100),
            dev=SetOptions(batch_size=100),
            test=SetOptions(batch_size=100),
            model=ModelOptions(n_hidden=256, dropout_rate=0.3),
            optimizer=OptimizerOptions(learning_rate=0.001),
            schedule=ScheduleOptions(epoch=15, validation_step=1),
        ),
    ),
)

ARABIC_COMMANDS = register(
    "arabic_commands",
    Experiment(
        corpus="arabic_speech_commands",
        summary="40 Arabic words, tested on other speakers: 95 % correct, two cores and half an hour",
        cached_sets=("dev",),
        makes_alphabet=True,
        writes_report=True,
        options=with_values(
            UNHEARD,
            {
                "augment": OTHER_VOICES.written,
                "normalize_features": UTTERANCE,
                "output_step": 40,
                "epoch": 250,
            },
        ),
    ),
)
