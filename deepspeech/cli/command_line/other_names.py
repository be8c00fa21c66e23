"""Names that flags have in other speech and training programs, for users who try these first."""

from collections.abc import Mapping

OTHER_NAMES: Mapping[str, tuple[str, ...]] = {
    "train_files": ("train_data", "train_manifest", "train_csv", "training_files", "train_tsv"),
    "dev_files": ("val_files", "valid_files", "validation_files", "dev_data", "valid_data", "validation_data"),
    "test_files": ("test_data", "test_manifest", "test_csv"),
    "from": ("corpus", "corpus_dir", "data_dir", "dataset", "dataset_path", "data_path"),
    "checkpoint_dir": ("output_dir", "save_dir", "model_dir", "checkpoints", "checkpoint_path", "default_root_dir"),
    "summary_dir": ("logdir", "log_dir", "tensorboard", "tensorboard_dir"),
    "alphabet_config_path": ("vocab", "vocab_path", "tokens", "labels_path"),
    "train_batch_size": ("batchsize", "bs", "bsz"),
    "learning_rate": ("lr", "max_lr", "peak_lr"),
    "learning_rate_schedule": ("lr_schedule", "lr_scheduler", "lr_scheduler_type", "scheduler"),
    "clip_gradient_norm": ("grad_clip", "clip_grad", "clip_grad_norm", "max_grad_norm", "gradient_clip_val"),
    "accumulate_gradients": ("accum_grad", "grad_accum", "gradient_accumulation_steps", "accumulate_grad_batches"),
    "es_epochs": ("patience", "early_stopping_patience"),
    "max_to_keep": ("save_total_limit", "keep_last_n_checkpoints"),
    "average_checkpoints": ("avg", "average", "average_num", "avg_num"),
    "n_hidden": ("hidden_size", "hidden_dim", "hidden_units", "rnn_units"),
    "lstm_layers": ("layers", "num_layers", "n_layers", "rnn_layers", "num_encoder_layers"),
    "mixed_precision": ("amp", "use_amp", "bf16", "fp16", "use_fp16"),
    "audio_sample_rate": ("sr", "sampling_rate"),
    "intra_op_parallelism_threads": ("threads", "num_threads", "nthreads"),
    "initialize_from_weights": ("pretrained", "pretrained_model", "init_param", "init_from_ptl_ckpt"),
    "log_level": ("verbose", "verbosity", "debug", "quiet"),
    "beam_width": ("beam", "beam_size", "num_beams", "beamwidth"),
    "lm_binary_path": ("kenlm", "kenlm_model", "lm_path", "language_model"),
    "lm_alpha": ("lm_weight", "alpha"),
    "lm_beta": ("word_score", "word_insertion_bonus", "beta"),
    "scorer": ("lm", "kenlm", "language_model"),
    "hot_words": ("hotwords", "phrases", "bias_words"),
    "audio": ("wav", "file", "files", "input", "input_file", "audio_file", "audio_path", "wav_path"),
    "one_shot_infer": ("audio", "wav", "audio_file", "audio_path", "wav_path"),
    "model": ("model_path", "model_dir", "checkpoint"),
}

_GPUS = "training uses every GPU that it sees; the environment's CUDA_VISIBLE_DEVICES says which these are"
_RESUMES = "training continues by itself from the newest checkpoint in --checkpoint_dir, or in --work of an experiment"
_READERS = "recordings are read ahead on every core that this process may use; --workers are those of a cluster"
_LANGUAGE = "no language is chosen; transcripts may be in any, and --alphabet_config_path has its letters"

_ANSWERS: Mapping[str, str] = {
    **dict.fromkeys(("device", "devices", "gpu", "gpus", "n_gpu", "ngpu", "num_gpus"), _GPUS),
    **dict.fromkeys(("resume", "resume_from", "resume_from_checkpoint", "continue_from"), _RESUMES),
    **dict.fromkeys(("num_workers", "n_workers", "dataloader_num_workers", "num_data_workers"), _READERS),
    **dict.fromkeys(("lang", "language", "locale"), _LANGUAGE),
    **dict.fromkeys(("optim", "optimizer"), "the optimizer is Adam, with --weight_decay AdamW"),
}


def flags_called(name: str) -> list[str]:
    """Return the flags that other programs call `name`, which has lower-case letters and underscores."""
    return [flag for flag, names in OTHER_NAMES.items() if name in names]


def answer_in_training(name: str) -> str:
    """Return a sentence about what other programs' flag `name` asks the trainer for, or nothing."""
    return _ANSWERS.get(name, "")
