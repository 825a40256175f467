// GIF, as its specification (version 89a) has it: one palette for all frames, which gets
// what later ones bring, each frame compressed by LZW.

/** Colours that the first frame may have; the others are for what comes later. */
const FIRST = 160;
/** A colour further from all others than this is one of its own. */
const ANOTHER = 1300;

/** Collects bytes without knowing how many there will be. */
class Bytes {
  constructor() {
    this.bytes = new Uint8Array(1 << 16);
    this.length = 0;
  }

  push(...values) {
    for (const value of values) {
      if (this.length === this.bytes.length) {
        const larger = new Uint8Array(this.bytes.length * 2);
        larger.set(this.bytes);
        this.bytes = larger;
      }
      this.bytes[this.length] = value;
      this.length += 1;
    }
  }

  short(value) {
    this.push(value & 255, (value >> 8) & 255);
  }

  text(text) {
    for (const letter of text) this.push(letter.charCodeAt(0));
  }
}

/** Where the palette begins. */
const HEAD = 13;

export class Gif {
  /** @param {number} width @param {number} height @param {number} delay hundredths of a second a frame */
  constructor(width, height, delay) {
    this.width = width;
    this.height = height;
    this.delay = delay;
    this.out = new Bytes();
    /** @type {number[][]} */ this.palette = [];
    /** @type {Map<number, number>} */ this.nearest = new Map();
    /** @type {Uint8Array | null} */ this.before = null;
  }

  /** Adds a frame. @param {Uint8ClampedArray} pixels red, green, blue, alpha */
  add(pixels) {
    if (!this.before) {
      this.palette = commonColours(pixels);
      this.head();
    }
    const indices = this.indices(pixels);
    const box = this.changed(indices);
    const { out } = this;
    out.push(0x21, 0xf9, 4, 0x04);
    out.short(this.delay);
    out.push(0, 0);
    out.push(0x2c);
    out.short(box.left);
    out.short(box.top);
    out.short(box.width);
    out.short(box.height);
    out.push(0);
    const part = new Uint8Array(box.width * box.height);
    for (let y = 0; y < box.height; y += 1) {
      const start = (box.top + y) * this.width + box.left;
      part.set(indices.subarray(start, start + box.width), y * box.width);
    }
    compress(part, out);
    this.before = indices;
  }

  /** The whole file. */
  end() {
    this.out.push(0x3b);
    this.palette.forEach((colour, index) => this.out.bytes.set(colour, HEAD + 3 * index));
    return this.out.bytes.slice(0, this.out.length);
  }

  head() {
    const { out } = this;
    out.text("GIF89a");
    out.short(this.width);
    out.short(this.height);
    out.push(0xf7, 0, 0);
    // The palette, once it is known.
    for (let i = 0; i < 256; i += 1) out.push(0, 0, 0);
    // Again and again.
    out.push(0x21, 0xff, 11);
    out.text("NETSCAPE2.0");
    out.push(3, 1, 0, 0, 0);
  }

  indices(pixels) {
    const indices = new Uint8Array(this.width * this.height);
    for (let i = 0, at = 0; i < indices.length; i += 1, at += 4) {
      const key = ((pixels[at] >> 2) << 12) | ((pixels[at + 1] >> 2) << 6) | (pixels[at + 2] >> 2);
      let index = this.nearest.get(key);
      if (index === undefined) {
        index = this.closest(pixels[at], pixels[at + 1], pixels[at + 2]);
        this.nearest.set(key, index);
      }
      indices[i] = index;
    }
    return indices;
  }

  closest(red, green, blue) {
    let best = 0;
    let least = Infinity;
    this.palette.forEach(([r, g, b], index) => {
      const difference = 2 * (r - red) ** 2 + 4 * (g - green) ** 2 + 3 * (b - blue) ** 2;
      if (difference < least) {
        least = difference;
        best = index;
      }
    });
    if (least > ANOTHER && this.palette.length < 256) return this.palette.push([red, green, blue]) - 1;
    return best;
  }

  /** The smallest box that holds all that differs from the last frame. */
  changed(indices) {
    const { width, height, before } = this;
    if (!before) return { left: 0, top: 0, width, height };
    let [left, right, top, bottom] = [width, -1, height, -1];
    for (let y = 0; y < height; y += 1) {
      for (let x = 0; x < width; x += 1) {
        if (indices[y * width + x] === before[y * width + x]) continue;
        left = Math.min(left, x);
        right = Math.max(right, x);
        top = Math.min(top, y);
        bottom = y;
      }
    }
    if (right < 0) return { left: 0, top: 0, width: 1, height: 1 };
    return { left, top, width: right - left + 1, height: bottom - top + 1 };
  }
}

/** The commonest colours; rare ones are mixtures at edges and fall to a neighbour. */
function commonColours(pixels) {
  const seen = new Map();
  for (let at = 0; at < pixels.length; at += 4) {
    const key = ((pixels[at] >> 3) << 10) | ((pixels[at + 1] >> 3) << 5) | (pixels[at + 2] >> 3);
    const entry = seen.get(key);
    if (entry) entry.count += 1;
    else seen.set(key, { count: 1, colour: [pixels[at], pixels[at + 1], pixels[at + 2]] });
  }
  return [...seen.values()].sort((a, b) => b.count - a.count).slice(0, FIRST).map((entry) => entry.colour);
}

/** LZW with codes of 9 to 12 bits, in blocks of at most 255 bytes. */
function compress(indices, out) {
  const clear = 256;
  const stop = 257;
  out.push(8);
  let block = [];
  let bits = 0;
  let held = 0;
  let size = 9;
  let next = 258;
  let codes = new Map();
  const flush = () => {
    if (block.length) out.push(block.length, ...block);
    block = [];
  };
  const emit = (code) => {
    bits |= code << held;
    held += size;
    while (held >= 8) {
      block.push(bits & 255);
      if (block.length === 255) flush();
      bits >>>= 8;
      held -= 8;
    }
  };
  emit(clear);
  let prefix = indices[0];
  for (let i = 1; i < indices.length; i += 1) {
    const key = (prefix << 8) | indices[i];
    const code = codes.get(key);
    if (code !== undefined) {
      prefix = code;
      continue;
    }
    emit(prefix);
    if (next < 4096) {
      codes.set(key, next);
      if (next === 1 << size) size += 1;
      next += 1;
    } else {
      emit(clear);
      codes = new Map();
      next = 258;
      size = 9;
    }
    prefix = indices[i];
  }
  emit(prefix);
  emit(stop);
  if (held > 0) block.push(bits & 255);
  flush();
  out.push(0);
}
