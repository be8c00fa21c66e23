"""Every training flag of DeepSpeech 0.5 to 0.9.3 and Coqui STT 1.4 is a flag or is answered, and the docs have it."""

import re
from pathlib import Path

import pytest
from program import evaluate

from deepspeech.cli import flags
from deepspeech.cli.command_line.other_names import OTHER_NAMES
from deepspeech.cli.flags import read_command_line
from deepspeech.cli.transcribe import main as transcribe
from deepspeech.errors import FlagError
from deepspeech.options import EvaluationOptions, Options, flags_of, items_of
from deepspeech.options.rows.predecessors import FOREIGN_FLAGS

PAGE = (Path(__file__).parents[2] / "docs/migration.md").read_text(encoding="utf-8")

BOTH = """
    train_files=a.csv dev_files=a.csv test_files=a.csv metrics_files= read_buffer=1MB feature_cache= cache_for_epochs=0
    feature_win_len=32 feature_win_step=20 audio_sample_rate=16000 normalize_sample_rate=true augment=volume epochs=75
    dropout_rate=0.05 dropout_rate2=-1.0 dropout_rate3=-1.0 dropout_rate4=0.0 dropout_rate5=0.0 dropout_rate6=-1.0
    relu_clip=20.0 beta1=0.9 beta2=0.999 epsilon=1e-8 learning_rate=0.001 train_batch_size=1 dev_batch_size=1
    test_batch_size=1 export_batch_size=1 inter_op_parallelism_threads=0 intra_op_parallelism_threads=0
    use_allow_growth=false load_cudnn=false train_cudnn=false automatic_mixed_precision=false limit_train=0 limit_dev=0
    limit_test=0 reverse_train=false reverse_dev=false reverse_test=false checkpoint_dir= load_checkpoint_dir=
    save_checkpoint_dir= checkpoint_secs=600 max_to_keep=5 load_train=auto load_evaluate=auto drop_source_layers=0
    export_dir= remove_export=false export_tflite=false n_steps=16 export_zip=false export_file_name=output_graph
    export_beam_width=500 export_author_id=author export_model_name=model export_model_version=0.0.1
    export_contact_info=<contact> export_license=<license> export_language=<language> export_description=<description>
    log_level=1 show_progressbar=true log_placement=false report_count=5 summary_dir= test_output_file= n_hidden=2048
    layer_norm=false random_seed=4568 early_stop=false es_epochs=25 es_min_delta=0.05 reduce_lr_on_plateau=false
    plateau_epochs=10 plateau_reduction=0.1 force_initialize_learning_rate=false bytes_output_mode=false
    alphabet_config_path= scorer_path= beam_width=1024 lm_alpha=0.931289039105002 lm_beta=1.1834137581510284
    cutoff_prob=1.0 cutoff_top_n=300 one_shot_infer= lm_alpha_max=5 lm_beta_max=5 n_trials=2400
"""
DEEPSPEECH_ONLY = "scorer= utf8=false export_min_ds_version=0.9.3 export_max_ds_version=0.9.3"
COQUI_ONLY = """
    auto_input_dataset= vocab_file= shuffle_batches=false shuffle_start=1 shuffle_buffer=1000 skip_batch_test=false
    export_quantize=true export_savedmodel=false export_min_stt_version=1.4.0 export_max_stt_version=1.4.0
"""
OLDER = """
    lm= trie= load=auto source_model_checkpoint_dir= fine_tune=true es_steps=4 es_mean_th=0.5 es_std_th=0.5
    use_cudnn_rnn=false cudnn_checkpoint= data_aug_features_additive=0.0 data_aug_features_multiplicative=0.0
    augmentation_speed_up_std=0.0 augmentation_spec_dropout_keeprate=1.0 augmentation_sparse_warp=false
    augmentation_sparse_warp_num_control_points=1 augmentation_sparse_warp_time_warping_para=20
    augmentation_sparse_warp_interpolation_order=2 augmentation_sparse_warp_regularization_weight=0.0
    augmentation_sparse_warp_num_boundary_points=1 augmentation_freq_and_time_masking=false
    augmentation_freq_and_time_masking_freq_mask_range=5 augmentation_freq_and_time_masking_number_freq_masks=3
    augmentation_freq_and_time_masking_time_mask_range=2 augmentation_freq_and_time_masking_number_time_masks=3
    augmentation_pitch_and_tempo_scaling=false augmentation_pitch_and_tempo_scaling_min_pitch=0.95
    augmentation_pitch_and_tempo_scaling_max_pitch=1.2 augmentation_pitch_and_tempo_scaling_max_tempo=1.2
"""


def flags_in(text: str) -> dict[str, str]:
    """Return flags with their defaults, or with a value of their kind where there is no default."""
    return dict(pair.split("=", 1) for pair in text.split())


FLAGS_BY_OWNER = {
    "both": flags_in(BOTH),
    "0.9": flags_in(DEEPSPEECH_ONLY),
    "Coqui": flags_in(COQUI_ONLY),
    "older": flags_in(OLDER),
}
EVERY_FLAG = {name: value for each in FLAGS_BY_OWNER.values() for name, value in each.items()}

ROWS = {name: row for row in flags_of(Options) if row.on_command_line for name in (row.name, *row.alias_names)}


def parse(*arguments: str) -> Options:
    options = flags.parse(["--train_files=train.csv", *arguments])
    assert options is not None
    return options


@pytest.mark.parametrize(("name", "value"), EVERY_FLAG.items())
def test_every_flag_of_the_predecessors_is_accepted_or_answered(name: str, value: str) -> None:
    assert (name in ROWS) != (name in FOREIGN_FLAGS)
    try:
        parse(f"--{name}={value}")
    except FlagError as error:
        assert str(error) == f"--{name}: {FOREIGN_FLAGS[name].answer}"


@pytest.mark.parametrize("name", EVERY_FLAG)
def test_every_flag_of_the_predecessors_has_a_row_in_the_docs(name: str) -> None:
    ((where, meaning),) = re.findall(rf"^\| `{name}` \| (0\.9|Coqui|both|older) \| (.+) \|$", PAGE, re.MULTILINE)
    assert name in FLAGS_BY_OWNER[where]
    if name in FOREIGN_FLAGS:
        assert meaning == re.sub(r"--[\w-]+", r"`\g<0>`", FOREIGN_FLAGS[name].answer)
    elif name != ROWS[name].name:
        assert f"`--{ROWS[name].name}" in meaning


def test_what_is_answered_is_a_flag_of_a_predecessor_and_names_flags_that_there_are() -> None:
    assert FOREIGN_FLAGS.keys() <= EVERY_FLAG.keys()
    of_other_programs = {"highest-weight", "highest-bonus", "trials"}
    for flag in FOREIGN_FLAGS.values():
        named = set(re.findall(r"--([\w-]+)", flag.answer))
        assert {name.removeprefix("no") if name == "notrain" else name for name in named} <= {*ROWS, *of_other_programs}


@pytest.mark.parametrize(
    ("argument", "same"),
    [
        ("--epochs=12", "--epoch=12"),
        ("--scorer=a.scorer", "--scorer_path=a.scorer"),
        ("--lm_alpha=0.9", "--lm_weight=0.9"),
        ("--lm_beta=1.2", "--valid_word_count_weight=1.2"),
        ("--feature_cache=train.h5", "--train_cached_features_path=train.h5"),
        ("--automatic_mixed_precision", "--mixed_precision=on"),
        ("--noautomatic_mixed_precision", "--mixed_precision=off"),
        ("--early_stop=false", "--noearly_stop"),
        ("--bytes_output_mode", "--output_unit=bytes"),
        ("--utf8=false", "--output_unit=characters"),
        ("--es_steps=6", "--earlystop_nsteps=6"),
    ],
)
def test_a_flag_has_the_same_effect_by_each_of_its_names(argument: str, same: str) -> None:
    assert parse(argument) == parse(same)


def test_the_length_and_step_of_windows_can_be_chosen() -> None:
    features = parse("--feature_win_len=25", "--feature_win_step=10").features
    assert (features.window_ms, features.step_ms) == (25, 10)


def test_two_names_of_a_flag_with_two_values_are_an_error_that_names_both() -> None:
    with pytest.raises(FlagError, match=r"--epoch and --epochs"):
        parse("--epochs=3", "--epoch=4")
    assert parse("--epochs=3", "--epoch=3").schedule.epoch == 3


def test_a_wrong_value_is_blamed_on_the_name_that_was_given() -> None:
    with pytest.raises(FlagError, match="--lm_alpha=nan: must be"):
        parse("--lm_alpha=nan")


@pytest.mark.parametrize("argument", ["--train_cudnn", "--cutoff_top_n=40", "--read_buffer=2MB", "--use_allow_growth"])
def test_a_flag_of_a_predecessor_without_effect_says_so_once(argument: str) -> None:
    (notice,) = parse(argument).notices
    assert notice.startswith(f"{argument.partition('=')[0]}: has no effect; ")


@pytest.mark.parametrize(
    "argument", ["--noreverse_train", "--layer_norm=false", "--cutoff_prob=1.0", "--load_train=last"]
)
def test_a_flag_that_asks_for_what_happens_anyway_is_accepted_without_a_word(argument: str) -> None:
    assert parse(argument).notices == ()


def test_a_flag_that_may_come_with_several_values_is_given_once_for_each() -> None:
    assert parse("--augment=volume", "--augment=pitch[p=0.5]").augmentation.written == ("volume", "pitch[p=0.5]")
    with pytest.raises(FlagError, match="unexpected argument 'pitch'; give --augment once for each augmentation"):
        parse("--augment", "volume[p=0.1]", "pitch")
    with pytest.raises(FlagError, match="--augment=a: there is no augmentation a; there are speed, "):
        parse("--augment=a", "--augment=volume")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("--trian_files=a.csv", "--train_files"),
        ("--epocs=3", "--epochs"),
        ("--checkpoints_dir=a", "--checkpoint_dir"),
        ("--noearly_stopp", "--noearly_stop"),
        ("--dropout=0.1", "--dropout_rate"),
        ("--batch_size=2", "--train_batch_size"),
        ("--seed=2", "--random_seed"),
        ("--TRAIN-FILES=a.csv", "--train_files"),
        ("--per_device_train_batch_size=2", "--train_batch_size"),
        ("--lr=0.1", "--learning_rate"),
        ("--max-grad-norm=5", "--clip_gradient_norm"),
        ("--output_dir=a", "--checkpoint_dir"),
        ("--validation_files=a.csv", "--dev_files"),
        ("--hidden_size=3", "--n_hidden"),
    ],
)
def test_the_flag_that_was_meant_is_named(typed: str, meant: str) -> None:
    with pytest.raises(FlagError, match=rf"there is no such flag; did you mean {meant}\?"):
        parse(typed)


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("--gpus=2", "training uses every GPU that it sees"),
        ("--resume", "training continues by itself from the newest checkpoint in --checkpoint_dir"),
        ("--num_workers=4", "recordings are read ahead on every core"),
        ("--Language=de", "transcripts may be in any"),
    ],
)
def test_what_other_programs_ask_for_by_a_flag_is_answered(typed: str, answer: str) -> None:
    with pytest.raises(FlagError, match=f"there is no such flag; .*{answer}"):
        parse(typed)
    with pytest.raises(FlagError, match="there is no such flag; see --help"):
        read_command_line([typed], EvaluationOptions(), "Test a model.")


def test_names_of_other_programs_stand_for_flags_that_exist() -> None:
    of_commands = {"audio", "model", "scorer", "hot_words", "lm_alpha", "lm_beta"}
    assert OTHER_NAMES.keys() <= ROWS.keys() | of_commands
    assert not ROWS.keys() & {name for flag, names in OTHER_NAMES.items() if flag not in of_commands for name in names}


def test_nothing_is_named_for_a_flag_that_is_like_no_other() -> None:
    with pytest.raises(FlagError, match="--wav2vec: there is no such flag; see --help"):
        parse("--wav2vec=1")


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [(("--early_stop", "true"), "--flag=true"), (("--dev_files", "a.csv", "b.csv"), "separated by commas")],
)
def test_values_written_as_for_coqui_are_told_how_they_are_written_here(arguments: tuple[str, ...], hint: str) -> None:
    with pytest.raises(FlagError, match=re.escape(hint)):
        parse(*arguments)


def test_a_switch_with_no_and_a_value_is_an_error() -> None:
    with pytest.raises(FlagError, match="--notrain=3"):
        parse("--notrain=3")


def test_an_evaluation_takes_the_same_names_and_says_what_has_no_effect() -> None:
    done = evaluate("--model=none.pb", "--test_files=a.csv", "--scorer=a", "--lm_binary_path=b", "--cutoff_top_n=40")
    assert done.returncode == 1
    assert "--cutoff_top_n: has no effect" in done.stderr
    assert "--scorer_path: cannot be combined" in done.stderr


def test_a_tilde_is_the_home_folder_in_every_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    paths = [row.name for row in flags_of(Options) if row.kind in (Path | None, tuple[Path, ...])]
    assert len(paths) > 15
    read = read_command_line([f"--{name}=~/a" for name in paths], Options(), "")
    assert read is not None
    assert {row.text(value) for row, value in items_of(read.options) if row.name in paths} == {str(tmp_path / "a")}


def test_a_tilde_is_the_home_folder_in_lists_and_in_names_in_files(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    read = read_command_line(
        ["--train_files=~/a.csv,b.csv,~nobody-of-this-name/c.csv", "--network=~/mine.py:mine"], Options(), ""
    )
    assert read is not None
    assert read.options.train.files == (tmp_path / "a.csv", Path("b.csv"), Path("~nobody-of-this-name/c.csv"))
    assert read.options.model.network == f"{tmp_path}/mine.py:mine"


def test_a_tilde_is_the_home_folder_in_arguments_of_other_commands(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert transcribe(["--model=~/no.pb", "--audio=no.wav"]) == 1
    assert str(tmp_path / "no.pb") in capsys.readouterr().err
