// Runs in the audio thread: converts sound to the model's rate and to 16 bits, and measures its peak.

const STOPBAND_DECIBELS = 70;
const PASSBAND = 0.9; // share of half the lower rate; the filter falls from here to that half
const MESSAGE_SECONDS = 0.04;

// The modified Bessel function of order zero, from its series, for the Kaiser window.
function bessel(x) {
  let sum = 1;
  for (let k = 1, term = 1; term > 1e-12 * sum; k++) sum += term *= (x / (2 * k)) ** 2;
  return sum;
}

function divisor(a, b) {
  return b ? divisor(b, a % b) : a;
}

// Resamples by L/M with a Kaiser-windowed low-pass: output n applies the filter's phase nM mod L to the input at nM/L.
export class Resampler {
  constructor(from, to) {
    const common = divisor(from, to);
    this.up = to / common;
    this.down = from / common;
    const edge = Math.min(from, to) / 2;
    const width = 2 * Math.PI * edge * (1 - PASSBAND) / from;
    this.taps = from === to ? 1 : 2 * Math.ceil((STOPBAND_DECIBELS - 8) / (2.285 * width) / 2);
    this.phases = from === to ? [Float32Array.of(1)] : this.filter(edge * (1 + PASSBAND) / 2 / from);
    this.kept = new Float32Array(Math.floor(this.taps / 2)); // so that output 0 is at the time of input 0
    this.position = 0; // of the next output's first tap, in 1/up of an input sample, from the start of `kept`
  }

  // Returns the filter's phases; `cutoff` is in cycles per input sample.
  filter(cutoff) {
    const beta = 0.1102 * (STOPBAND_DECIBELS - 8.7), half = this.taps / 2;
    return Array.from({ length: this.up }, (_, phase) => {
      const weights = Float64Array.from({ length: this.taps }, (_, tap) => {
        const t = tap - half - phase / this.up;
        const inside = Math.max(0, 1 - (t / (half + 1)) ** 2);
        return (t ? Math.sin(2 * Math.PI * cutoff * t) / (Math.PI * t) : 2 * cutoff) * bessel(beta * Math.sqrt(inside));
      });
      const sum = weights.reduce((a, b) => a + b);
      return Float32Array.from(weights, weight => weight / sum);
    });
  }

  // Takes samples, and returns samples at the other rate.
  push(samples) {
    const input = new Float32Array(this.kept.length + samples.length);
    input.set(this.kept);
    input.set(samples, this.kept.length);
    const made = [];
    for (; ; this.position += this.down) {
      const first = Math.floor(this.position / this.up);
      if (first + this.taps > input.length) break;
      const weights = this.phases[this.position % this.up];
      let sum = 0;
      for (let tap = 0; tap < this.taps; tap++) sum += weights[tap] * input[first + tap];
      made.push(sum);
    }
    const done = Math.min(Math.floor(this.position / this.up), input.length);
    this.kept = input.slice(done);
    this.position -= done * this.up;
    return made;
  }
}

// Returns a signal in [-1, 1] as 16-bit samples.
export function toSixteenBits(signal) {
  return Int16Array.from(signal, value => Math.round(Math.max(-1, Math.min(1, value)) * 32767));
}

class Capture extends (globalThis.AudioWorkletProcessor ?? Object) {
  constructor(options) {
    super();
    const { rate } = options.processorOptions;
    this.resampler = new Resampler(globalThis.sampleRate, rate);
    this.size = Math.round(rate * MESSAGE_SECONDS);
    this.waiting = [];
    this.peak = 0;
    this.running = true;
    this.port.onmessage = () => this.end();
  }

  process([[...channels]]) {
    if (channels.length) {
      const mono = channels[0].map((_, n) => channels.reduce((sum, channel) => sum + channel[n], 0) / channels.length);
      for (const value of mono) this.peak = Math.max(this.peak, Math.abs(value));
      this.waiting.push(...this.resampler.push(mono));
      while (this.waiting.length >= this.size) this.post(this.waiting.splice(0, this.size));
    }
    return this.running;
  }

  post(signal) {
    const samples = toSixteenBits(signal);
    this.port.postMessage({ samples, peak: this.peak }, [samples.buffer]);
    this.peak = 0;
  }

  end() {
    this.waiting.push(...this.resampler.push(new Float32Array(this.resampler.taps)));
    this.post(this.waiting.splice(0));
    this.port.postMessage({ ended: true });
    this.running = false;
  }
}

if (globalThis.registerProcessor) globalThis.registerProcessor("capture", Capture);
