// Reads and writes the page's elements, and formats figures.

export const at = id => document.getElementById(id);

export function show(id, text) {
  at(id).textContent = text;
}

export function made(name, text, className) {
  const element = document.createElement(name);
  if (text !== undefined) element.textContent = text;
  if (className) element.className = className;
  return element;
}

export function duration(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor(whole % 3600 / 60)} min`;
}

export function bytes(count) {
  if (count === null || count === undefined) return "–";
  const units = ["B", "kB", "MB", "GB"];
  let unit = 0;
  for (; count >= 1000 && unit < units.length - 1; unit += 1) count /= 1000;
  return `${count < 10 && unit ? count.toFixed(1) : Math.round(count)} ${units[unit]}/s`;
}
