"""The user's own recordings, and corpora without special settings: from any format to a first model and report.

Labels are the characters of the normalized transcripts. Unusable rows are left out. The network is small enough for a
few cores, and large enough for some fifty hours.
"""

from dataclasses import replace

from ..options import (
    BadRowOptions,
    ModelOptions,
    OptimizerOptions,
    Options,
    ScheduleOptions,
    SetOptions,
    TranscriptOptions,
)
from .experiment import Experiment, register

OF_ANY_LANGUAGE = Experiment(
    cached_sets=("train", "dev"),
    makes_alphabet=True,
    writes_report=True,
    options=Options(
        train=SetOptions(batch_size=16),
        dev=SetOptions(batch_size=16),
        test=SetOptions(batch_size=16),
        bad_rows=BadRowOptions(skip=True),
        transcripts=TranscriptOptions(normalize=True),
        model=ModelOptions(n_hidden=512, dropout_rate=0.3),
        optimizer=OptimizerOptions(learning_rate=0.0005),
        schedule=ScheduleOptions(epoch=50, validation_step=1),
    ),
)

SUMMARIES = {
    "audio_folder": "recordings with metadata, as in datasets' audiofolder",
    "fleurs": "one language of FLEURS",
    "folder": "recordings, each with a text or annotations beside it",
    "gigaspeech": "GigaSpeech or WenetSpeech, all of it or a part",
    "json_lines": "recordings and transcripts in JSON lines",
    "kaldi": "a Kaldi data directory",
    "ksponspeech": "KsponSpeech, all of it or a part",
    "lhotse": "manifests of Lhotse, as its recipes write them",
    "libritts": "LibriTTS, the parts in the folder",
    "ljspeech": "LJSpeech and corpora with its layout",
    "mgb": "MGB-2 or QASR, Arabic television",
    "mls": "one language of Multilingual LibriSpeech",
    "nchlt": "one language of NCHLT, those of South Africa",
    "parallel_lines": "lists of fairseq, MuST-C, mTEDx or Europarl-ST",
    "parquet": "recordings in Parquet files, as on the Hugging Face hub",
    "table": "recordings, and tables with any columns that name them",
    "tedlium": "TED-LIUM, all of it or a part",
    "timit": "TIMIT",
    "tuda_de": "Tuda-De, the German Distant Speech Corpus",
    "vctk": "VCTK",
    "voxforge": "VoxForge, all submissions in the folder",
}
"""The summary of each format."""

for _format, _summary in SUMMARIES.items():
    register(
        _format,
        replace(OF_ANY_LANGUAGE, corpus=_format, summary=f"{_summary}, 1 to 50 hours: batches of 16, a few cores"),
    )
