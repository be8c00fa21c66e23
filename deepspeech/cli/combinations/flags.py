"""Checks of flags in combination. The check of a single flag is where the flag is defined."""

from collections.abc import Collection
from itertools import combinations

from ...errors import FeatureError, FlagError
from ...network import network
from ...options import CheckpointOptions, LanguageModelOptions, Options, values_of
from ...options.export import ONNX, TFLITE
from ...util.features import exportable_front_ends, front_end
from .cluster import check_cluster
from .training import check_training


def check_options(options: Options, given: Collection[str]) -> None:
    """Raise FlagError for the first flags that cannot be combined; `given` are the names of the given flags."""
    _check_features(options)
    _check_network(options)
    check_cluster(options)
    check_language_model(options.language_model)
    options.transcripts.check_given(given)
    if "train" in given and options.schedule.train and not options.train.files:
        raise FlagError("--train: needs --train_files, the CSV files to train on")
    if options.trains and options.schedule.validation_step and not options.dev.files:
        raise FlagError("--validation_step: needs --dev_files, the CSV files to validate on")
    if not (options.trains or options.tests or options.one_shot_infer or options.exports):
        raise FlagError(_nothing_to_do(options))
    check_training(options, given)
    _check_beginning(options)
    _check_outputs_of_the_test(options, given)
    if options.status.port and options.in_cluster:
        raise FlagError("--status_port: a cluster's page is at --coord_host and --coord_port; leave this flag out")
    _check_probe_port(options)
    if options.tracing.endpoint and not options.in_cluster:
        raise FlagError("--trace_endpoint: only the steps of a cluster are traced; leave it out on one machine")
    _check_caches(options)
    _check_export(options)


def _check_probe_port(options: Options) -> None:
    probes, cluster = options.probes, options.cluster
    if probes.port and probes.port == options.status.port:
        raise FlagError(f"--probe_port={probes.port}: is --status_port, too; choose another port for one of them")
    coordinates = options.in_cluster and cluster.is_chief and probes.host == cluster.coordinator_host
    if probes.port and coordinates and probes.port == cluster.coordinator_port:
        raise FlagError(f"--probe_port={probes.port}: is --coord_port, too; choose another port for the probes")


def _nothing_to_do(options: Options) -> str:
    """Return what to give; files that are given are those of a set that is switched off."""
    sets = {"train": options.train, "test": options.test}
    off = [f"--no{name}" for name, chosen in sets.items() if chosen.files]
    more = [f"--{name}_files" for name, chosen in sets.items() if not chosen.files]
    switched = f" with {' and '.join(off)}" if off else ""
    return f"nothing to do{switched}: give {', '.join([*more, '--one_shot_infer'])} or --export_dir; see --help"


def check_language_model(options: LanguageModelOptions) -> None:
    """Raise FlagError, naming the flag, for files that cannot be combined."""
    if options.scorer_path and (options.binary_path or options.trie_path):
        raise FlagError("--scorer_path: cannot be combined with --lm_binary_path or --lm_trie_path; give one of them")
    if options.trie_path and not options.binary_path:
        raise FlagError("--lm_trie_path: needs --lm_binary_path, the language model that the trie belongs to")


def _check_outputs_of_the_test(options: Options, given: Collection[str]) -> None:
    """Raise FlagError for outputs that no test writes, if the command line names them and not an experiment."""
    outputs = {"test_output_file": options.report.test_output_file, "report_dir": options.report.report_dir}
    for name in (name for name, path in outputs.items() if path and name in given):
        if not options.tests:
            needed = "a test; leave out --notest" if options.test.files else "--test_files, the CSV files to test on"
            raise FlagError(f"--{name}: needs {needed}")
        if options.in_cluster:
            raise FlagError(f"--{name}: a cluster writes none; test on one machine, with the same --checkpoint_dir")


def _check_features(options: Options) -> None:
    try:
        front_end(options.front_end.features)
    except FeatureError as error:
        values = values_of(options.front_end)
        named = ("audio_sample_rate", "feature_type", "feature_win_len", "feature_win_step")
        given = [f"--{name}={values[name]}" for name in named if values[name]]
        raise FlagError(f"{', '.join(given)}: {error}") from error


def _check_network(options: Options) -> None:
    """Raise FlagError or NetworkError. No check depends on the number of labels, which is not known yet."""
    features = options.features
    described = network(options.model, features.width, label_count=1, step_ms=features.network_step_ms)
    layers = len(described.weighted_layers)
    dropped = options.checkpoints.drop_source_layers
    if dropped > layers:
        raise FlagError(f"--drop_source_layers={dropped}: must be 0 to {layers}, the number of layers")
    if options.exports:
        from ...export.formats import FORMATS  # not needed by commands that only check a language model

        wanted = FORMATS[options.export.format]
        wanted.check(described)
        wanted.check_features(features)
        wanted.check_available()


def _check_beginning(options: Options) -> None:
    checkpoints = options.checkpoints
    files = {
        "initialize_from_weights": checkpoints.initial_weights,
        "initialize_from_frozen_model": checkpoints.initial_graph,
    }
    for name in (name for name, path in files.items() if path):
        if not options.trains:
            raise FlagError(f"--{name}: needs --train_files, the CSV files to train on")
        if checkpoints.given_load_directory and checkpoints.begins_elsewhere:
            raise FlagError(f"--{name}: cannot be combined with --load_checkpoint_dir; give one to begin with")
    if all(files.values()):
        raise FlagError(f"{' and '.join(f'--{name}' for name in files)}: cannot be combined; give one to begin with")
    if options.trains:
        _check_source(checkpoints)


def _check_source(checkpoints: CheckpointOptions) -> None:
    """Raise FlagError if a flag selects weights of a file or folder, but no flag names such a file or folder."""
    of_source = {"drop_source_layers": checkpoints.drop_source_layers, "map_labels": checkpoints.map_labels}
    for name in (name for name, given in of_source.items() if given):
        if not (checkpoints.initial_file or checkpoints.begins_elsewhere):
            raise FlagError(
                f"--{name}: needs --initialize_from_weights or --initialize_from_frozen_model, the file that has the "
                "layers, or --load_checkpoint_dir, the folder of a checkpoint that has them, and another "
                "--save_checkpoint_dir"
            )
    if checkpoints.fresh_optimizer and not checkpoints.begins_elsewhere:
        raise FlagError(
            "--fresh_optimizer: needs --load_checkpoint_dir, the folder of the checkpoint to begin with, and another "
            "--save_checkpoint_dir"
        )


def _check_caches(options: Options) -> None:
    sets = {"train": options.train, "dev": options.dev, "test": options.test}
    in_use = [(name, each) for name, each in sets.items() if each.files and each.cached_features_path]
    for (name, one), (other_name, other) in combinations(in_use, 2):
        assert one.cached_features_path and other.cached_features_path
        shared = one.cached_features_path.resolve() == other.cached_features_path.resolve()
        if shared and (one.files, one.limit) != (other.files, other.limit):
            raise FlagError(
                f"--{name}_cached_features_path and --{other_name}_cached_features_path: both are "
                f"{one.cached_features_path}, which would be rebuilt for each in turn; name two files"
            )


def _check_export(options: Options) -> None:
    if options.export.remove and not options.exports:
        raise FlagError("--remove_export: needs --export_dir, the folder to export to")
    if options.export.features and options.export.format != ONNX:
        raise FlagError("--export_features: needs --export_format=onnx; it has no meaning for other formats")
    if options.exports and options.export.quantize and options.export.format != TFLITE:
        raise FlagError("--export_quantize: only the format tflite holds weights of 8 bits; add --export_format=tflite")
    if options.exports and options.export.format == TFLITE and options.export.batch_size != 1:
        raise FlagError("--export_batch_size: a run of --export_format=tflite takes one utterance; leave it out")
    if options.exports:
        _check_exported_features(options)


def _check_exported_features(options: Options) -> None:
    feature_type = options.features.feature_type
    if not front_end(options.features).exportable:
        served = exportable_front_ends()
        raise FlagError(
            f"--feature_type={feature_type}: cannot be exported, as programs that run exported graphs have only "
            f"{' and '.join(served)}; train a model with --feature_type={', or ='.join(served)}, and export that"
        )
    if options.export.features:
        from ...export.formats import FORMATS

        FORMATS[ONNX].check_available()
        from ...export.onnx_graph.features import COMPUTED

        if feature_type not in COMPUTED:
            raise FlagError(
                f"--export_features: a model in ONNX computes {' or '.join(COMPUTED)}, but not "
                f"--feature_type={feature_type}; leave out --export_features, so that its input is frames"
            )
