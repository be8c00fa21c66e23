"""What a flag's value must be: each check raises a FlagError that names the flag."""

import math
from typing import Any

from ..errors import FlagError
from .cluster_flag_checks import check_cluster
from .language_model_flags import check_language_model

POSITIVE = [
    "train_batch_size",
    "dev_batch_size",
    "test_batch_size",
    "n_hidden",
    "iters_per_worker",
    "max_to_keep",
    "beam_width",
    "n_steps",
    "export_batch_size",
    "export_beam_width",
    "audio_sample_rate",
    "coord_retries",
]
NOT_NEGATIVE = [
    "limit_train",
    "limit_dev",
    "limit_test",
    "validation_step",
    "display_step",
    "checkpoint_secs",
    "summary_secs",
    "report_count",
    "inter_op_parallelism_threads",
    "intra_op_parallelism_threads",
    "estop_mean_thresh",
    "estop_std_thresh",
]
GREATER_THAN_ZERO = ["learning_rate", "epsilon", "relu_clip", "coord_lease_secs"]
DROPOUT_RATES = ["dropout_rate", "dropout_rate4", "dropout_rate5"]
DEFAULTING_DROPOUT_RATES = ["dropout_rate2", "dropout_rate3", "dropout_rate6"]
FEATURE_TYPES = ("audio_ops", "psf")
MIXED_PRECISION = ("auto", "on", "off")


def check_values(values: Any) -> None:
    """Raise FlagError for the first value that makes no sense alone or beside the others."""
    _check_numbers(values)
    if values.feature_type not in FEATURE_TYPES:
        raise FlagError(f"--feature_type={values.feature_type}: must be one of {', '.join(FEATURE_TYPES)}")
    if values.mixed_precision not in MIXED_PRECISION:
        raise FlagError(f"--mixed_precision={values.mixed_precision}: must be one of {', '.join(MIXED_PRECISION)}")
    if values.drop_source_layers not in range(7):
        raise FlagError(f"--drop_source_layers={values.drop_source_layers}: must be 0 to 6, the number of layers")
    if values.drop_source_layers and not values.initialize_from_frozen_model:
        raise FlagError("--drop_source_layers: needs --initialize_from_frozen_model, the graph that has the layers")
    if values.log_level not in range(4):
        raise FlagError(f"--log_level={values.log_level}: must be 0, 1, 2 or 3")
    if values.earlystop_nsteps < 2:
        raise FlagError(f"--earlystop_nsteps={values.earlystop_nsteps}: must be 2 or more")
    _check_wer_log_pattern(values.wer_log_pattern)
    check_cluster(values)
    _check_combinations(values)


def _check_numbers(values: Any) -> None:
    def check(names: list[str], allowed: str, low: float, high: float = math.inf, *, low_included: bool = True) -> None:
        for name in names:
            value = values[name].value
            inside = (low <= value if low_included else low < value) and value < high
            if not inside:
                raise FlagError(f"--{name}={value}: must be {allowed}")

    check(POSITIVE, "1 or more", 1)
    check(NOT_NEGATIVE, "0 or more", 0)
    check(GREATER_THAN_ZERO, "a finite number greater than 0", 0, low_included=False)
    check(DROPOUT_RATES, "at least 0 and less than 1", 0, 1)
    check(DEFAULTING_DROPOUT_RATES, "less than 1, or negative for the value of --dropout_rate", -math.inf, 1)
    check(["beta1", "beta2"], "at least 0 and less than 1", 0, 1)
    check(["lm_weight", "valid_word_count_weight"], "a finite number", -math.inf, low_included=False)


def _check_wer_log_pattern(pattern: str) -> None:
    if not pattern:
        return
    try:
        pattern % ("test", "2017-05-18T03:09:48", 0.05)
    except (TypeError, ValueError) as error:
        raise FlagError(
            f"--wer_log_pattern={pattern}: must hold %s, %s and %f for set name, date and word error rate ({error})"
        ) from error


def _check_combinations(values: Any) -> None:
    check_language_model(values)
    if values["train"].present and values.train and not values.train_files:
        raise FlagError("--train: needs --train_files, the CSV files to train on")
    trains, tests = values.train and values.train_files, values.test and values.test_files
    if trains and values.validation_step and not values.dev_files:
        raise FlagError("--validation_step: needs --dev_files, the CSV files to validate on")
    if not (trains or tests or values.one_shot_infer or values.export_dir):
        raise FlagError("nothing to do: give --train_files, --test_files, --one_shot_infer or --export_dir; see --help")
    if values.initialize_from_frozen_model and not trains:
        raise FlagError("--initialize_from_frozen_model: needs --train_files, the CSV files to train on")
    _check_export(values)


def _check_export(values: Any) -> None:
    if values.remove_export and not values.export_dir:
        raise FlagError("--remove_export: needs --export_dir, the folder to export to")
    if values.export_dir and values.feature_type != "audio_ops":
        raise FlagError(
            f"--feature_type={values.feature_type}: cannot be exported, as the clients of exported graphs have only "
            "audio_ops; train a model with --feature_type=audio_ops, and export that"
        )
