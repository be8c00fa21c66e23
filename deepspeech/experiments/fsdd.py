"""The Free Spoken Digit Dataset: 2,500 single English digits by five speakers."""

from dataclasses import replace

from ..options import (
    AugmentationOptions,
    EarlyStoppingOptions,
    FrontEndOptions,
    LanguageModelOptions,
    ModelOptions,
    OptimizerOptions,
    Options,
    ScheduleOptions,
    SetOptions,
    with_values,
)
from ..util.features import RUNNING
from ..util.files.packaged_data import DATA
from .experiment import Experiment, register
from .unheard import NOISE, OTHER_PEOPLE, SILENCE, TRIM, UNHEARD

FSDD = register(
    "fsdd",
    Experiment(
        corpus="fsdd",
        summary="single digits, every speaker in every set: WER 0.0 to 0.8 % with a language model of ten words",
        cached_sets=("train", "dev"),
        options=Options(
            train=SetOptions(batch_size=20),
            dev=SetOptions(batch_size=50),
            test=SetOptions(batch_size=50),
            front_end=FrontEndOptions(audio_sample_rate=8000, feature_type="psf"),
            augmentation=AugmentationOptions.of(SILENCE, NOISE),
            model=ModelOptions(n_hidden=256, dropout_rate=0.3, dropout_rate4=0.2, dropout_rate5=0.2),
            optimizer=OptimizerOptions(learning_rate=0.0005),
            schedule=ScheduleOptions(epoch=30, validation_step=2, early_stopping=EarlyStoppingOptions(enabled=False)),
            language_model=LanguageModelOptions(binary_path=DATA / "lm/digits.arpa"),
        ),
    ),
)

FSDD_UNHEARD = register(
    "fsdd_unheard",
    Experiment(
        corpus="fsdd",
        summary="single digits for unknown speakers: augmented voices, rooms, silence; streams; an hour",
        cached_sets=("dev",),
        options=with_values(
            UNHEARD,
            {
                "augment": (str(SILENCE), *OTHER_PEOPLE.written),
                "audio_sample_rate": 8000,
                "normalize_features": RUNNING,
                "network": "convolutional",
                "bidirectional": False,
                "n_hidden": 192,
                "dropout_rate": 0.2,
                "train_batch_size": 16,
                "epoch": 120,
                "lm_binary_path": DATA / "lm/digits.arpa",
            },
        ),
    ),
)

FSDD_BIDIRECTIONAL = register(
    "fsdd_bidirectional",
    replace(
        FSDD_UNHEARD.with_flags(network="lstm", bidirectional=True, n_hidden=256, dropout_rate=0.3, epoch=50),
        summary="single digits for unknown speakers, with LSTMs that do not stream: half an hour",
    ),
)

FSDD_WITH_AN4_DIGITS = register(
    "fsdd_with_an4_digits",
    replace(
        FSDD_BIDIRECTIONAL.with_flags(epoch=30),
        besides=("an4_digits",),
        summary="single digits of fsdd and of AN4's 74 speakers (--from FSDD,AN4): 3 to 6 % wrong; half an hour",
    ),
)

FSDD_AFTER_SENTENCES = register(
    "fsdd_after_sentences",
    replace(
        FSDD_WITH_AN4_DIGITS.with_flags(
            augment=(str(TRIM), *FSDD_UNHEARD.options.augmentation.written),
            convolutions=4,
            learning_rate=0.0005,
            epoch=8,
            fresh_optimizer=True,
        ),
        summary="single digits, after training on sentences (docs/accuracy.md): 3 to 11 % wrong; ten minutes",
    ),
)
