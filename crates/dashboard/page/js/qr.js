// A QR code (ISO/IEC 18004): text as bytes, error correction level M, the smallest version
// that has room, the mask with the least penalty.

/** Of versions 1 to 40: bytes for error correction in a block, and blocks. */
const CORRECTION = [10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26, 26, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28];
const BLOCKS = [1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16, 17, 17, 18, 20, 21, 23, 25, 26, 28, 29, 31, 33, 35, 37, 38, 40, 43, 45, 47, 49];

/** Where the small squares are, along both sides. */
function squares(version) {
  if (version === 1) return [];
  const number = Math.floor(version / 7) + 2;
  const last = 4 * version + 10;
  const step = version === 32 ? 26 : Math.ceil((last - 6) / (number - 1) / 2) * 2;
  const found = [6];
  for (let at = last; found.length < number; at -= step) found.splice(1, 0, at);
  return found;
}

/** Modules that carry data, in bits. */
function capacity(version) {
  const side = 4 * version + 17;
  const number = squares(version).length;
  const small = number === 0 ? 0 : 25 * (number * number - 3) - 10 * (number - 2);
  return side * side - 3 * 64 - (2 * side - 32) - 31 - (version >= 7 ? 36 : 0) - small;
}

// ---- arithmetic in the field of 256 elements

const POWER = new Uint8Array(512);
const LOG = new Uint8Array(256);
for (let i = 0, value = 1; i < 255; i += 1) {
  POWER[i] = value;
  POWER[i + 255] = value;
  LOG[value] = i;
  value = value & 128 ? (value << 1) ^ 0x11d : value << 1;
}
const times = (a, b) => (a && b ? POWER[LOG[a] + LOG[b]] : 0);

/** The bytes that make a block a multiple of the generator. */
function correction(data, length) {
  let generator = [1];
  for (let i = 0; i < length; i += 1) {
    const next = new Array(generator.length + 1).fill(0);
    generator.forEach((factor, at) => {
      next[at] ^= factor;
      next[at + 1] ^= times(factor, POWER[i]);
    });
    generator = next;
  }
  const rest = new Array(length).fill(0);
  for (const byte of data) {
    const factor = byte ^ rest.shift();
    rest.push(0);
    for (let i = 0; i < length; i += 1) rest[i] ^= times(generator[i + 1], factor);
  }
  return rest;
}

/** The text as bytes, filled up, with error correction, in the order of the modules. */
function codewords(bytes, version) {
  const total = Math.floor(capacity(version) / 8);
  const blocks = BLOCKS[version - 1];
  const extra = CORRECTION[version - 1];
  const room = total - blocks * extra;
  const bits = [];
  const put = (value, length) => {
    for (let i = length - 1; i >= 0; i -= 1) bits.push((value >> i) & 1);
  };
  put(4, 4);
  put(bytes.length, version < 10 ? 8 : 16);
  for (const byte of bytes) put(byte, 8);
  put(0, Math.min(4, 8 * room - bits.length));
  while (bits.length % 8) bits.push(0);
  for (let pad = 0xec; bits.length < 8 * room; pad ^= 0xec ^ 0x11) put(pad, 8);
  const data = [];
  for (let i = 0; i < bits.length; i += 8) data.push(Number.parseInt(bits.slice(i, i + 8).join(""), 2));
  const short = Math.floor(room / blocks);
  const longer = room % blocks;
  const parts = [];
  for (let i = 0, at = 0; i < blocks; i += 1) {
    const length = short + (i >= blocks - longer ? 1 : 0);
    parts.push(data.slice(at, at + length));
    at += length;
  }
  const corrections = parts.map((part) => correction(part, extra));
  const across = (rows) => Array.from({ length: Math.max(...rows.map((row) => row.length)) }, (_, i) => rows.flatMap((row) => (i < row.length ? [row[i]] : []))).flat();
  return [...across(parts), ...across(corrections)];
}

const MASKS = [
  (x, y) => (x + y) % 2, (_, y) => y % 2, (x) => x % 3, (x, y) => (x + y) % 3,
  (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2, (x, y) => ((x * y) % 2) + ((x * y) % 3),
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2, (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2,
];

/** A number with the rest of its division by a polynomial behind it. */
function withRest(value, polynomial, length) {
  let rest = value << length;
  for (let bit = 31 - Math.clz32(rest); bit >= length; bit -= 1) if ((rest >> bit) & 1) rest ^= polynomial << (bit - length);
  return (value << length) | rest;
}

/**
 * The modules of the code, row by row: true is dark. Null if the text is too long.
 * @param {string} text @returns {boolean[][] | null}
 */
export function qr(text) {
  const bytes = new TextEncoder().encode(text);
  const fits = (version) => Math.floor(capacity(version) / 8) - BLOCKS[version - 1] * CORRECTION[version - 1] >= bytes.length + (version < 10 ? 2 : 3);
  let version = 1;
  while (version <= 40 && !fits(version)) version += 1;
  if (version > 40) return null;
  const side = 4 * version + 17;
  /** @type {(boolean | null)[][]} */
  const plain = Array.from({ length: side }, () => new Array(side).fill(null));
  const set = (x, y, dark) => {
    if (x >= 0 && y >= 0 && x < side && y < side) plain[y][x] = Boolean(dark);
  };
  const square = (x, y, size) => {
    for (let dy = -size; dy <= size; dy += 1) {
      for (let dx = -size; dx <= size; dx += 1) {
        const ring = Math.max(Math.abs(dx), Math.abs(dy));
        set(x + dx, y + dy, ring !== (size === 4 ? 2 : 1) && ring !== 4);
      }
    }
  };
  for (let i = 0; i < side; i += 1) {
    set(6, i, i % 2 === 0);
    set(i, 6, i % 2 === 0);
  }
  for (const [x, y] of [[3, 3], [side - 4, 3], [3, side - 4]]) square(x, y, 4);
  const at = squares(version);
  at.forEach((x, i) => at.forEach((y, j) => {
    const corner = (i === 0 && j === 0) || (i === 0 && j === at.length - 1) || (i === at.length - 1 && j === 0);
    if (!corner) square(x, y, 2);
  }));
  const format = (mask) => {
    // Level M is 0.
    const bits = withRest(mask, 0x537, 10) ^ 0x5412;
    for (let i = 0; i < 15; i += 1) {
      const dark = (bits >> i) & 1;
      const near = i < 6 ? i : i < 8 ? i + 1 : i === 8 ? 7 : 14 - i;
      if (i < 8) set(8, near, dark);
      else set(near, 8, dark);
      if (i < 8) set(side - 1 - i, 8, dark);
      else set(8, side - 15 + i, dark);
    }
    set(8, side - 8, true);
  };
  format(0);
  if (version >= 7) {
    const bits = withRest(version, 0x1f25, 12);
    for (let i = 0; i < 18; i += 1) {
      const along = side - 11 + (i % 3);
      set(along, Math.floor(i / 3), (bits >> i) & 1);
      set(Math.floor(i / 3), along, (bits >> i) & 1);
    }
  }
  // What is still free carries the data, in columns of two from the right.
  const free = [];
  for (let right = side - 1; right >= 1; right -= 2) {
    if (right === 6) right = 5;
    const up = ((right + 1) & 2) === 0;
    for (let i = 0; i < side; i += 1) {
      const y = up ? side - 1 - i : i;
      for (const x of [right, right - 1]) if (plain[y][x] === null) free.push([x, y]);
    }
  }
  const words = codewords(bytes, version);
  free.forEach(([x, y], i) => set(x, y, i >> 3 < words.length && (words[i >> 3] >> (7 - (i & 7))) & 1));
  let best = null;
  let least = Infinity;
  for (let mask = 0; mask < 8; mask += 1) {
    format(mask);
    const masked = plain.map((row) => row.slice());
    for (const [x, y] of free) if (MASKS[mask](x, y) === 0) masked[y][x] = !masked[y][x];
    const cost = penalty(/** @type {boolean[][]} */ (masked));
    if (cost < least) [best, least] = [masked, cost];
  }
  return /** @type {boolean[][]} */ (best);
}

/** How hard a code is to read. */
function penalty(rows) {
  const side = rows.length;
  let cost = 0;
  let dark = 0;
  const columns = rows.map((_, x) => rows.map((row) => row[x]));
  for (const line of [...rows, ...columns]) {
    let run = 0;
    let last = null;
    for (const one of line) {
      run = one === last ? run + 1 : 1;
      last = one;
      if (run === 5) cost += 3;
      else if (run > 5) cost += 1;
    }
    const text = line.map(Number).join("");
    for (const like of ["10111010000", "00001011101"]) for (let i = text.indexOf(like); i >= 0; i = text.indexOf(like, i + 1)) cost += 40;
  }
  for (let y = 0; y < side; y += 1) {
    for (let x = 0; x < side; x += 1) {
      dark += Number(rows[y][x]);
      if (x && y && rows[y][x] === rows[y - 1][x] && rows[y][x] === rows[y][x - 1] && rows[y][x] === rows[y - 1][x - 1]) cost += 3;
    }
  }
  return cost + 10 * Math.floor(Math.abs((20 * dark) / (side * side) - 10));
}
