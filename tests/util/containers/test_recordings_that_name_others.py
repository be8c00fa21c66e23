"""Files that look like recordings and name other files, which ffmpeg could open."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
import soundfile

from deepspeech.util.audio import read_audio
from deepspeech.util.errors import AudioError

RATE = 16_000

MANIFEST = """<!--ftypjp2 --><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" minBufferTime="PT1S"
 profiles="urn:mpeg:dash:profile:isoff-on-demand:2011" mediaPresentationDuration="PT2S"><Period>
<AdaptationSet contentType="audio" mimeType="audio/mp4"><Representation id="a" mimeType="audio/mp4" bandwidth="64000">
<BaseURL>file://ANOTHER</BaseURL></Representation></AdaptationSet></Period></MPD>
"""
"""Begins as an MP4 for a reader of its first bytes, and is a list of other files for ffmpeg, which reads on."""


def test_the_sound_of_a_file_that_a_recording_names_is_not_read(tmp_path: Path) -> None:
    program = shutil.which("ffmpeg")
    if program is None:
        pytest.skip("ffmpeg is not installed")
    soundfile.write(tmp_path / "tone.wav", np.sin(np.arange(2 * RATE) / 9) / 2, RATE)
    private = tmp_path / "private.mp4"
    fragments = "+frag_keyframe+empty_moov+default_base_moof"
    command = [program, "-loglevel", "error", "-i", str(tmp_path / "tone.wav")]
    subprocess.run([*command, "-codec:a", "aac", "-movflags", fragments, str(private)], check=True)
    assert len(read_audio(private, RATE)) > RATE
    (tmp_path / "sent.mp4").write_text(MANIFEST.replace("ANOTHER", str(private)))
    with pytest.raises(AudioError, match=r"sent\.mp4: ffmpeg cannot decode it"):
        read_audio(tmp_path / "sent.mp4", RATE)
