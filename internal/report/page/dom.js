// Elements and texts. Everything that the page shows is a text node: nothing from a process is ever
// parsed as markup.

// el makes an element with properties, attributes and children: strings, elements, or null.
function el(name, props, ...children) {
  const svg = name === 'svg' || name === 'path' || name === 'line' || name === 'rect' || name === 'circle';
  const e = svg ? document.createElementNS('http://www.w3.org/2000/svg', name) : document.createElement(name);
  for (const [key, value] of Object.entries(props || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith('on')) e.addEventListener(key.slice(2), value);
    else if (key === 'class') e.setAttribute('class', value);
    else e.setAttribute(key, value === true ? '' : String(value));
  }
  e.append(...children.flat().filter((c) => c !== null && c !== undefined));
  return e;
}

const byID = (id) => document.getElementById(id);

// Numbers as gclog writes them: three digits, powers of 1000.
function digits(v, trimmed = true) {
  const a = Math.abs(v);
  const precision = a >= 99.95 ? 0 : a >= 9.995 ? 1 : 2;
  const s = v.toFixed(precision);
  return precision > 0 && trimmed ? s.replace(/\.?0+$/, '') : s;
}

function sizeText(n, trimmed = true) {
  const units = [' B', ' KB', ' MB', ' GB', ' TB'];
  let i = 0;
  for (; Math.abs(n) >= 999.5 && i < units.length - 1; i++) n /= 1000;
  return digits(n, trimmed || i === 0) + units[i];
}

function durationText(ns) {
  const a = Math.abs(ns);
  if (a >= 119.5e9) {
    const s = Math.round(a / 1e9);
    return s >= 3600 ? Math.floor(s / 3600) + ' h ' + Math.round((s % 3600) / 60) + ' min' : Math.floor(s / 60) + ' min ' + (s % 60) + ' s';
  }
  if (a >= 999.5e6) return digits(ns / 1e9) + ' s';
  if (a >= 999.5e3) return digits(ns / 1e6) + ' ms';
  if (a >= 999.5) return digits(ns / 1e3) + ' µs';
  return digits(ns) + ' ns';
}

// valueText formats a value of a unit.
function valueText(v, unit) {
  switch (unit) {
    case 'ns': return durationText(v);
    case 'bytes': return sizeText(v);
    case 'bytes/s': return sizeText(v) + '/s';
    case '%': return digits(v) + ' %';
    case 'time': return clock.text(v, 3);
    case 'flag': return v ? 'yes' : 'no';
    default: return Number.isInteger(v) ? String(v) : digits(v);
  }
}

// clock converts time stamps (nanoseconds) to times of day in the zone of the report.
const clock = {
  sync: 0, offset: 0, zone: '',
  seconds(ns) { return this.sync / 1000 + ns / 1e9; },
  stamp(seconds) { return (seconds - this.sync / 1000) * 1e9; },
  date(seconds) { return new Date((seconds + this.offset) * 1000); }, // its UTC fields are those of the zone
  text(ns, decimals) { return this.ofSeconds(this.seconds(ns), decimals); },
  ofSeconds(seconds, decimals) {
    const step = 10 ** decimals;
    const d = this.date(Math.round(seconds * step) / step);
    const iso = d.toISOString();
    return iso.slice(11, 19) + (decimals > 0 ? iso.slice(19, 20 + decimals) : '');
  },
  day(seconds) { return this.date(seconds).toISOString().slice(0, 10); },
};
