// A recording that is transcribed while it is made. If the connection is lost, a new one receives the audio since the
// last final text, so that no word is lost.

import { Refusal, address, models, token } from "./server.js";

const WAITS = [0.5, 1, 2, 4, 8, 8]; // seconds before each attempt to connect again
const LONGEST_KEPT_SECONDS = 60;
const LONGEST_MESSAGE_SECONDS = 1;
const CLOSING_SECONDS = 10;

export class LiveStream {
  // `tell` has the methods partial(text, stable), final(utterance), waiting(seconds), connected(), warned(message) and
  // failed(error).
  constructor(model, rate, options, tell) {
    this.url = address(`v1/stream?rate=${rate}&model=${encodeURIComponent(model)}`);
    this.url.protocol = this.url.protocol.replace("http", "ws");
    Object.assign(this, { rate, options, tell });
    this.kept = []; // Int16Arrays since the last final text
    this.keptFrom = 0; // the sample of the recording that `kept` begins with
    this.attempt = 0;
    this.open = false;
    this.ended = new Promise(resolve => (this.end = resolve));
    this.connect();
  }

  send(samples) {
    this.kept.push(samples);
    let surplus = this.kept.reduce((sum, { length }) => sum + length, 0) - LONGEST_KEPT_SECONDS * this.rate;
    for (; surplus > 0; surplus -= this.kept.shift().length) this.keptFrom += this.kept[0].length;
    if (this.open) this.socket.send(samples);
  }

  // Ends the recording; resolves when its last text has arrived, or after a failure.
  finish() {
    this.finishing = true;
    if (this.open) this.socket.send('{"type":"close"}');
    const unanswered = new Refusal("The server did not answer in time: what was said last may be missing.", 0);
    setTimeout(() => this.fail(unanswered), 1000 * CLOSING_SECONDS);
    return this.ended;
  }

  connect() {
    this.socket = new WebSocket(this.url, subprotocols());
    this.socket.onopen = () => this.socket.send(JSON.stringify({ type: "start", partials: true, ...this.options }));
    this.socket.onmessage = ({ data }) => this.receive(JSON.parse(data));
    this.socket.onclose = ({ code }) => this.closed(code);
  }

  receive(message) {
    if (message.type === "ready") this.begin();
    else if (message.type === "partial") this.tell.partial(message.text, message.stable_text);
    else if (message.type === "final") this.take(message);
    else if (message.type === "warning") this.tell.warned(message.message);
    else if (message.type === "error") this.fail(new Refusal(message.message, message.code));
  }

  begin() {
    this.open = true;
    this.attempt = 0;
    this.from = this.keptFrom;
    for (const part of joined(this.kept, LONGEST_MESSAGE_SECONDS * this.rate)) this.socket.send(part);
    if (this.finishing) this.socket.send('{"type":"close"}');
    this.tell.connected();
  }

  take({ text, start, end, confidence, words }) {
    const offset = this.from / this.rate, later = time => Math.round(1000 * (time + offset)) / 1000;
    const moved = words.map(word => ({ ...word, start: later(word.start), end: later(word.end) }));
    this.tell.final({ text, start: later(start), end: later(end), confidence, words: moved });
    const done = this.from + end * this.rate;
    while (this.kept.length && this.keptFrom + this.kept[0].length <= done) this.keptFrom += this.kept.shift().length;
  }

  async closed(code) {
    this.open = false;
    if (this.over) return;
    if (this.finishing && this.from !== undefined && code === 1000) return this.stop();
    this.tell.partial("");
    const refusal = await reason(this.attempt === 0 && this.from !== undefined);
    if (refusal.status === 401 || this.attempt >= WAITS.length) return this.fail(refusal);
    const seconds = WAITS[this.attempt++];
    this.tell.waiting(seconds, refusal);
    setTimeout(() => this.over || this.connect(), 1000 * seconds);
  }

  fail(error) {
    if (this.over) return;
    this.stop();
    this.tell.failed(error);
  }

  stop() {
    this.over = true;
    this.socket.close();
    this.end();
  }
}

// Browsers do not say why a connection was refused; a request shows whether the token is the reason.
async function reason(wasOpen) {
  try {
    await models();
  } catch (refusal) {
    return refusal;
  }
  return wasOpen ? new Refusal("The connection was lost.", 0) : new Refusal("The server is full.", 503);
}

// Browsers send no own headers with a WebSocket, only names of subprotocols; one of them holds the token, in base64url.
function subprotocols() {
  const encoded = btoa(token.get()).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  return ["deepspeech", ...(encoded ? [`token.${encoded}`] : [])];
}

function* joined(parts, size) {
  for (let first = 0; first < parts.length; ) {
    let last = first, length = 0;
    while (last < parts.length && length < size) length += parts[last++].length;
    const whole = new Int16Array(length);
    for (let at = 0; first < last; at += parts[first++].length) whole.set(parts[first], at);
    yield whole;
  }
}
