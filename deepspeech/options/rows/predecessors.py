"""The training flags of predecessors that are not flags here, with the messages for users who give them.

Flags of predecessors that have the same meaning as a flag here are that flag's name or aliases; docs/migration.md lists
all of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class ForeignFlag:
    """A flag of a predecessor.

    The values `same`, as texts, ask for what happens anyway. Any other value leads to an error with the `answer`, or to
    a notice if the flag is `ignored`.
    """

    answer: str
    same: tuple[str, ...] = ()
    switch: bool = False
    """Whether its values are true and false, so that it may be given without a value."""
    ignored: bool = False


def _switch(answer: str) -> ForeignFlag:
    return ForeignFlag(answer, same=("False",), switch=True)


def _ignored(answer: str, *same: str, switch: bool = False) -> ForeignFlag:
    return ForeignFlag(f"has no effect; {answer}", same, switch=switch, ignored=True)


def _augmentation(names: str, *same: str, switch: bool = False) -> ForeignFlag:
    return ForeignFlag(f"this is --augment with {names}; docs/augmentation.md has the parameters", same, switch=switch)


_ORDER = "this cannot be chosen; utterances are sorted by length, shortest first, or shuffled by --shuffle_batches"
_LOAD = (
    "training continues from the newest checkpoint in --save_checkpoint_dir, if there is one; --checkpoint chooses "
    "one in another --load_checkpoint_dir, and training into an empty folder begins anew"
)
_TUNING = "tune the language model's weights with bin/tune_lm.py"
_CLIENTS = "the graph's version says which clients can use it"
_CUDNN = "cuDNN is used on every GPU that supports it, and every checkpoint works with and without cuDNN"

_WARP = "warp[nt=…,wt=…]"
_OF_WARP = (
    "num_control_points",
    "time_warping_para",
    "interpolation_order",
    "regularization_weight",
    "num_boundary_points",
)
_MASKS = "frequency_mask[domain=features,n=…,size=…] and time_mask[domain=features,n=…,size=…]"
_OF_MASKS = ("freq_mask_range", "number_freq_masks", "time_mask_range", "number_time_masks")
_PITCH_AND_TEMPO = "pitch[pitch=…] and tempo[factor=…]"
_OF_PITCH_AND_TEMPO = ("min_pitch", "max_pitch", "max_tempo")

FOREIGN_FLAGS: Mapping[str, ForeignFlag] = {
    # Corpora
    "metrics_files": ForeignFlag(
        "there is no such set; add the files to --dev_files, or test them in a run with --notrain --test_files", ("",)
    ),
    "auto_input_dataset": ForeignFlag(
        "give the list to --from, with --experiment auto, which divides it and makes its alphabet", ("",)
    ),
    "vocab_file": ForeignFlag("there is no such decoder; a scorer package or --lm_trie_path holds the words", ("",)),
    "read_buffer": _ignored("recordings are read whole"),
    "cache_for_epochs": _ignored("cached features are never augmented, so they stay valid in every epoch", "0"),
    "normalize_sample_rate": _ignored("audio of another rate is always resampled", "True", switch=True),
    "reverse_train": _switch(_ORDER),
    "reverse_dev": _switch(_ORDER),
    "reverse_test": _switch(_ORDER),
    "shuffle_buffer": _ignored("--shuffle_batches shuffles all batches of an epoch"),
    # Augmentation before 0.9
    "data_aug_features_additive": _augmentation("add[domain=features,stddev=…]", "0", "0.0"),
    "data_aug_features_multiplicative": _augmentation("multiply[domain=features,stddev=…]", "0", "0.0"),
    "augmentation_speed_up_std": _augmentation("tempo[factor=…]", "0", "0.0"),
    "augmentation_spec_dropout_keeprate": _augmentation("dropout[rate=…], the share that is not kept", "1", "1.0"),
    "augmentation_sparse_warp": _augmentation(_WARP, "False", switch=True),
    **{f"augmentation_sparse_warp_{name}": _augmentation(_WARP) for name in _OF_WARP},
    "augmentation_freq_and_time_masking": _augmentation(_MASKS, "False", switch=True),
    **{f"augmentation_freq_and_time_masking_{name}": _augmentation(_MASKS) for name in _OF_MASKS},
    "augmentation_pitch_and_tempo_scaling": _augmentation(_PITCH_AND_TEMPO, "False", switch=True),
    **{f"augmentation_pitch_and_tempo_scaling_{name}": _augmentation(_PITCH_AND_TEMPO) for name in _OF_PITCH_AND_TEMPO},
    # Model and training
    "layer_norm": _switch(
        "the network deepspeech has no layer normalization; train it without, or --network lstm, which has it"
    ),
    "force_initialize_learning_rate": _ignored("each run uses its --learning_rate", "False", switch=True),
    "skip_batch_test": _ignored("no memory test comes before training", "True", "False", switch=True),
    # Checkpoints and reports
    "load": ForeignFlag(_LOAD, ("auto", "last")),
    "load_train": ForeignFlag(_LOAD, ("auto", "last")),
    "source_model_checkpoint_dir": ForeignFlag(
        "the checkpoint to begin with is in --load_checkpoint_dir, and training saves to --save_checkpoint_dir", ("",)
    ),
    "fine_tune": ForeignFlag(
        "all layers are trained, including those that --drop_source_layers keeps", ("True",), switch=True
    ),
    # Decoding
    "cutoff_prob": _ignored("the decoder considers every label, and is limited by --beam_width alone", "1", "1.0"),
    "cutoff_top_n": _ignored("the decoder considers every label, and is limited by --beam_width alone"),
    "lm_alpha_max": ForeignFlag(f"{_TUNING} --highest-weight"),
    "lm_beta_max": ForeignFlag(f"{_TUNING} --highest-bonus"),
    "n_trials": ForeignFlag(f"{_TUNING} --trials"),
    # Export
    "export_tflite": _switch("choose the format of the export with --export_format, here tflite"),
    "export_savedmodel": _switch("there is no SavedModel export; the export is a graph, output_graph.pb"),
    "export_zip": _switch("the export is not packed; --export_dir holds output_graph.pb and model.md"),
    "export_file_name": ForeignFlag(
        "the graph is always output_graph.pb in --export_dir; rename it", ("output_graph",)
    ),
    "export_model_version": ForeignFlag("the version is a whole number here, --export_version"),
    "export_min_ds_version": _ignored(_CLIENTS),
    "export_max_ds_version": _ignored(_CLIENTS),
    "export_min_stt_version": _ignored(_CLIENTS),
    "export_max_stt_version": _ignored(_CLIENTS),
    # Performance
    "train_cudnn": _ignored(_CUDNN, switch=True),
    "load_cudnn": _ignored(_CUDNN, "False", switch=True),
    "use_cudnn_rnn": _ignored(_CUDNN, switch=True),
    "cudnn_checkpoint": ForeignFlag(
        "checkpoints of DeepSpeech are read unchanged, with or without cuDNN's LSTM; name their folder with "
        "--load_checkpoint_dir",
        ("",),
    ),
    "use_allow_growth": _ignored(
        "TensorFlow does so if the environment has TF_FORCE_GPU_ALLOW_GROWTH=true", "False", switch=True
    ),
}
"""The flags by their names."""


def ignored_notice(name: str) -> str:
    """Return the line that says that a flag was ignored, and why."""
    return f"--{name}: {FOREIGN_FLAGS[name].answer}"
