"""Every flag with its default and meaning, in the groups in which the help page shows them."""

from collections.abc import Callable

from absl import flags as absl_flags

from .cluster_flags import CLUSTER_FLAGS
from .language_model_flags import LANGUAGE_MODEL_FLAGS

_Define = Callable[..., object]
_string: _Define
_integer: _Define
_float: _Define
_bool: _Define
_string, _integer, _float, _bool = (
    absl_flags.DEFINE_string,
    absl_flags.DEFINE_integer,
    absl_flags.DEFINE_float,
    absl_flags.DEFINE_bool,
)
_DEFINE_BY_TYPE: dict[type, _Define] = {str: _string, int: _integer, float: _float}

FLAG_GROUPS: tuple[tuple[str, tuple[tuple[_Define, str, object, str], ...]], ...] = (
    (
        "Corpora",
        (
            (_string, "train_files", "", "CSV files to train on, separated by commas"),
            (_string, "dev_files", "", "CSV files to validate on, separated by commas"),
            (_string, "test_files", "", "CSV files to test on, separated by commas"),
            (_string, "train_cached_features_path", "", "HDF5 file that keeps the features of the training set"),
            (_string, "dev_cached_features_path", "", "HDF5 file that keeps the features of the validation set"),
            (_string, "test_cached_features_path", "", "HDF5 file that keeps the features of the test set"),
            (_integer, "train_batch_size", 1, "utterances per training batch and device"),
            (_integer, "dev_batch_size", 1, "utterances per validation batch and device"),
            (_integer, "test_batch_size", 1, "utterances per test batch and device"),
            (_integer, "limit_train", 0, "use only so many of the shortest training utterances; 0: all"),
            (_integer, "limit_dev", 0, "use only so many of the shortest validation utterances; 0: all"),
            (_integer, "limit_test", 0, "use only so many of the shortest test utterances; 0: all"),
            (_bool, "skip_bad_rows", False, "leave out rows that cannot be used, instead of stopping"),
            (_string, "alphabet_config_path", "data/alphabet.txt", "the labels, one a line; default: the packaged one"),
            (_integer, "audio_sample_rate", 16000, "the model's sample rate in Hz; other audio is resampled"),
            (_string, "feature_type", "audio_ops", "front end: audio_ops (TensorFlow's MFCC) or psf"),
        ),
    ),
    (
        "Model",
        (
            (_integer, "n_hidden", 2048, "units of each hidden layer"),
            (_float, "relu_clip", 20.0, "upper limit of the clipped ReLU"),
            (_float, "dropout_rate", 0.05, "dropout of layer 1, and of layers 2, 3 and 5 unless given"),
            (_float, "dropout_rate2", -1.0, "dropout of layer 2; negative: dropout_rate"),
            (_float, "dropout_rate3", -1.0, "dropout of layer 3; negative: dropout_rate"),
            (_float, "dropout_rate4", 0.0, "dropout of the LSTM's input"),
            (_float, "dropout_rate5", 0.0, "dropout of the LSTM's output (once the backward LSTM's)"),
            (_float, "dropout_rate6", -1.0, "dropout of layer 5; negative: dropout_rate"),
            (_bool, "use_warpctc", False, "once chose a CTC loss; the device's fastest is always used now"),
        ),
    ),
    (
        "Training",
        (
            (_bool, "train", True, "whether to train, if train_files are given"),
            (_bool, "test", True, "whether to test, if test_files are given"),
            (_integer, "epoch", 75, "epochs to train in all; negative: so many more"),
            (_float, "learning_rate", 0.001, "Adam's learning rate"),
            (_float, "beta1", 0.9, "Adam's beta 1"),
            (_float, "beta2", 0.999, "Adam's beta 2"),
            (_float, "epsilon", 1e-8, "Adam's epsilon"),
            (_integer, "random_seed", 4567, "seed of initial weights and dropout"),
            (_integer, "validation_step", 0, "validate after every so many epochs; 0: never"),
            (_bool, "early_stop", True, "stop when validation no longer improves"),
            (_integer, "earlystop_nsteps", 4, "validations that early stopping looks at"),
            (_float, "estop_mean_thresh", 0.5, "stop if the loss is this near to the mean of those before"),
            (_float, "estop_std_thresh", 0.5, "and their standard deviation is below this"),
            (_integer, "iters_per_worker", 1, "steps per job of a worker; each takes a batch per device"),
        ),
    ),
    ("Cluster", CLUSTER_FLAGS),
    (
        "Checkpoints, logs and summaries",
        (
            (_string, "checkpoint_dir", "", "folder of the checkpoints; default: deepspeech/checkpoints in XDG's data"),
            (_integer, "checkpoint_secs", 600, "seconds between checkpoints; 0: only at the end"),
            (_integer, "max_to_keep", 5, "checkpoints to keep"),
            (_string, "initialize_from_frozen_model", "", "exported graph to begin with where there is no checkpoint"),
            (_integer, "drop_source_layers", 0, "last layers of that graph that are begun anew; 1 for a new alphabet"),
            (
                _string,
                "summary_dir",
                "",
                "folder of the TensorBoard summaries; default: deepspeech/summaries in XDG's data",
            ),
            (_integer, "summary_secs", 0, "seconds between summaries; 0: none are written"),
            (_bool, "fulltrace", False, "add a full trace of a step to each summary"),
            (_integer, "log_level", 1, "0: debug, 1: info, 2: warnings, 3: errors"),
            (_bool, "log_traffic", False, "log what goes to and from the coordinator"),
            (_bool, "log_placement", False, "log the device of each operation"),
            (_bool, "show_progressbar", True, "show progress bars on a terminal"),
            (
                _string,
                "wer_log_pattern",
                "",
                "pattern with %s, %s and %f for set, date and word error rate, printed to stdout",
            ),
            (_integer, "display_step", 0, "report the training set's word error rate every so many epochs; 0: never"),
            (_integer, "report_count", 10, "wrongly transcribed utterances in a report: those of lowest loss, by WER"),
        ),
    ),
    (
        "Decoding",
        (
            *((_DEFINE_BY_TYPE[type(default)], name, default, text) for name, default, text in LANGUAGE_MODEL_FLAGS),
            (_string, "decoder_library_path", "", "once the decoder's library; it is part of the package now"),
            (_string, "one_shot_infer", "", "transcribe this audio file and print the text"),
        ),
    ),
    (
        "Export",
        (
            (_string, "export_dir", "", "folder to export the model to, as output_graph.pb and model.md"),
            (_integer, "export_version", 1, "version of the model, for its card"),
            (_bool, "remove_export", False, "delete an older export in export_dir"),
            (_bool, "use_seq_length", True, "let the graph stop at the length of its input"),
            (_integer, "n_steps", 16, "time steps that a run of the graph takes; more mean a later answer"),
            (_integer, "export_batch_size", 1, "utterances that a run of the graph takes; clients need 1"),
            (_integer, "export_beam_width", 500, "beam width of clients that do not choose one"),
            (_string, "export_language", "", "language of the model, such as en-US"),
        ),
    ),
    (
        "Performance",
        (
            (
                _string,
                "mixed_precision",
                "auto",
                "training's products in bfloat16: on, off, or auto where it is faster",
            ),
            (_integer, "inter_op_parallelism_threads", 0, "operations run at once; 0: TensorFlow chooses"),
            (_integer, "intra_op_parallelism_threads", 0, "threads of an operation; 0: TensorFlow chooses"),
        ),
    ),
)
