"""What is told about flags that do not do what their names say."""

import pytest

from deepspeech.cli import flags
from deepspeech.network import network
from deepspeech.options import Options
from deepspeech.options.model import PROVIDED


def parse(*arguments: str) -> Options:
    options = flags.parse(["--train_files", "train.csv", *arguments])
    assert options is not None
    return options


@pytest.mark.parametrize(
    "argument",
    [
        "--use_warpctc",
        "--decoder_library_path=libctc.so",
        "--dropout_rate5=0.1",
        "--dev_files=dev.csv",
        "--summary_dir=summaries",
        "--fulltrace",
        "--quantize_after=1000",
        "--export_format=onnx",
        "--average_checkpoints=5",
        "--shuffle_start=0",
        "--plateau_epochs=3",
        "--plateau_reduction=0.5",
        "--minimum_learning_rate=0.0001",
        "--es_epochs=3",
        "--earlystop_nsteps=5",
        "--estop_mean_thresh=0.1",
    ],
)
def test_a_flag_that_does_something_else_than_it_says_tells_so_once(argument: str) -> None:
    (notice,) = parse(argument).notices
    assert argument.split("=")[0] in notice.split(":")[0]


def test_the_rule_of_early_stopping_that_another_one_takes_the_place_of_has_a_notice() -> None:
    by_thresholds = ("--estop_std_thresh=0.1", "--dev_files=dev.csv", "--validation_step=1")
    for given, named in (
        ("--es_epochs=3", "--es_epochs: not used"),
        ("--es_min_delta=0.2", "--es_min_delta: not used"),
        ("--es_epochs=3 --es_min_delta=0.2", "--es_epochs and --es_min_delta: not used"),
        ("--es_epochs=3 --es_min_delta=0.2 --reduce_lr_on_plateau", "--es_epochs: not used"),
    ):
        (notice,) = parse(*given.split(), *by_thresholds).notices
        assert notice.startswith(named)
    assert not parse("--es_min_delta=0.2", "--reduce_lr_on_plateau", *by_thresholds).notices


def test_a_full_trace_in_a_cluster_has_a_notice_of_what_traces_there() -> None:
    nodes = ("--ps_hosts=a:2222", "--worker_hosts=b:2222", "--job_name=worker", "--task_index=0")
    (notice,) = parse("--fulltrace", "--summary_secs=9", *nodes).notices
    assert notice.startswith("--fulltrace: not used in a cluster") and "--trace_endpoint" in notice


@pytest.mark.parametrize("argument", ["--lm_weight=1.5", "--valid_word_count_weight=0", "--lm_alpha=1", "--lm_beta=2"])
def test_weights_of_a_language_model_that_is_not_given_have_a_notice(argument: str) -> None:
    (notice,) = parse(argument).notices
    assert notice.startswith("--lm_weight, --valid_word_count_weight: ")
    assert "--lm_binary_path" in notice and "\n" not in notice


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--lstm_layers=3",), "for the network lstm only, without effect in the network deepspeech"),
        (("--output_step=20",), "for the network lstm, conformer or convolutional only, without effect in"),
        (("--network=convolutional", "--bidirectional"), "for the network lstm or conformer only, without effect in"),
        (
            ("--network=lstm", "--convolution_kernel=5"),
            "for the network conformer or convolutional only, without effect in",
        ),
        (("--network=conformer", "--convolutional_layers=5"), "for the network convolutional only, without effect in"),
        (
            ("--network=lstm", "--attention_heads=2"),
            "for the network conformer only, without effect in the network lstm",
        ),
        (
            ("--network=lstm", "--intermediate_ctc_layers=2"),
            "--intermediate_ctc_layers: without effect, as --intermediate_ctc_weight is 0",
        ),
        (
            ("--network=lstm", "--dropout_rate2=0", "--dropout_rate5=0.3"),
            "--dropout_rate2, --dropout_rate5: without effect in the network lstm, which has --dropout_rate alone",
        ),
        (
            ("--network=lstm", "--lstm_layers=1", "--intermediate_ctc_weight=0.3"),
            "--intermediate_ctc_weight: without effect in a network of one layer",
        ),
        (
            ("--network=lstm", "--nouse_seq_length", "--export_dir=model"),
            "--nouse_seq_length: without effect, as this network's graph takes any number of utterances",
        ),
        (
            ("--export_format=onnx", "--export_batch_size=4", "--export_dir=model"),
            "--export_batch_size: without effect, as a model of --export_format=onnx takes any number of utterances",
        ),
        (
            ("--experiment=an4", "--lstm_chunk=32"),
            "--lstm_chunk and --lstm_chunk_offset: without effect beside --bidirectional",
        ),
        (
            ("--network=conformer", "--bidirectional", "--attention_left=3"),
            "--attention_chunk and --attention_left: without effect beside --bidirectional",
        ),
    ],
)
def test_a_setting_that_the_network_does_not_have_has_a_notice(arguments: tuple[str, ...], told: str) -> None:
    (notice,) = parse(*arguments).notices
    assert told in notice
    assert "\n" not in notice


@pytest.mark.parametrize(
    "setting",
    [
        *("lstm_layers=3", "lstm_projection=9", "lstm_chunk=4", "bidirectional", "convolutions=4"),
        *("convolution_channels=8", "output_step=80", "intermediate_ctc_weight=0.3", "convolution_kernel=5"),
        *("conformer_layers=3", "attention_heads=2", "attention_chunk=4", "attention_left=3", "convolutional_layers=3"),
        *("dropout_rate2=0.3", "dropout_rate3=0.3", "dropout_rate4=0.3", "dropout_rate6=0.3"),
    ],
)
@pytest.mark.parametrize("name", PROVIDED)
def test_a_setting_has_a_notice_in_each_network_whose_layers_it_does_not_change(name: str, setting: str) -> None:
    plain, given = parse(f"--network={name}"), parse(f"--network={name}", f"--{setting}")
    changes = network(given.model, 26, 28).layers != network(plain.model, 26, 28).layers
    assert len(list(given.notices)) == (not changes)


def test_a_flag_that_does_what_it_says_needs_no_notice() -> None:
    for arguments in (
        ("--summary_dir=summaries", "--summary_secs=9", "--fulltrace"),
        ("--summary_dir=summaries", "--notrain", "--test_files=test.csv"),
        ("--lm_weight=1", "--lm_binary_path=lm.binary"),
        ("--lm_weight=1", "--scorer_path=lm.scorer"),
        ("--experiment=fsdd",),
        ("--quantize_after=1000", "--quantize_aware"),
        ("--export_format=tflite", "--export_dir=model"),
        ("--nouse_seq_length", "--export_batch_size=4", "--export_dir=model"),
        ("--network=lstm", "--lstm_layers=2", "--intermediate_ctc_weight=0.3"),
        ("--average_checkpoints=5", "--dev_files=dev.csv", "--validation_step=1"),
        ("--average_checkpoints=5", "--notrain", "--test_files=test.csv"),
        ("--shuffle_start=0", "--shuffle_batches"),
        ("--es_epochs=3", "--dev_files=dev.csv", "--validation_step=1"),
        ("--earlystop_nsteps=5", "--dev_files=dev.csv", "--validation_step=1"),
        ("--minimum_learning_rate=0.0001", "--learning_rate_schedule=cosine"),
        ("--plateau_epochs=3", "--reduce_lr_on_plateau", "--dev_files=dev.csv", "--validation_step=1"),
        ("--network=lstm", "--lstm_layers=3", "--output_step=20", "--lstm_chunk=32"),
        ("--network=conformer", "--attention_heads=2", "--bidirectional"),
        ("--network=conformer", "--intermediate_ctc_layers=2", "--intermediate_ctc_weight=0.3"),
        ("--dropout_rate2=0.1", "--dropout_rate6=0"),
        ("--network=convolutional", "--convolutional_layers=3", "--convolution_kernel=9", "--output_step=20"),
        ("--experiment=an4_streaming", "--bidirectional"),
    ):
        assert not parse(*arguments).notices
    assert not list(parse("--lstm_layers=3", "--output_step=20").model.settings.notices("own.py:layers"))
