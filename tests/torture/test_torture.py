"""Trainings that are killed at random moments, and whose files are damaged, lose nothing.

TORTURE_ROUNDS rounds (20) are run, decided by TORTURE_SEED (1), or only campaign TORTURE_CAMPAIGN of them.
"""

import os
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from campaign import Campaign, Training, Undisturbed, story_of, undisturbed
from corpora import TinyCorpus, write_tiny_corpus
from phases import PHASES, WORK

ROUNDS = int(os.environ.get("TORTURE_ROUNDS", "20"))
SEED = os.environ.get("TORTURE_SEED", "1")
ONLY = os.environ.get("TORTURE_CAMPAIGN")

ROUNDS_OF_A_CAMPAIGN = 10
AT_ONCE = 2

ENOUGH_FOR_ALL_PHASES = 200
"""Rounds in which every phase is hit."""


def run_campaign(number: int, corpus: TinyCorpus, folder: Path, expected: Undisturbed) -> tuple[Campaign, str]:
    """Return a campaign that was run, and how it failed, if it did."""
    campaign = Campaign(corpus, folder / f"campaign-{number}", expected, f"{SEED}/{number}")
    try:
        campaign.run(ROUNDS_OF_A_CAMPAIGN)
    except Exception as error:
        again = f"TORTURE_SEED={SEED} TORTURE_CAMPAIGN={number} python -m pytest tests/torture"
        return campaign, f"campaign {number} failed; run it again with: {again}\n{story_of(error, campaign)}"
    return campaign, ""


@pytest.mark.slow
def test_torture_by_signals_and_damage_never_costs_the_best_model_or_another_loss(tmp_path: Path) -> None:
    corpus = write_tiny_corpus(tmp_path / "corpus")
    expected = undisturbed(Training(corpus, tmp_path / "undisturbed"))
    numbers = range(ROUNDS // ROUNDS_OF_A_CAMPAIGN) if ONLY is None else [int(ONLY)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        done = list(pool.map(lambda number: run_campaign(number, corpus, tmp_path, expected), numbers))
    hits = sum((campaign.hits for campaign, _ in done), Counter())
    print("hits:", dict(hits))
    for name in ("damages", "ends"):
        print(f"{name}:", dict(sum((getattr(campaign, name) for campaign, _ in done), Counter())))
    (tmp_path / "stories.txt").write_text("\n".join(line for campaign, _ in done for line in campaign.story))
    failures = [failure for _, failure in done if failure]
    assert not failures, "\n\n".join(failures)
    if ROUNDS >= ENOUGH_FOR_ALL_PHASES:
        assert {*PHASES, *WORK.values()} <= set(hits)
