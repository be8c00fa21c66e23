"""All options of a run of the trainer, and of an evaluation of an exported graph."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ..util.features import FeatureOptions
from ..util.output_units import ByteAlphabet, load_alphabet
from ..util.text import Alphabet
from .checkpoints import CheckpointOptions, SummaryOptions
from .cluster import ClusterOptions
from .corpora import (
    AlphabetOptions,
    AugmentationOptions,
    BadRowOptions,
    CorpusOptions,
    ExclusionOptions,
    FrontEndOptions,
    SetOptions,
)
from .decoding import DECODING, LanguageModelOptions
from .experiment import ExperimentOptions
from .export import GRAPH, MODEL_FILE, ExportOptions
from .model import PROVIDED, ModelOptions
from .monitoring import ProbeOptions, TracingOptions
from .performance import SessionOptions
from .reports import LogOptions, ReportOptions, StatusOptions
from .rows.checks import at_least
from .rows.flag import flag, flags_with
from .rows.predecessors import ignored_notice
from .storage import StorageOptions
from .training import TRAINING, BatchOptions, OptimizerOptions, ScheduleOptions
from .transcripts import TranscriptOptions


@dataclass(frozen=True)
class RetiredOptions:
    """Flags that no longer have an effect: they are accepted with a notice."""

    use_warpctc: bool = flag(
        False, "has no effect; the fastest CTC loss of the device is always used", title="Model", decides_result=False
    )
    decoder_library_path: str = flag(
        "", "has no effect; the decoder is part of the package", title=DECODING, decides_result=False
    )
    ignored: tuple[str, ...] = flag(
        (),
        "flags of predecessors that were given, and have no effect",
        name="ignored_flags",
        decides_result=False,
        on_command_line=False,
    )


@dataclass(frozen=True)
class Options:
    """All options of a run of the trainer. Its fields hold the flags' values; see `deepspeech.options.rows.flag`."""

    experiment: ExperimentOptions = field(default_factory=ExperimentOptions)
    train: SetOptions = flags_with(SetOptions, set="train", verb="train", noun="training", cache_alias="feature_cache")
    dev: SetOptions = flags_with(SetOptions, set="dev", verb="validate", noun="validation", cache_alias="")
    test: SetOptions = flags_with(SetOptions, set="test", verb="test", noun="test", cache_alias="")
    bad_rows: BadRowOptions = field(default_factory=BadRowOptions)
    transcripts: TranscriptOptions = field(default_factory=TranscriptOptions)
    excluded: ExclusionOptions = field(default_factory=ExclusionOptions)
    augmentation: AugmentationOptions = field(default_factory=AugmentationOptions)
    alphabet: AlphabetOptions = field(default_factory=AlphabetOptions)
    front_end: FrontEndOptions = field(default_factory=FrontEndOptions)
    model: ModelOptions = field(default_factory=ModelOptions)
    optimizer: OptimizerOptions = field(default_factory=OptimizerOptions)
    schedule: ScheduleOptions = field(default_factory=ScheduleOptions)
    batches: BatchOptions = field(default_factory=BatchOptions)
    random_seed: int = flag(
        4567, "seed of initial weights, dropout, augmentation and shuffling", check=at_least(0), title=TRAINING
    )
    cluster: ClusterOptions = field(default_factory=ClusterOptions)
    checkpoints: CheckpointOptions = field(default_factory=CheckpointOptions)
    summaries: SummaryOptions = field(default_factory=SummaryOptions)
    logs: LogOptions = field(default_factory=LogOptions)
    report: ReportOptions = field(default_factory=ReportOptions)
    status: StatusOptions = field(default_factory=StatusOptions)
    probes: ProbeOptions = field(default_factory=ProbeOptions)
    tracing: TracingOptions = field(default_factory=TracingOptions)
    language_model: LanguageModelOptions = field(default_factory=LanguageModelOptions)
    one_shot_infer: Path | None = flag(
        None, "transcribe this audio file and print the text", title=DECODING, decides_result=False
    )
    export: ExportOptions = field(default_factory=ExportOptions)
    storage: StorageOptions = field(default_factory=StorageOptions)
    session: SessionOptions = field(default_factory=SessionOptions)
    retired: RetiredOptions = field(default_factory=RetiredOptions)

    @property
    def trains(self) -> bool:
        """Whether there is anything to train on."""
        return bool(self.train.files) and self.schedule.train

    @property
    def tests(self) -> bool:
        """Whether there is anything to test on."""
        return bool(self.test.files) and self.schedule.test

    @property
    def checkpoint_folder(self) -> Path:
        """The folder of the checkpoints that the run saves, or loads if it does not train."""
        return self.checkpoints.directory if self.trains else self.checkpoints.load_directory

    @property
    def exports(self) -> bool:
        """Whether the model is exported."""
        return self.export.directory is not None

    @property
    def in_cluster(self) -> bool:
        """Whether this process is a node of a cluster."""
        return bool(self.cluster.workers)

    @property
    def leads(self) -> bool:
        """Whether this process saves and exports: it is the chief of a cluster, or in none."""
        return not self.in_cluster or self.cluster.is_chief

    @property
    def alphabet_path(self) -> Path | None:
        """The alphabet's file: the given one, or that of the experiment's corpus; None for bytes without a file."""
        own = self.experiment.own_alphabet
        path = self.alphabet.path or own
        return None if self.alphabet.unit == ByteAlphabet.unit and path == own else path

    def load_alphabet(self) -> Alphabet:
        """Read the alphabet, its labels in NFC if transcripts are normalized. Raise AlphabetError."""
        return load_alphabet(self.alphabet.unit, self.alphabet_path, composed=self.transcripts.normalize)

    @property
    def features(self) -> FeatureOptions:
        """The features. Raise FeatureError if no front end can compute them."""
        return self.front_end.features

    @property
    def notices(self) -> tuple[str, ...]:
        """A line for each given flag that does not do what its name says."""
        return tuple(self._notices())

    def _notices(self) -> Iterator[str]:
        if self.retired.use_warpctc:
            yield "--use_warpctc: the fastest CTC loss of the device is used, whether this flag is given or not"
        if self.retired.decoder_library_path:
            yield "--decoder_library_path: not used, as the decoder is part of this package"
        yield from map(ignored_notice, self.retired.ignored)
        if self.model.dropout_rate5 and self.model.network == ModelOptions.network and not self.experiment.name:
            yield "--dropout_rate5: applied to the LSTM's output, as the network has no backward LSTM"
        if self.trains and self.dev.files and not self.schedule.validation_step:
            reason = "because --validation_step is 0; --validation_step=1 validates after every epoch"
            yield f"--dev_files: not used, {reason}"
        validates = bool(self.dev.files) and self.schedule.validation_step > 0
        if self.trains and self.checkpoints.averaged > 1 and not validates:
            yield (
                "--average_checkpoints: not used, as it averages the best checkpoints in validation, and nothing is "
                "validated; give --dev_files and --validation_step"
            )
        if self.trains:
            yield from self.batches.notices
            rate = self.schedule.learning_rate
            yield from rate.notices
            yield from self.schedule.early_stopping.notices(validates=validates, on_plateau=rate.on_plateau)
        if self.trains and self.summaries.directory_given and not self.summaries.seconds:
            yield "--summary_dir: nothing is written there, as --summary_secs is 0; --summary_secs=30 writes summaries"
        if self.trains and self.summaries.full_trace and not self.summaries.seconds:
            yield "--fulltrace: nothing is traced, as --summary_secs is 0; --summary_secs=30 writes summaries"
        elif self.trains and self.summaries.full_trace and self.in_cluster:
            yield "--fulltrace: not used in a cluster, where --trace_endpoint traces steps over all nodes"
        if self.session.quantize_after and not self.session.quantize_aware:
            yield "--quantize_after: not used without --quantize_aware, which turns on rounding"
        if self.export.format != GRAPH and not self.exports:
            yield "--export_format: nothing is exported without --export_dir, the folder to export to"
        if self.exports:
            yield from self.export.notices(of_clients=self.model.network not in PROVIDED[1:])
        yield from self.language_model.notices
        yield from self.model.notices


@dataclass(frozen=True)
class EvaluationOptions:
    """All options of an evaluation: an exported graph, the corpus to test it on, and the decoder's."""

    model: Path | None = flag(None, MODEL_FILE, title="Model")
    test: CorpusOptions = flags_with(CorpusOptions, set="test", verb="test", noun="test")
    bad_rows: BadRowOptions = field(default_factory=BadRowOptions)
    transcripts: TranscriptOptions = field(default_factory=TranscriptOptions)
    language_model: LanguageModelOptions = field(default_factory=LanguageModelOptions)
    report: ReportOptions = field(default_factory=ReportOptions)
