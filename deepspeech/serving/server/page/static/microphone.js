// The microphone, as 16-bit samples at the model's rate.

import { Refusal, unreachable } from "./server.js";

const REFUSALS = {
  NotAllowedError: "Access to the microphone was refused. Allow it for this page in the browser's settings, then start again.",
  NotFoundError: "No microphone was found. Connect one, then start again.",
  NotReadableError: "The microphone is in use by another program. Close that program, then start again.",
};

const WISHES = { channelCount: 1, echoCancellation: false, noiseSuppression: false, autoGainControl: true };

export class Microphone {
  // Opens the microphone. `hear(samples, peak)` gets an Int16Array and its peak, from 0 to 1; `lose()` is called when
  // the microphone is disconnected. Throws an Error whose message is for the user.
  static async open(rate, hear, lose) {
    if (!navigator.mediaDevices?.getUserMedia)
      throw new Error("Browsers allow the microphone only on pages over HTTPS or of this machine (localhost).");
    const media = await navigator.mediaDevices.getUserMedia({ audio: WISHES }).catch(error => {
      throw new Error(REFUSALS[error.name] ?? `The microphone cannot be used: ${error.message}`);
    });
    const microphone = new Microphone(media);
    try {
      await microphone.listen(rate, hear);
    } catch (error) {
      microphone.release();
      throw error instanceof Refusal ? error : new Error(`The microphone cannot be heard: ${error.message}`);
    }
    media.getAudioTracks()[0].addEventListener("ended", lose);
    return microphone;
  }

  constructor(media) {
    this.media = media;
    this.context = new AudioContext();
  }

  async listen(rate, hear) {
    await this.context.audioWorklet.addModule(new URL("worklet.js", import.meta.url)).catch(() => {
      throw unreachable();
    });
    await this.context.resume();
    this.capture = new AudioWorkletNode(this.context, "capture", { numberOfOutputs: 0, processorOptions: { rate } });
    this.ended = new Promise(resolve => {
      this.capture.port.onmessage = ({ data }) => (data.ended ? resolve() : hear(data.samples, data.peak));
    });
    this.context.createMediaStreamSource(this.media).connect(this.capture);
  }

  // Stops after the last sample has been passed on.
  async close() {
    this.capture.port.postMessage("end");
    await Promise.race([this.ended, new Promise(resolve => setTimeout(resolve, 500))]);
    this.release();
  }

  release() {
    for (const track of this.media.getTracks()) track.stop();
    this.context.close();
  }
}
