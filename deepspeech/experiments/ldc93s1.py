"""One recording that the network memorizes: a smoke test of the whole program."""

from ..options import EarlyStoppingOptions, ModelOptions, Options, ScheduleOptions
from .experiment import Experiment, register

LDC93S1 = register(
    "ldc93s1",
    Experiment(
        corpus="ldc93s1",
        summary="the sample of TIMIT, one memorized sentence: WER 0.0 %",
        train_files=("ldc93s1.csv",),
        dev_files=(),
        test_files=("ldc93s1.csv",),
        options=Options(
            model=ModelOptions(n_hidden=128, dropout_rate=0.0),
            schedule=ScheduleOptions(epoch=200, early_stopping=EarlyStoppingOptions(enabled=False)),
        ),
    ),
)
