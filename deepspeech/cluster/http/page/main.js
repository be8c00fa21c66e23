// The status page: requests the status every second, and shows it.

import { draw } from "./charts.js";
import { fillBar, renderCluster } from "./cluster.js";
import { at, duration, show } from "./elements.js";

const SETS = { train: "Training", dev: "Validation", test: "Test" };
const REFRESH_MILLISECONDS = 1000;

const last = points => points.length ? points[points.length - 1] : null;
const percent = rate => `${(100 * rate).toFixed(2)} %`;

let drawn = "";

function showPhase(phase) {
  show("phase", phase);
  at("phase").dataset.phase = phase;
  document.title = `${phase} – DeepSpeech training`;
}

function showReason(reason) {
  at("reason").hidden = !reason;
  show("reason", reason || "");
}

function showLocked() {
  showPhase("locked");
  showReason(token && "This is not the coordinator's token.");
}

function render(status) {
  showPhase(status.phase);
  showReason(status.reason);
  show("epoch", status.epochs === null ? "–" : `${status.epochs_done} of ${status.epochs}`);
  show("left", duration(status.seconds_left));
  show("throughput", status.utterances_per_second.toFixed(1));
  show("checkpoint", status.checkpoint_age === null ? "–" : duration(status.checkpoint_age));
  for (const name of ["train", "dev"]) {
    const newest = last(status.losses[name]);
    show(name, newest ? newest[1].toFixed(3) : "–");
  }
  const wer = last(status.wer);
  show("wer", wer ? percent(wer[2]) : "–");
  show("wer-set", wer ? `, ${SETS[wer[0]].toLowerCase()}` : "");
  renderEpoch(status.open_epoch);
  renderCharts(status);
  at("own-time").hidden = !status.time;
  if (status.time) {
    fillBar(at("own-bar"), status.time);
    at("legend").hidden = false;
  }
  for (const part of document.querySelectorAll(".cluster")) part.hidden = !status.members;
  if (status.members) renderCluster(status);
}

function renderEpoch(epoch) {
  show("set", epoch ? `${SETS[epoch.set]}, epoch ${epoch.epoch}: ${epoch.batches_done} of ${epoch.batches} batches`
      + (epoch.loss === null ? "" : `, loss ${epoch.loss.toFixed(3)} so far`) : "No epoch is open");
  at("progress").max = epoch ? epoch.batches : 1;
  at("progress").value = epoch ? epoch.batches_done : 0;
}

function renderCharts({ losses, wer }) {
  const figures = JSON.stringify([losses, wer]);
  if (figures === drawn) return;
  drawn = figures;
  at("wer-figure").hidden = !wer.length; // first, as it shares the width
  draw("losses", { train: losses.train, dev: losses.dev }, loss => loss.toFixed(3));
  if (!wer.length) return;
  const of = name => wer.filter(each => each[0] === name).map(each => [each[1], 100 * each[2]]);
  draw("rates", { dev: of("dev"), test: of("test") }, rate => `${rate.toFixed(2)} %`, " %");
}

addEventListener("resize", () => { drawn = ""; });

let token = sessionStorage.getItem("token");

async function refresh() {
  try {
    const answer = await fetch("v1/status", { headers: token ? { Authorization: `Bearer ${token}` } : {} });
    at("token").hidden = answer.status !== 401;
    if (answer.status === 401) showLocked();
    else render(await answer.json());
  } catch {
    showPhase("out of reach");
  }
  setTimeout(refresh, REFRESH_MILLISECONDS);
}

at("token").addEventListener("submit", event => {
  event.preventDefault();
  token = at("token").querySelector("input").value;
  sessionStorage.setItem("token", token);
});
refresh();
