// A recording on the page: utterances of words, each with its time, and buttons to save them.

import { clock, formats, separated } from "./formats.js";

const UNSURE = 0.5, LESS_SURE = 0.8; // confidences below these are shown fainter
const tip = document.getElementById("tip");

export class Recording {
  // `language` is the language of the text, such as en-US, if the model states it.
  constructor(title, fileName, language = "") {
    this.fileName = fileName;
    this.utterances = [];
    this.article = document.getElementById("recording").content.cloneNode(true).querySelector("article");
    this.part = selector => this.article.querySelector(selector);
    this.part("h2").textContent = title;
    for (const text of [".words", ".partial"]) if (language) this.part(text).lang = language;
    this.part(".saving").addEventListener("click", ({ target }) => this.save(target));
    this.part(".words").addEventListener("keydown", event => this.move(event));
    for (const name of ["pointerover", "focusin"]) this.part(".words").addEventListener(name, showTip);
    for (const name of ["pointerout", "focusout"]) this.part(".words").addEventListener(name, hideTip);
    document.getElementById("recordings").prepend(this.article);
  }

  // Shows the progress; with `cancel`, also a button that calls it.
  progress(text, cancel = null) {
    this.part(".progress").textContent = text;
    this.part(".cancel").hidden = !cancel;
    this.part(".cancel").onclick = cancel;
  }

  // Shows the text so far of the utterance in progress; its beginning `stable` will not change.
  partial(text, stable = "") {
    const sure = document.createElement("span");
    sure.className = "stable";
    sure.textContent = stable;
    this.part(".partial").replaceChildren(...(text ? [sure, text.slice(stable.length)] : []));
  }

  // Adds an utterance {text, start, end, confidence, words}.
  add(utterance) {
    if (!utterance.text) return;
    this.utterances.push(utterance);
    const line = document.createElement("p");
    line.dir = "auto"; // from the script of its words
    const time = document.createElement("span");
    time.className = "time";
    time.textContent = clock(utterance.start).replace(/^00:/, "").slice(0, -4); // without the thousandths
    line.append(time);
    for (const word of separated(utterance.words, utterance.text)) line.append(word.before ?? "", this.word(word));
    if (!utterance.words.length) line.append(utterance.text);
    this.part(".words").append(line);
    this.part(".saving").hidden = false;
    document.getElementById("legend").hidden = false;
  }

  word({ word, start, end, confidence }) {
    const shown = document.createElement("span");
    const sure = confidence ?? 1; // some models report none
    shown.className = `word${sure < UNSURE ? " unsure" : sure < LESS_SURE ? " less-sure" : ""}`;
    shown.textContent = word;
    shown.dataset.tip = `${start.toFixed(2)} to ${end.toFixed(2)} s${confidence == null ? "" : `, ${Math.round(100 * sure)} % sure`}`;
    shown.tabIndex = this.part(".word") ? -1 : 0; // one tab stop per recording; arrow keys move on from there
    return shown;
  }

  move(event) {
    const words = [...this.article.querySelectorAll(".word")];
    const here = words.indexOf(document.activeElement);
    const right = getComputedStyle(event.target).direction === "rtl" ? -1 : 1;
    const there = { ArrowRight: here + right, ArrowLeft: here - right, Home: 0, End: words.length - 1 }[event.key];
    if (here < 0 || !words[there]) return;
    event.preventDefault();
    words[here].tabIndex = -1;
    words[there].tabIndex = 0;
    words[there].focus();
  }

  async save(button) {
    const kind = button.dataset.format;
    if (!kind) return;
    if (kind !== "copy") return download(`${this.fileName}.${kind}`, formats[kind], this.utterances);
    try {
      await navigator.clipboard.writeText(formats.txt.write(this.utterances));
      this.progress("Copied");
    } catch {
      this.progress("The browser does not allow copying; use Text");
    }
  }
}

function download(name, { type, write }, utterances) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([write(utterances)], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

function showTip({ target }) {
  if (!target.dataset.tip) return;
  tip.textContent = target.dataset.tip;
  tip.hidden = false;
  target.setAttribute("aria-describedby", "tip");
  const word = target.getBoundingClientRect(), own = tip.getBoundingClientRect();
  const left = Math.max(8, Math.min(word.left + (word.width - own.width) / 2, document.documentElement.clientWidth - own.width - 8));
  tip.style.left = `${left + scrollX}px`;
  tip.style.top = `${word.top + scrollY - own.height - 4}px`;
}

function hideTip({ target }) {
  target.removeAttribute?.("aria-describedby");
  tip.hidden = true;
}

addEventListener("resize", hideTip);
