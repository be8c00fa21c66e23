// The members of a cluster, their time use, and the events of the run.

import { at, bytes, duration, made, show } from "./elements.js";

export const ACTIVITIES = ["computing", "feeding", "waiting", "decoding", "other"];

const SILENT_SECONDS = 5;

export function fillBar(bar, time) {
  bar.replaceChildren();
  const parts = ACTIVITIES.map(name => [name, (time || {})[name] || 0]);
  for (const [name, part] of parts) {
    const piece = made("span", undefined, name);
    piece.style.width = `${100 * part}%`;
    bar.append(piece);
  }
  bar.title = time ? parts.map(([name, part]) => `${name} ${(100 * part).toFixed(0)} %`).join(", ") : "not known yet";
  bar.setAttribute("role", "img");
  bar.setAttribute("aria-label", bar.title);
}

export function renderCluster(status) {
  const epoch = status.open_epoch;
  show("open", epoch ? epoch.jobs_open : 0);
  show("running", epoch ? epoch.jobs_running : 0);
  show("done", status.counts.results);
  show("restarts", status.restarts);
  at("members").replaceChildren(...status.members.map(memberRow), ...status.missing.map(missingRow));
  at("legend").hidden = !status.members.some(member => member.time);
  const now = Date.now();
  at("events").replaceChildren(...status.events.map(event => eventItem(event, now)));
}

function memberRow(member) {
  const row = made("tr"), bar = made("div", undefined, "bar"), time = made("td");
  fillBar(bar, member.time);
  if (member.time) time.append(bar);
  const own = member.own_step_seconds === null ? "–" : `${member.own_step_seconds.toFixed(2)} s`;
  const step = made("td", own, member.straggles ? "straggles" : "");
  if (member.straggles) step.append(made("small", "others wait"));
  const silent = member.silent_for > SILENT_SECONDS ? "silent" : "";
  row.append(
    made("td", member.name),
    time,
    step,
    made("td", member.utterances_per_second.toFixed(1), "more"),
    made("td", bytes(member.sent_bytes_per_second), "more"),
    made("td", member.jobs, "more"),
    made("td", duration(member.silent_for), silent),
  );
  return row;
}

function missingRow(name) {
  const row = made("tr"), told = made("td", "missing", "silent");
  told.colSpan = 6;
  row.append(made("td", name), told);
  return row;
}

function eventItem(event, now) {
  const item = made("li"), when = new Date(now - 1000 * event.seconds_ago);
  const time = made("time", when.toLocaleTimeString([], { hour12: false }));
  time.dateTime = when.toISOString();
  time.title = when.toLocaleString();
  item.append(time, made("span", event.what));
  return item;
}
