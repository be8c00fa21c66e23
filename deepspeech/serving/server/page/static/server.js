// Requests of the page to the server: its models, the transcripts of files, and the reasons of refusals.

const KEY = "deepspeech-token";
export const token = {
  get: () => sessionStorage.getItem(KEY) ?? "",
  set: value => sessionStorage.setItem(KEY, value.trim()), // the server strips its own, too
};

// A refusal of the server: `message` is for the user, `status` is the HTTP status, 0 if the server cannot be reached.
export class Refusal extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

export function unreachable() {
  return new Refusal("The server cannot be reached. Check that it runs, then try again.", 0);
}

export function address(path) {
  return new URL(path, document.baseURI);
}

// Returns [{id, …}].
export async function models() {
  return (await ask("v1/models")).data;
}

// Returns the utterances of a recording: [{text, start, end, confidence, words}].
export async function transcribe(file, model, signal) {
  const form = new FormData();
  form.append("file", file);
  form.append("model", model);
  form.append("response_format", "verbose_json");
  for (const granularity of ["word", "segment"]) form.append("timestamp_granularities[]", granularity);
  return utterances(await ask("v1/audio/transcriptions", { method: "POST", body: form, signal }));
}

async function ask(path, options = {}) {
  if (/[^ -~]/.test(token.get())) throw new Refusal("The token is wrong.", 401); // a header cannot hold it
  const headers = token.get() ? { Authorization: `Bearer ${token.get()}` } : {};
  const answer = await fetch(address(path), { ...options, headers }).catch(error => {
    if (error.name === "AbortError") throw error;
    throw unreachable();
  });
  if (answer.ok) return answer.json();
  const told = await answer.json().catch(() => ({}));
  const wait = answer.headers.get("retry-after");
  const full = `The server is full. Try again in ${wait ?? 10} seconds.`;
  throw new Refusal(answer.status === 503 ? full : told.error?.message ?? `The server answered with status ${answer.status}.`, answer.status);
}

// The words of a segment are those that begin in it.
function utterances({ text, duration, segments = [], words = [] }) {
  if (!segments.length) return text ? [{ text, start: 0, end: duration ?? 0, words }] : [];
  return segments.map((segment, number) => {
    const next = segments[number + 1]?.start ?? Infinity;
    const own = words.filter(({ start }) => start < next && (number === 0 || start >= segment.start));
    return { text: segment.text.trim(), start: segment.start, end: segment.end, confidence: segment.confidence, words: own };
  });
}
