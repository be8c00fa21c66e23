"""The alerting rules of deploy/monitoring/ ask for metrics that exist, and fire when they say."""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from deepspeech.cluster.coordination.coordinator import ClusterCoordinator
from deepspeech.cluster.coordination.membership import ClusterSettings
from deepspeech.cluster.coordination.status import status_of
from deepspeech.cluster.http.metrics import PHASES, render_metrics
from deepspeech.cluster.monitoring.metrics import render_node
from deepspeech.cluster.monitoring.node_record import NodeRecord
from deepspeech.serving.server.metrics import Metrics

ALERTS = Path(__file__).parents[2] / "deploy/monitoring/alerts.yaml"

STREAM = 'deepspeech_server_streams_limit{instance="s", job="j"}'
NODE = 'deepspeech_node_info{instance="s", job="j"}'
UP = 'up{instance="s", job="j"}'
STALLED = 'deepspeech_stalled_seconds{instance="s", job="j"}'
FINAL = 'deepspeech_server_final_latency_seconds_bucket{instance="s", job="j", '

FIRING: dict[str, dict[str, str]] = {
    "DeepSpeechTrainingStalls": {
        STALLED: "0+30x120",
        'deepspeech_phase{phase="training", instance="s", job="j"}': "1x120",
        'deepspeech_phase{phase="testing", instance="s", job="j"}': "0x120",
    },
    "DeepSpeechNodesMissing": {"deepspeech_missing_nodes": "1x120"},
    "DeepSpeechNodeDown": {UP: "1x100 0x20", NODE: "1x100 stale"},
    "DeepSpeechRestartsOften": {"deepspeech_restarts_total": "0x60 0+0.1x60"},
    "DeepSpeechCheckpointOld": {"deepspeech_checkpoint_age_seconds": "0+60x120"},
    "DeepSpeechWorkerStraggles": {'deepspeech_member_straggles{member="worker 1"}': "1x120"},
    "DeepSpeechWorkerWaitsForBatches": {'deepspeech_member_time_ratio{activity="feeding"}': "0.4x120"},
    "DeepSpeechServerDown": {UP: "1x100 0x20", STREAM: "10x100 stale"},
    "DeepSpeechServerLate": {"deepspeech_server_queue_seconds": "0.8x120"},
    "DeepSpeechServerFinalsLate": {f'{FINAL}le="5"}}': "0+9x120", f'{FINAL}le="+Inf"}}': "0+10x120"},
    "DeepSpeechServerRefuses": {'deepspeech_server_refused_total{code="server_busy"}': "0+60x120"},
    "DeepSpeechServerFails": {'deepspeech_server_refused_total{code="internal_error"}': "0x110 1x10"},
    "DeepSpeechModelNotReloaded": {'deepspeech_server_model_reload_failures_total{model="en"}': "0x90 1x30"},
}
"""Series at intervals of a minute, in the notation of promtool, for which an alert fires after two hours."""

QUIET: dict[str, str] = {
    'deepspeech_phase{phase="over", instance="s", job="j"}': "1x120",
    'deepspeech_phase{phase="training", instance="s", job="j"}': "0x120",
    STALLED: "0+30x120",
    "deepspeech_missing_nodes": "0x110 1 0 1 0 1 0 1 0 0",
    UP: "1x120",
    'up{instance="another", job="node exporter"}': "0x120",
    NODE: "1x120",
    STREAM: "10x120",
    "deepspeech_restarts_total": "0 1 2 3 3x116",
    "deepspeech_checkpoint_age_seconds": "0+20x120",
    'deepspeech_member_straggles{member="worker 1"}': "0x114 1x4",
    'deepspeech_member_time_ratio{activity="feeding"}': "0.1x120",
    'deepspeech_member_time_ratio{activity="computing"}': "0.9x120",
    "deepspeech_server_queue_seconds": "0.1x120",
    f'{FINAL}le="0.1"}}': "0+10x120",
    f'{FINAL}le="+Inf"}}': "0+10x120",
    'deepspeech_server_refused_total{code="server_busy"}': "0x60 10x60",
    'deepspeech_server_refused_total{code="invalid_api_key"}': "0+100x120",
    'deepspeech_server_model_reload_failures_total{model="en"}': "3x120",
}
"""Series of a training that is over, and of a server that works, for which no alert fires."""


def rules() -> list[dict[str, Any]]:
    groups = yaml.safe_load(ALERTS.read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


def test_every_metric_of_a_rule_exists() -> None:
    coordinator = ClusterCoordinator(ClusterSettings(4, 1, 4, 4, 5.0), {})
    status = {**status_of(coordinator, time.monotonic()), "checkpoint_age": 0.0}
    texts = [render_metrics(status)[0], render_node(NodeRecord("worker 0"))[0], Metrics().text()[0]]
    families = [family for text in texts for family in text_string_to_metric_families(text.decode())]
    known = {family.name for family in families}
    for rule in rules():
        asked = set(re.findall(r"\bdeepspeech_\w+", rule["expr"]))
        assert asked, rule["alert"]
        assert {re.sub("_(total|bucket)$", "", name) for name in asked} <= known, rule["alert"]


def test_phases_of_a_rule_exist() -> None:
    written = [text for rule in rules() for text in re.findall(r'phase=~?"([^"]*)"', rule["expr"])]
    assert {phase for text in written for phase in text.split("|")} <= set(PHASES)


def test_every_rule_has_a_test() -> None:
    assert [rule["alert"] for rule in rules()] == list(FIRING)


@pytest.mark.skipif(shutil.which("promtool") is None, reason="needs promtool, of Debian's package prometheus")
def test_alerts_fire_when_they_say(tmp_path: Path) -> None:
    scenarios = [(series, [alert]) for alert, series in FIRING.items()] + [(QUIET, [])]
    tests = [
        {
            "interval": "1m",
            "input_series": [{"series": name, "values": values} for name, values in series.items()],
            "promql_expr_test": [
                {
                    "expr": 'count by (alertname) (ALERTS{alertstate="firing"})',
                    "eval_time": "2h",
                    "exp_samples": [{"labels": f'{{alertname="{alert}"}}', "value": 1} for alert in alerts],
                }
            ],
        }
        for series, alerts in scenarios
    ]
    file = tmp_path / "tests.yaml"
    file.write_text(yaml.safe_dump({"rule_files": [str(ALERTS)], "evaluation_interval": "1m", "tests": tests}))
    ended = subprocess.run(
        ["promtool", "test", "rules", file], capture_output=True, text=True, timeout=120, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
