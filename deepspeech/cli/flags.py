"""The command line: DeepSpeech's flags by name, meaning and default, turned once into `Options`."""

import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from absl import flags as absl_flags
from xdg import BaseDirectory

from .. import __version__
from ..errors import FeatureError, FlagError
from ..options import (
    CheckpointOptions,
    EarlyStoppingOptions,
    ExportOptions,
    ModelOptions,
    OptimizerOptions,
    Options,
    ReportOptions,
    ScheduleOptions,
    SessionOptions,
    SetOptions,
    SummaryOptions,
)
from ..util.features import FeatureOptions
from .cluster_flags import cluster_options
from .flag_checks import check_values
from .flag_definitions import FLAG_GROUPS
from .language_model_flags import WEIGHT_FLAGS, language_model_options

PACKAGED_ALPHABET = Path(__file__).parents[1] / "alphabet.txt"
"""The alphabet used when `--alphabet_config_path` isn't given: `data/alphabet.txt`, as installed."""

USAGE = "Train, test and run a speech recognizer: python -m deepspeech --train_files train.csv [flags]"


def parse(arguments: Sequence[str]) -> Options | None:
    """Turn command-line arguments (without the program's name) into options; None if help or the version was asked for.

    Raises FlagError, in one line that names the flag, for an unknown flag, a value that makes no sense or a
    combination that has nothing to do. Touches no file.
    """
    values: Any = absl_flags.FlagValues()
    for _, definitions in FLAG_GROUPS:
        for define, name, default, text in definitions:
            define(name, default, text, flag_values=values)
    absl_flags.DEFINE_bool("version", False, "print the version", flag_values=values)
    absl_flags.DEFINE_bool("help", False, "show this page", short_name="h", flag_values=values)
    try:
        positional = values(["deepspeech", *arguments])[1:]
    except absl_flags.Error as error:
        raise FlagError(" ".join(str(error).split())) from error
    if values.help or values.version:
        print(help_text() if values.help else __version__)
        return None
    if positional:
        raise FlagError(f"unexpected argument {positional[0]!r}; every argument is a flag, see --help")
    check_values(values)
    return _options(values)


def help_text() -> str:
    """Every flag with its default and meaning, in groups."""
    parts = [USAGE]
    for title, definitions in FLAG_GROUPS:
        parts.append(f"\n{title}:")
        for define, name, default, text in definitions:
            shown = f"--[no]{name}" if define is absl_flags.DEFINE_bool else f"--{name}"
            value = "" if default in ("", None) else f" ({default})"
            parts.append(f"  {shown}{value}")
            parts.append(textwrap.fill(text, 110, initial_indent=" " * 6, subsequent_indent=" " * 6))
    return "\n".join(parts)


def _options(values: Any) -> Options:
    return Options(
        train=_set_options(values, "train", enabled=values.train),
        dev=_set_options(values, "dev"),
        test=_set_options(values, "test"),
        alphabet_path=_alphabet_path(values),
        skip_bad_rows=values.skip_bad_rows,
        features=_feature_options(values),
        model=ModelOptions(values.n_hidden, values.relu_clip, _dropout_rates(values)),
        optimizer=OptimizerOptions(values.learning_rate, values.beta1, values.beta2, values.epsilon),
        schedule=_schedule_options(values),
        checkpoints=_checkpoint_options(values),
        summaries=SummaryOptions(_directory(values, "summary"), values.summary_secs, values.fulltrace),
        session=SessionOptions(
            values.inter_op_parallelism_threads,
            values.intra_op_parallelism_threads,
            values.log_placement,
            values.mixed_precision,
        ),
        report=ReportOptions(values.report_count, values.wer_log_pattern, values.show_progressbar),
        language_model=language_model_options(
            values, weights_chosen=any(values[name].present for name in WEIGHT_FLAGS)
        ),
        random_seed=values.random_seed,
        log_level=values.log_level,
        one_shot_infer=_optional_path(values.one_shot_infer),
        log_traffic=values.log_traffic,
        cluster=cluster_options(values),
        export=_export_options(values),
        notices=tuple(_notices(values)),
    )


def _notices(values: Any) -> Iterator[str]:
    if values.use_warpctc:
        yield "--use_warpctc: the fastest CTC loss of the device is used, whether this is given or not"
    if values.decoder_library_path:
        yield "--decoder_library_path: the decoder is part of this package; the file that was named is not used"
    if values.dropout_rate5:
        yield "--dropout_rate5: there is no backward LSTM; applied to the LSTM's output"
    if values.train and values.train_files and values.dev_files and not values.validation_step:
        yield "--dev_files: not used, because --validation_step is 0; --validation_step=1 validates after every epoch"


def _set_options(values: Any, name: str, *, enabled: bool = True) -> SetOptions:
    files = values[f"{name}_files"].value if enabled else ""
    return SetOptions(
        files=tuple(Path(part.strip()) for part in files.split(",") if part.strip()),
        cached_features_path=_optional_path(values[f"{name}_cached_features_path"].value),
        batch_size=values[f"{name}_batch_size"].value,
        limit=values[f"limit_{name}"].value,
    )


def _feature_options(values: Any) -> FeatureOptions:
    try:
        return FeatureOptions(sample_rate=values.audio_sample_rate, feature_type=values.feature_type)
    except FeatureError as error:
        raise FlagError(f"--audio_sample_rate={values.audio_sample_rate}: {error}") from error


def _schedule_options(values: Any) -> ScheduleOptions:
    return ScheduleOptions(
        epoch=values.epoch,
        test=values.test,
        validation_step=values.validation_step,
        display_step=values.display_step,
        batches_per_job=values.iters_per_worker,
        early_stopping=EarlyStoppingOptions(
            values.early_stop, values.earlystop_nsteps, values.estop_mean_thresh, values.estop_std_thresh
        ),
    )


def _checkpoint_options(values: Any) -> CheckpointOptions:
    return CheckpointOptions(
        directory=_directory(values, "checkpoint"),
        seconds=values.checkpoint_secs,
        max_to_keep=values.max_to_keep,
        initial_graph=_optional_path(values.initialize_from_frozen_model),
        drop_source_layers=values.drop_source_layers,
    )


def _export_options(values: Any) -> ExportOptions | None:
    if not values.export_dir:
        return None
    return ExportOptions(
        directory=Path(values.export_dir),
        version=values.export_version,
        remove=values.remove_export,
        use_seq_length=values.use_seq_length,
        n_steps=values.n_steps,
        batch_size=values.export_batch_size,
        beam_width=values.export_beam_width,
        language=values.export_language,
    )


def _dropout_rates(values: Any) -> tuple[float, float, float, float, float, float]:
    first = values.dropout_rate

    def or_first(rate: float) -> float:
        return first if rate < 0 else rate

    return (
        first,
        or_first(values.dropout_rate2),
        or_first(values.dropout_rate3),
        values.dropout_rate4,
        values.dropout_rate5,
        or_first(values.dropout_rate6),
    )


def _alphabet_path(values: Any) -> Path:
    if values["alphabet_config_path"].present:
        return Path(values.alphabet_config_path)
    return PACKAGED_ALPHABET


def _directory(values: Any, kind: str) -> Path:
    given = values[f"{kind}_dir"].value
    folder = {"checkpoint": "checkpoints", "summary": "summaries"}[kind]
    return Path(given) if given else Path(BaseDirectory.xdg_data_home) / "deepspeech" / folder


def _optional_path(text: str) -> Path | None:
    return Path(text) if text else None
