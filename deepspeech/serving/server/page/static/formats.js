// Transcripts as files. Cues follow the rules of the server's subtitles.

const LONGEST_CUE_SECONDS = 6;
const LONGEST_CUE_CHARACTERS = 84;
const PAUSE_SECONDS = 0.8;
const SHORTEST_CUE_SECONDS = 0.7;

// Characters of scripts that have no spaces between words: Thai, Lao, Burmese, Khmer, Japanese and Chinese.
const UNSPACED = /[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff\uff66-\uff9f\u{20000}-\u{3ffff}]/u;

// Each `write` takes utterances {text, start, end, confidence, words: [{word, start, end, confidence}]}, times in seconds.
export const formats = {
  txt: { type: "text/plain", write: utterances => utterances.map(({ text }) => `${oneLine(text)}\n`).join("") },
  srt: { type: "application/x-subrip", write: utterances => subRip(cues(wordsOf(utterances))) },
  vtt: { type: "text/vtt", write: utterances => webVtt(cues(wordsOf(utterances))) },
  json: { type: "application/json", write: utterances => `${JSON.stringify({ utterances }, null, 2)}\n` },
};

export function clock(seconds, mark = ".") {
  const milliseconds = Math.round(seconds * 1000);
  const part = (size, count, width = 2) => String(Math.floor(milliseconds / size) % count).padStart(width, "0");
  return `${part(3_600_000, Infinity)}:${part(60_000, 60)}:${part(1000, 60)}${mark}${part(1, 1000, 3)}`;
}

// Returns the words; all but the first say what is before them in the text, a space or nothing. For a word that the text
// lacks, the scripts of the words decide.
export function separated(words, text) {
  let place = 0;
  return words.map((word, number) => {
    const begin = text.indexOf(word.word, place);
    const before = begin < 0 && number ? between(words[number - 1].word, word.word) : begin > place ? " " : "";
    if (begin >= 0) place = begin + word.word.length;
    return number ? { ...word, before } : word;
  });
}

function between(word, next) {
  return UNSPACED.test([...word].at(-1)) && UNSPACED.test([...next][0]) ? "" : " ";
}

// Returns a text with a space in place of each line break, as an empty line would end a cue.
function oneLine(text) {
  return text.trim().replace(/\r\n|[\n\v\f\r\x1c-\x1e\x85\u2028\u2029]/g, " ");
}

function wordsOf(utterances) {
  return utterances.flatMap(({ text, words }) => separated(words, text));
}

function subRip(shown) {
  return shown
    .map(({ start, end, text }, number) => `${number + 1}\n${clock(start, ",")} --> ${clock(end, ",")}\n${text}\n`)
    .join("\n");
}

function webVtt(shown) {
  const escaped = text => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  return ["WEBVTT\n", ...shown.map(({ start, end, text }) => `${clock(start)} --> ${clock(end)}\n${escaped(text)}\n`)].join("\n");
}

function cues(words) {
  const groups = grouped(words);
  const made = groups.map((group, number) => {
    const start = group[0].start;
    const end = Math.max(group.at(-1).end, start + SHORTEST_CUE_SECONDS);
    const next = groups[number + 1]?.[0].start ?? Infinity;
    return { start, end: Math.min(end, next), text: oneLine(group.reduce(continued, "")) };
  });
  return made.filter(({ text }) => text);
}

function continued(text, { word, before }) {
  return text ? text + (before ?? between(text, word)) + word : word;
}

function grouped(words) {
  const groups = [];
  for (const word of words) {
    const group = groups.at(-1);
    if (group && fits(group, word)) group.push(word);
    else groups.push([word]);
  }
  return groups;
}

function fits(group, word) {
  const characters = group.reduce((sum, other) => sum + [...other.word].length + 1, 0) + [...word.word].length;
  return characters <= LONGEST_CUE_CHARACTERS && word.end - group[0].start <= LONGEST_CUE_SECONDS
    && word.start - group.at(-1).end < PAUSE_SECONDS;
}
