"""What a run is told to do: frozen dataclasses, made once from the flags by `deepspeech.flags`."""

from dataclasses import dataclass, field
from pathlib import Path

from .util.features import FeatureOptions


@dataclass(frozen=True)
class SetOptions:
    """One of the three sets (train, dev, test): its CSV files, feature cache, batch size and limit (0: all)."""

    files: tuple[Path, ...] = ()
    cached_features_path: Path | None = None
    batch_size: int = 1
    limit: int = 0


@dataclass(frozen=True)
class ModelOptions:
    """Geometry and regularization of the acoustic model.

    `network` is its registered name, or FILE.py:NAME; `context` the frames that it sees on either side of each one.
    `dropout_rates` belong to layers 1, 2, 3, the LSTM's input, the LSTM's output, and layer 5.
    """

    n_hidden: int = 2048
    relu_clip: float = 20.0
    dropout_rates: tuple[float, float, float, float, float, float] = (0.05, 0.05, 0.05, 0.0, 0.0, 0.05)
    network: str = "deepspeech"
    context: int = 9


@dataclass(frozen=True)
class OptimizerOptions:
    """Adam's parameters (Kingma and Ba, 2015)."""

    learning_rate: float = 0.001
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8


@dataclass(frozen=True)
class EarlyStoppingOptions:
    """When to stop before the last epoch; see `deepspeech.schedule.early_stopping`."""

    enabled: bool = True
    steps: int = 4
    mean_threshold: float = 0.5
    deviation_threshold: float = 0.5


@dataclass(frozen=True)
class ScheduleOptions:
    """Which epochs are run over which sets.

    `epoch` is the number of training epochs in all, or if negative, so many more. `validation_step` and
    `display_step` are in epochs; 0 means never. `batches_per_job` is the flag `iters_per_worker`.
    """

    epoch: int = 75
    test: bool = True
    validation_step: int = 0
    display_step: int = 0
    batches_per_job: int = 1
    early_stopping: EarlyStoppingOptions = field(default_factory=EarlyStoppingOptions)


@dataclass(frozen=True)
class CheckpointOptions:
    """Where checkpoints are kept, how often one is written (seconds, 0: only at the end) and how many stay.

    Where there is none, training begins with the weights of `initial_graph`, if given, but for its last layers.
    """

    directory: Path
    seconds: int = 600
    max_to_keep: int = 5
    initial_graph: Path | None = None
    drop_source_layers: int = 0


@dataclass(frozen=True)
class SummaryOptions:
    """TensorBoard summaries: where, how often (seconds, 0: never), and whether to add a full trace each time."""

    directory: Path
    seconds: int = 0
    full_trace: bool = False


@dataclass(frozen=True)
class SessionOptions:
    """How TensorFlow runs the graph; 0 threads leaves the number to TensorFlow.

    `mixed_precision` is "on", "off" or "auto": whether the matrix products of training take bfloat16 factors; "auto"
    where the device multiplies them faster.
    """

    inter_op_threads: int = 0
    intra_op_threads: int = 0
    log_placement: bool = False
    mixed_precision: str = "auto"


@dataclass(frozen=True)
class ReportOptions:
    """What is told about progress and results."""

    count: int = 10
    wer_log_pattern: str = ""
    show_progressbar: bool = True


@dataclass(frozen=True)
class LanguageModelOptions:
    """The language model, its weights and the beam width of the search."""

    binary_path: Path | None = None
    trie_path: Path | None = None
    scorer_path: Path | None = None
    beam_width: int = 1024
    lm_weight: float = 1.5
    valid_word_count_weight: float = 2.25
    weights_chosen: bool = True
    """Whether a scorer package's own weights give way to these."""


@dataclass(frozen=True)
class ExportOptions:
    """Where and how to export. `version` is the model's, for its card; `remove` deletes an older export first."""

    directory: Path
    version: int = 1
    remove: bool = False
    use_seq_length: bool = True
    n_steps: int = 16
    batch_size: int = 1
    beam_width: int = 500
    language: str = ""


@dataclass(frozen=True)
class ClusterOptions:
    """The cluster that a node belongs to, and its place there.

    `replicas` gradients may be worked on for a step, `replicas_to_aggregate` make it. The coordinator is tried
    `coordinator_retries` times, every half a second. The secret that it wants is in the environment or in `token_file`.
    """

    parameter_servers: tuple[str, ...]
    workers: tuple[str, ...]
    job_name: str
    task: int
    replicas: int
    replicas_to_aggregate: int
    coordinator_host: str
    coordinator_port: int
    coordinator_retries: int
    lease_seconds: float
    token_file: Path | None = None

    @property
    def is_chief(self) -> bool:
        """Whether this is the node that the coordinator runs on, the first worker."""
        return self.job_name == "worker" and self.task == 0


@dataclass(frozen=True)
class Options:
    """Everything a run needs to know."""

    train: SetOptions
    dev: SetOptions
    test: SetOptions
    alphabet_path: Path
    skip_bad_rows: bool
    features: FeatureOptions
    model: ModelOptions
    optimizer: OptimizerOptions
    schedule: ScheduleOptions
    checkpoints: CheckpointOptions
    summaries: SummaryOptions
    session: SessionOptions
    report: ReportOptions
    language_model: LanguageModelOptions
    random_seed: int
    log_level: int
    one_shot_infer: Path | None
    log_traffic: bool = False
    cluster: ClusterOptions | None = None
    export: ExportOptions | None = None
    notices: tuple[str, ...] = ()
    """What to tell about flags that do something else than their name says, a line each."""

    @property
    def trains(self) -> bool:
        """Whether there is anything to train on."""
        return bool(self.train.files)

    @property
    def tests(self) -> bool:
        """Whether there is anything to test on."""
        return bool(self.test.files) and self.schedule.test
