// The page: its buttons and what they do.

import { LiveStream } from "./live_stream.js";
import { Microphone } from "./microphone.js";
import { Recording } from "./recording.js";
import { Refusal, models, token, transcribe } from "./server.js";

const DEFAULT_RATE = 16000; // Hz, for models that do not state their rate
const DEFAULT_BOOST = 5;
const SILENCE_DECIBELS = -60;
const LOUD = 0.98; // share of the largest sample
const LOUD_MESSAGES = 5; // recent ones, above which the speaker is warned
const HINT_SECONDS = 4;
const at = id => document.getElementById(id);
const HINT = at("hint").textContent;

let served = {}; // the models, by name
let speaking = null; // {microphone, stream}

async function load() {
  try {
    const all = await models();
    served = Object.fromEntries(all.map(model => [model.id, model]));
    at("model").replaceChildren(...all.map(({ id }) => new Option(id)));
    at("models").hidden = all.length < 2;
    at("token").hidden = true;
    busy(false);
    say("Ready");
    problem("");
  } catch (error) {
    fail(error);
  }
}

async function start() {
  problem("");
  const { id, rate = DEFAULT_RATE, streams = true, language } = served[at("model").value];
  if (!streams) return problem(`The model ${id} needs whole recordings: transcribe files, or choose another model.`);
  busy(true);
  say("Asking for the microphone");
  const recording = new Recording(`Microphone, ${new Date().toLocaleTimeString()}`, `speech-${stamp()}`, language);
  const loudness = new Loudness();
  try {
    let stream = null;
    const hear = (samples, peak) => (stream?.send(samples), loudness.hear(peak));
    const microphone = await Microphone.open(rate, hear, () => stop("The microphone was disconnected."));
    stream = new LiveStream(id, rate, { hot_words: hotWords() }, teller(recording));
    speaking = { microphone, stream, recording };
    at("speak").textContent = "Stop";
    at("speak").dataset.live = "";
  } catch (error) {
    recording.article.remove();
    fail(error);
  }
  busy(false);
}

// The callbacks of a live stream that show it as a recording.
function teller(recording) {
  return {
    partial: (text, stable) => recording.partial(text, stable),
    final: utterance => (recording.partial(""), recording.add(utterance)),
    connected: () => say(speaking?.finishing ? "Finishing" : "Listening", true),
    waiting: (seconds, { message }) => say(`${message} Trying again in ${seconds} s`),
    warned: message => problem(`${message[0].toUpperCase()}${message.slice(1)}.`),
    failed: error => stop("", error),
  };
}

async function stop(message = "", error = null) {
  if (!speaking || speaking.finishing) return error && fail(error);
  const { microphone, stream, recording } = speaking;
  speaking.finishing = true;
  busy(true);
  say("Finishing");
  await microphone.close();
  await stream.finish();
  if (!recording.utterances.length) recording.progress("No words were heard");
  recording.partial("");
  speaking = null;
  at("speak").textContent = "Start speaking";
  delete at("speak").dataset.live;
  busy(false);
  new Loudness();
  say("Ready");
  if (error) fail(error);
  else if (message) problem(message);
}

async function transcribeAll(files) {
  const model = at("model").value;
  for (const file of files) {
    const recording = new Recording(file.name, file.name.replace(/\.[^.]*$/, ""), served[model]?.language);
    const leaving = new AbortController();
    recording.progress("Transcribing", () => leaving.abort());
    try {
      const utterances = await transcribe(file, model, leaving.signal);
      for (const utterance of utterances) recording.add(utterance);
      recording.progress(recording.utterances.length ? "Done" : "No words were heard");
    } catch (error) {
      recording.progress(error.name === "AbortError" ? "Cancelled" : error.message);
      if (error.status === 401) fail(error);
    }
  }
}

// Returns {word: boost}; throws an Error for a line that has no word or a boost that is not a number.
function hotWords() {
  const lines = at("hot_words").value.split("\n").map(line => line.trim()).filter(Boolean);
  return Object.fromEntries(lines.map(line => {
    const [, word, boost] = line.match(/^(.*?)(?:\s+([-+]?\d+(?:\.\d+)?))?$/);
    return [word, boost === undefined ? DEFAULT_BOOST : Number(boost)];
  }));
}

// The level meter, with a hint if the microphone is silent or too loud.
class Loudness {
  constructor() {
    this.heardAt = performance.now();
    this.loudMessages = 0;
    this.show(0);
    this.hint(HINT);
  }

  hear(peak) {
    this.show(peak);
    const now = performance.now();
    if (20 * Math.log10(peak) > SILENCE_DECIBELS) this.heardAt = now;
    this.loudMessages = 0.97 * this.loudMessages + (peak > LOUD);
    if (now - this.heardAt > 1000 * HINT_SECONDS) this.hint("No sound comes from the microphone. Is it muted?");
    else this.hint(this.loudMessages > LOUD_MESSAGES ? "Too loud: speak from further away." : HINT);
  }

  hint(text) {
    if (at("hint").textContent !== text) at("hint").textContent = text;
  }

  show(peak) {
    const decibels = Math.round(Math.max(SILENCE_DECIBELS, 20 * Math.log10(peak)));
    at("level_bar").style.transform = `scaleX(${1 - decibels / SILENCE_DECIBELS})`;
    at("level").classList.toggle("loud", peak > LOUD);
    at("level").setAttribute("aria-valuenow", decibels);
    at("level").setAttribute("aria-valuetext", decibels > SILENCE_DECIBELS ? `${decibels} decibels` : "silent");
  }
}

// A disabled button would lose the keyboard's focus.
function busy(is) {
  at("speak").setAttribute("aria-disabled", is);
}

function say(text, live = false) {
  at("state").textContent = text;
  at("state").classList.toggle("live", live);
}

function problem(text) {
  at("problem").textContent = text;
  at("problem").hidden = !text;
}

function fail(error) {
  const locked = error instanceof Refusal && error.status === 401;
  const again = token.get() ? "The token is wrong." : "This server needs a token.";
  problem(locked ? again : error.message);
  say(locked ? "Locked" : "Ready");
  at("token").hidden = !locked;
  if (locked) at("token_value").focus();
}

function stamp() {
  const now = new Date(), two = number => String(number).padStart(2, "0");
  return `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}-${two(now.getHours())}${two(now.getMinutes())}${two(now.getSeconds())}`;
}

at("speak").addEventListener("click", ({ target }) => {
  if (target.getAttribute("aria-disabled") === "true") return;
  if (speaking) stop();
  else start();
});
at("files").addEventListener("change", ({ target }) => {
  transcribeAll([...target.files]);
  target.value = "";
});
at("token").addEventListener("submit", event => {
  event.preventDefault();
  token.set(at("token_value").value);
  load();
});
for (const name of ["dragenter", "dragover", "dragleave", "drop"]) {
  addEventListener(name, event => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    at("drop").hidden = name === "drop" || (name === "dragleave" && !event.relatedTarget);
    if (name === "drop") transcribeAll([...event.dataTransfer.files]);
  });
}
load();
