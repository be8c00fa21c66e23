"""The yesno recordings: one speaker, eight times yes or no in Hebrew in each of 60 files."""

from ..options import (
    EarlyStoppingOptions,
    FrontEndOptions,
    LanguageModelOptions,
    ModelOptions,
    OptimizerOptions,
    Options,
    ScheduleOptions,
    SessionOptions,
    SetOptions,
)
from ..util.files.packaged_data import DATA
from .experiment import Experiment, register

YESNO = register(
    "yesno",
    Experiment(
        corpus="yesno",
        summary="yes and no by one speaker: WER 0.0 to 0.4 % with 14 seeds",
        options=Options(
            train=SetOptions(batch_size=2),
            dev=SetOptions(batch_size=5),
            test=SetOptions(batch_size=30),
            front_end=FrontEndOptions(audio_sample_rate=8000),
            model=ModelOptions(n_hidden=128, dropout_rate=0.3, dropout_rate4=0.3, dropout_rate5=0.3),
            optimizer=OptimizerOptions(learning_rate=0.002),
            schedule=ScheduleOptions(epoch=160, validation_step=10, early_stopping=EarlyStoppingOptions(enabled=False)),
            language_model=LanguageModelOptions(binary_path=DATA / "lm/yesno.arpa"),
            session=SessionOptions(mixed_precision="off"),
        ),
    ),
)
