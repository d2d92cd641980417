"use strict";
/* What the page was rendered from: a header in JSON, and columns of whole numbers packed bit by bit (pack.py). */
const data = JSON.parse(document.getElementById("data").textContent);
const packed = Uint8Array.from(atob(document.getElementById("packed").textContent), (c) => c.charCodeAt(0));

function column(name) {
  const { at, bits, n, low, places = 0, none = false } = data.columns[name];
  const mask = 2 ** bits - 1, unit = 10 ** places;
  const code = (i) => {
    const start = at + i * bits, byte = Math.floor(start / 8);
    const word = packed[byte] | (packed[byte + 1] << 8) | (packed[byte + 2] << 16) | (packed[byte + 3] << 24);
    return (word >>> start % 8) & mask;
  };
  const value = none ? (i) => (code(i) ? (code(i) - 1 + low) / unit : null) : (i) => (code(i) + low) / unit;
  return { n, value, slice: (from, to) => Array.from({ length: to - from }, (_, i) => value(from + i)) };
}

/* Where each question's part begins in a column of many: the sums of the lengths before it. */
function starts(lengths) {
  const sums = new Int32Array(lengths.n + 1);
  for (let i = 0; i < lengths.n; i++) sums[i + 1] = sums[i] + lengths.value(i);
  return sums;
}

function ragged(lengths, values) {
  const from = starts(column(lengths)), all = column(values);
  return (question) => all.slice(from[question], from[question + 1]);
}

const elementOf = (name, attributes = {}, ...inside) => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...inside);
  return made;
};
const svgOf = (name, attributes = {}, ...inside) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...inside);
  return made;
};
