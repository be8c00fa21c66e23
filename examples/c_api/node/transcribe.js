// Prints the text of a recording, through koffi.
//
//     npm install && node transcribe.js output_graph.pb speech.wav [kenlm.scorer]
//
// The recording is a WAV file of 16-bit samples, one channel, at the model's sample rate. DEEPSPEECH_LIBRARY names the
// shared library if the system does not find it by its name.
const fs = require("node:fs");
const koffi = require("koffi");

const library = load(process.env.DEEPSPEECH_LIBRARY || "libdeepspeech.so");
koffi.opaque("ModelState");
koffi.struct("DS_Transcript", { text: "const char *", words: "void *", num_words: "unsigned int", confidence: "double" });
koffi.struct("DS_Transcripts", { transcripts: "DS_Transcript *", num_transcripts: "unsigned int" });

const createModel = library.func("int DS_CreateModel(const char *path, _Out_ ModelState **model)");
const freeModel = library.func("void DS_FreeModel(ModelState *model)");
const sampleRate = library.func("int DS_GetModelSampleRate(ModelState *model)");
const enableScorer = library.func("int DS_EnableExternalScorer(ModelState *model, const char *path)");
const speechToText = library.func(
  "DS_Transcripts *DS_SpeechToTextWithWords(ModelState *model, const int16_t *samples, unsigned int count, unsigned int results)",
);
const freeTranscripts = library.func("void DS_FreeTranscripts(DS_Transcripts *transcripts)");
const lastErrorMessage = library.func("const char *DS_LastErrorMessage()");

function load(name) {
  try {
    return koffi.load(name);
  } catch (error) {
    console.error(`transcribe: ${name}: ${error.message}; install it, or let DEEPSPEECH_LIBRARY name its file`);
    process.exit(1);
  }
}

function check(succeeded) {
  if (!succeeded) throw new Error(lastErrorMessage());
}

// A speech recognizer. `transcribe` computes on this thread; in a server, let a worker thread call it.
class Model {
  constructor(path, scorer) {
    const place = [null];
    check(createModel(path, place) === 0);
    this.state = place[0];
    if (scorer) check(enableScorer(this.state, scorer) === 0);
  }

  get sampleRate() {
    return sampleRate(this.state);
  }

  // The text of an Int16Array, and its confidence.
  transcribe(samples) {
    const heard = speechToText(this.state, samples, samples.length, 1);
    check(heard);
    try {
      const { text, confidence } = koffi.decode(koffi.decode(heard, "DS_Transcripts").transcripts, "DS_Transcript");
      return { text, confidence };
    } finally {
      freeTranscripts(heard);
    }
  }

  free() {
    freeModel(this.state);
  }
}

// Finds the samples of a WAV file: after "RIFF", a size and "WAVE" come chunks of a name, a size and content.
function readSamples(path, rate) {
  const data = fs.readFileSync(path);
  let right = false;
  for (let start = 12; start + 8 <= data.length; ) {
    const name = data.toString("latin1", start, start + 4);
    const size = Math.min(data.readUInt32LE(start + 4), data.length - start - 8);
    const content = data.subarray(start + 8, start + 8 + size);
    if (name === "fmt " && size >= 16) {
      right = content.readUInt16LE(2) === 1 && content.readUInt16LE(14) === 16 && content.readUInt32LE(4) === rate;
    }
    if (name === "data" && right) {
      return Int16Array.from({ length: size >> 1 }, (_, place) => content.readInt16LE(2 * place));
    }
    start += 8 + size + (size % 2);
  }
  throw new Error(`${path}: not 16-bit mono at ${rate} Hz, the model's sample rate`);
}

const [model_path, wav_path, scorer_path] = process.argv.slice(2);
try {
  if (!wav_path) throw new Error("usage: transcribe.js MODEL WAV [SCORER]");
  const model = new Model(model_path, scorer_path);
  const { text, confidence } = model.transcribe(readSamples(wav_path, model.sampleRate));
  console.log(`${text}\nconfidence ${confidence.toFixed(4)}`);
  model.free();
} catch (error) {
  console.error(`transcribe: ${error.message}`);
  process.exitCode = 1;
}
