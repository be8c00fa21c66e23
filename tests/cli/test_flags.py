import subprocess
import sys
from pathlib import Path

import pytest
from corpora import write_alphabet
from hypothesis import given
from hypothesis import strategies as st

from deepspeech.cli import flags
from deepspeech.errors import FlagError
from deepspeech.options import Options, flags_of
from deepspeech.util.transcripts import Normalizer


def parse(*arguments: str) -> Options:
    options = flags.parse(["--train_files", "train.csv", *arguments])
    assert options is not None
    return options


def test_defaults_are_those_of_deepspeech() -> None:
    options = parse()
    assert options.schedule.epoch == 75
    assert options.model.n_hidden == 2048
    assert options.model.relu_clip == 20
    assert options.model.dropout_rates == (0.05, 0.05, 0.05, 0, 0, 0.05)
    assert options.optimizer.learning_rate == 0.001
    assert options.language_model.beam_width == 1024
    assert options.language_model.lm_weight == 1.5
    assert options.language_model.valid_word_count_weight == 2.25
    assert options.checkpoints.seconds == 600
    assert options.checkpoints.directory.parts[-2:] == ("deepspeech", "checkpoints")
    assert options.random_seed == 4567
    assert options.alphabet_path is not None
    assert options.alphabet_path.is_file()


def test_several_files_are_separated_by_commas() -> None:
    assert parse("--train_files=a.csv,b.csv").train.files == (Path("a.csv"), Path("b.csv"))


def test_dropout_of_layers_2_3_and_5_defaults_to_that_of_layer_1() -> None:
    options = parse("--dropout_rate=0.3", "--dropout_rate3=0.1", "--dropout_rate4=0.2")
    assert options.model.dropout_rates == (0.3, 0.3, 0.1, 0.2, 0.0, 0.3)


def test_notrain_leaves_the_training_files_alone() -> None:
    options = parse("--notrain", "--test_files=test.csv")
    assert not options.trains
    assert options.tests


def test_how_transcripts_are_normalized_is_a_flag_of_those_that_are(tmp_path: Path) -> None:
    options = parse("--normalize_transcripts", "--transcript_case=upper", "--keep_punctuation='-")
    assert options.transcripts.normalizer == Normalizer("upper", "'-")
    assert parse().transcripts.normalizer is None
    decomposed = write_alphabet(tmp_path / "alphabet.txt", ["a", "e\u0301"])
    read = parse("--normalize_transcripts", f"--alphabet_config_path={decomposed}").load_alphabet()
    assert read.labels == ("a", "\u00e9")
    with pytest.raises(FlagError, match=r"^--transcript_case: needs --normalize_transcripts$"):
        parse("--transcript_case=upper")


def test_a_given_alphabet_is_looked_for_where_the_user_is() -> None:
    assert parse("--alphabet_config_path=data/alphabet.txt").alphabet_path == Path("data/alphabet.txt")


@pytest.mark.parametrize(
    ("argument", "named"),
    [
        ("--train_batch_size=0", "train_batch_size"),
        ("--export_beam_width=20000", "--export_beam_width=20000: must be 1 to 16384"),
        ("--n_steps=5000", "--n_steps=5000: must be 1 to 4096"),
        ("--convolutions=3", "--convolutions=3: must be one of 2, 4"),
        ("--export_batch_size=3000000000", "--export_batch_size=3000000000: must be 1 to 4096"),
        ("--n_hidden=99999999999999999999", "--n_hidden=99999999999999999999: must be 1 to 65536"),
        ("--intra_op_parallelism_threads=9999999999", "must be 0 to 65536"),
        ("--n_hidden=many", "--n_hidden=many: must be a whole number"),
        ("--learning_rate=fast", "--learning_rate=fast: must be a number"),
        ("--epochs=1.5", "--epochs=1.5: must be a whole number"),
        ("--early_stop=maybe", "--early_stop=maybe: must be true or false; switches are --flag and --noflag"),
        ("--dropout_rate=1", "dropout_rate"),
        ("--dropout_rate2=1.5", "dropout_rate2"),
        ("--learning_rate=0", "learning_rate"),
        ("--random_seed=-1", "--random_seed=-1: must be 0 or more"),
        ("--learning_rate=nan", "learning_rate"),
        ("--relu_clip=inf", "relu_clip"),
        ("--beta1=1", "beta1"),
        ("--feature_type=mel", "feature_type"),
        ("--log_level=7", "log_level"),
        ("--audio_sample_rate=22050", "audio_sample_rate"),
        ("--earlystop_nsteps=1", "earlystop_nsteps"),
        ("--wer_log_pattern=%s %d", "wer_log_pattern"),
        ("--validation_step=2", "validation_step"),
        ("--lm_trie_path=trie", "lm_trie_path"),
        ("--beam_width=0", "beam_width"),
        ("--no_such_flag=1", "no_such_flag"),
        ("--checkpoint_secs=-1", "checkpoint_secs"),
    ],
)
def test_a_wrong_value_is_one_line_that_names_the_flag(argument: str, named: str) -> None:
    with pytest.raises(FlagError) as caught:
        parse(argument)
    message = str(caught.value)
    assert named in message
    assert "\n" not in message


def test_a_file_of_flags_stands_for_its_lines(tmp_path: Path) -> None:
    inner, outer = tmp_path / "inner", tmp_path / "outer"
    inner.write_bytes(b"\xef\xbb\xbf--epochs=3\r\n\r\n# not --epochs=4\r\n")  # as editors of Windows write it
    outer.write_bytes(b"--test_files=test \xff.csv\n-flagfile=%s\n--learning_rate=0.5\n" % bytes(inner))
    options = parse("--learning_rate=0.1", f"--flagfile={outer}", "--n_hidden=16", "--flagfile=")
    assert options.schedule.epoch == 3
    assert options.test.files == (Path("test \udcff.csv"),)
    assert (options.optimizer.learning_rate, options.model.n_hidden) == (0.5, 16)


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        (
            "--notest\n--epochs 10\n",
            "{path}:2: '--epochs 10' is not a flag; write one flag per line, with = before its value",
        ),
        ("epochs=10", "{path}:1: 'epochs=10' is not a flag"),
        ("--flagfile={path}", "--flagfile={path}: the file names itself"),
        ("--flagfile=/nowhere/flags", "--flagfile=/nowhere/flags: cannot be read (No such file or directory)"),
    ],
)
def test_a_file_of_flags_that_cannot_be_used_is_named(tmp_path: Path, lines: str, complaint: str) -> None:
    path = tmp_path / "flags"
    path.write_text(lines.format(path=path))
    with pytest.raises(FlagError) as caught:
        parse(f"--flagfile={path}")
    assert str(caught.value).startswith(complaint.format(path=path))


def test_a_file_of_flags_in_utf_16_is_named(tmp_path: Path) -> None:
    path = tmp_path / "flags"
    path.write_text("--epochs=10\n", encoding="utf-16")
    with pytest.raises(FlagError, match=rf"^--flagfile={path}: holds null characters; save it as UTF-8 text$"):
        parse(f"--flagfile={path}")


def test_a_file_of_flags_must_be_named() -> None:
    with pytest.raises(FlagError, match=r"^--flagfile: must name a file$"):
        parse("--flagfile")


@given(st.text(min_size=1), st.sampled_from(["epoch", "relu_clip", "train_batch_size", "train", "log_level"]))
def test_any_text_is_either_a_value_or_a_flag_error(value: str, name: str) -> None:
    try:
        parse(f"--{name}={value}")
    except FlagError as error:
        assert "\n" not in str(error)


def test_weights_of_a_scorer_package_give_way_to_weights_on_the_command_line() -> None:
    assert not parse("--scorer_path=a.scorer").language_model.weights_chosen
    assert parse("--scorer_path=a.scorer", "--lm_weight=1").language_model.weights_chosen


def test_one_feature_cache_for_two_sets_is_an_error_that_names_both_flags() -> None:
    train, dev = "--train_cached_features_path=all.h5", f"--dev_cached_features_path={Path('all.h5').resolve()}"
    with pytest.raises(FlagError, match=r"--train_cached_features_path and --dev_cached_features_path: .*all\.h5"):
        parse(train, dev, "--dev_files=dev.csv")
    parse(train, dev, "--dev_files=train.csv")
    parse(train, dev.replace("all", "other"), "--dev_files=dev.csv")


def test_nothing_to_do_is_an_error_that_says_what_to_give() -> None:
    for flags_given, answer in {
        "": "nothing to do: give --train_files, --test_files, --one_shot_infer or --export_dir;",
        "--train_files=a.csv --notrain": "nothing to do with --notrain: give --test_files, --one_shot_infer or ",
        "--experiment=fsdd --notrain --notest": "nothing to do with --notrain and --notest: give --one_shot_infer or ",
        "--one_shot_infer=a.wav --test_files=a.csv --notest --report_dir=r": "--report_dir: needs a test; leave out ",
    }.items():
        with pytest.raises(FlagError, match=answer):
            flags.parse(flags_given.split())


def test_a_port_is_not_given_twice() -> None:
    with pytest.raises(FlagError, match="--probe_port=8080: is --status_port, too"):
        flags.parse(["--train_files=a.csv", "--status_port=8080", "--probe_port=8080"])
    cluster = ["--train_files=a.csv", "--ps_hosts=a:1", "--worker_hosts=b:1,c:1", "--job_name=worker"]
    ports = ["--coord_port=8080", "--probe_port=8080"]
    with pytest.raises(FlagError, match="--probe_port=8080: is --coord_port, too"):
        flags.parse([*cluster, *ports])
    assert flags.parse([*cluster, *ports, "--task_index=1"])
    assert flags.parse([*cluster, *ports, "--probe_host=127.0.0.2"])


def test_a_stray_argument_is_an_error() -> None:
    with pytest.raises(FlagError, match=r"train\.csv"):
        flags.parse(["train.csv"])


def test_help_lists_every_flag_without_the_packages_of_training() -> None:
    code = (
        "import sys; from deepspeech.commands import PACKAGES_OF_TRAINING;"
        "sys.modules.update(dict.fromkeys(PACKAGES_OF_TRAINING));"
        "from deepspeech.cli.train import main; sys.exit(main(['--help']))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    for row in flags_of(Options):
        assert (f"--{row.name}" in shown or f"--[no]{row.name}" in shown) == row.on_command_line


def test_the_program_prints_one_line_and_exits_with_1_for_a_wrong_flag() -> None:
    command = [sys.executable, "-m", "deepspeech", "--train_batch_size=none"]
    finished = subprocess.run(command, capture_output=True, text=True)
    assert finished.returncode == 1
    assert finished.stdout == ""
    assert len(finished.stderr.splitlines()) == 1
    assert "train_batch_size" in finished.stderr
