"""The settings of experiments that must recognize speakers who are not in the training set.

* Features: log-mel energies, augmented differently in each epoch.
* Network: bidirectional LSTMs with layer normalization and dropout, with an output every 20 ms.
* Schedule: a learning rate that falls to 0 on a cosine.
* Result: the mean of the five checkpoints with the lowest word error rate.
"""

from ..options import (
    AugmentationOptions,
    BatchOptions,
    CheckpointOptions,
    EarlyStoppingOptions,
    FrontEndOptions,
    LearningRateOptions,
    ModelOptions,
    NetworkOptions,
    OptimizerOptions,
    Options,
    ScheduleOptions,
    SetOptions,
    with_values,
)
from ..util.augmentation.augmentation import Domain
from ..util.augmentation.kinds.gaps import Silence, Trim
from ..util.augmentation.kinds.masks import FrequencyMask, TimeMask
from ..util.augmentation.kinds.noise import Noise
from ..util.augmentation.kinds.rooms import Room
from ..util.augmentation.kinds.speed import Pitch, Speed
from ..util.augmentation.kinds.transmission import Band
from ..util.augmentation.kinds.voice import Voice
from ..util.augmentation.kinds.volume import Volume
from ..util.augmentation.ranges import Range


def masks(bands: int, pieces: int, milliseconds: int) -> tuple[FrequencyMask, TimeMask]:
    """Return SpecAugment's masks of the features with these average sizes: two of frequencies, and `pieces` of time."""
    features = Domain.FEATURES.value
    return (
        FrequencyMask(domain=features, n=Range(2), size=Range(bands, spread=bands)),
        TimeMask(domain=features, n=Range(pieces), size=Range(milliseconds, spread=milliseconds), most=0.1),
    )


NOISE = Noise(p=0.3, snr=Range(20, spread=10))

SPEED_AND_NOISE = (Speed(factor=Range(1, spread=0.12)), NOISE)

AUGMENTATIONS = AugmentationOptions.of(*SPEED_AND_NOISE, *masks(bands=10, pieces=4, milliseconds=100))

SMALL_MASKS = AugmentationOptions.of(*SPEED_AND_NOISE, *masks(bands=5, pieces=2, milliseconds=40))
"""For few hours of letters, digits or commands: a larger mask hides a whole letter, and the context does not help."""

_WIDE_SPEED = Speed(factor=Range(1, spread=0.2))

_OTHER_PLACES = (
    Room(p=0.5, rt60=Range(0.35, spread=0.2)),
    Band(p=0.6, low=Range(150, spread=149), high=Range(3200, spread=700)),
    Volume(dbfs=Range(-12, spread=15)),
    Noise(p=0.5, snr=Range(20, spread=12)),
    *masks(bands=10, pieces=1, milliseconds=30),
)

OTHER_VOICES = AugmentationOptions.of(_WIDE_SPEED, Pitch(p=0.7, pitch=Range(1, spread=0.25)), *_OTHER_PLACES)
"""For corpora with few speakers and microphones: other voices, rooms, bands and loudness."""

OTHER_PEOPLE = AugmentationOptions.of(
    _WIDE_SPEED, Voice(p=0.8, pitch=Range(1, spread=0.35), formants=Range(1, spread=0.15)), *_OTHER_PLACES
)
"""The same for a handful of speakers: it also changes the formants of the voices."""

SILENCE = Silence(p=0.3, before=Range(300, spread=300), after=Range(300, spread=300))
"""For recordings that begin and end with speech. It comes before noise, so that the silence is noisy, too."""

TRIM = Trim(p=0.5)
"""For recordings that were cut by their level, some closer than others. It comes before `SILENCE`."""

UNHEARD = Options(
    train=SetOptions(batch_size=8),
    dev=SetOptions(batch_size=16),
    test=SetOptions(batch_size=16),
    augmentation=AUGMENTATIONS,
    front_end=FrontEndOptions(feature_type="fbank", normalization="global"),
    model=ModelOptions(
        network="lstm",
        n_hidden=256,
        dropout_rate=0.3,
        settings=NetworkOptions(bidirectional=True, output_step=20, intermediate_ctc_weight=0.3),
    ),
    optimizer=OptimizerOptions(learning_rate=0.001, clip_gradient_norm=5.0),
    schedule=ScheduleOptions(
        epoch=100,
        validation_step=1,
        best_by="wer",
        early_stopping=EarlyStoppingOptions(enabled=False),
        learning_rate=LearningRateOptions(schedule="cosine", warmup_epochs=2),
    ),
    batches=BatchOptions(shuffled=True),
    checkpoints=CheckpointOptions(averaged=5),
)

UNHEARD_ON_A_GPU = with_values(
    UNHEARD,
    {
        "lstm_layers": 6,
        "n_hidden": 768,
        "train_batch_size": 32,
        "dev_batch_size": 32,
        "test_batch_size": 32,
        "epoch": 50,
    },
)
"""For 100 hours and more. With hundreds of speakers, speed, noise and SpecAugment are enough augmentation."""

MANDARIN = {"normalize_transcripts": True, "skip_bad_rows": True, "output_step": 40}
"""For Mandarin in characters: speech has fewer characters a second than letters."""
