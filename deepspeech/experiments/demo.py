"""The demo: synthesized commands and numbers, tested on voices that are not in the training set."""

from ..options import (
    AugmentationOptions,
    EarlyStoppingOptions,
    LanguageModelOptions,
    ModelOptions,
    Options,
    ReportOptions,
    ScheduleOptions,
    SetOptions,
)
from ..util.augmentation.kinds.gaps import Silence
from ..util.files.packaged_data import DATA
from .experiment import Experiment, register
from .unheard import NOISE

DEMO = register(
    "demo",
    Experiment(
        corpus="demo",
        summary="commands and numbers read by espeak-ng, other voices in the test: WER 0.1 to 0.5 %",
        cached_sets=("train",),
        options=Options(
            train=SetOptions(batch_size=16),
            dev=SetOptions(batch_size=40),
            test=SetOptions(batch_size=40),
            augmentation=AugmentationOptions.of(Silence(p=0.5), NOISE),
            model=ModelOptions(n_hidden=256, dropout_rate=0.1),
            schedule=ScheduleOptions(epoch=14, validation_step=2, early_stopping=EarlyStoppingOptions(enabled=False)),
            report=ReportOptions(count=3),
            language_model=LanguageModelOptions(
                binary_path=DATA / "lm/demo.arpa",
                beam_width=100,
                lm_weight=1.0,
                valid_word_count_weight=1.0,
                weights_given=True,
            ),
        ),
    ),
)
