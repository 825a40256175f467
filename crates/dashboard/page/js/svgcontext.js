// A drawing context that writes SVG. The drawings of the page use the part of
// CanvasRenderingContext2D that is here, so that a picture is drawn by the same
// code on screen and in a file.

const round = (value) => Math.round(value * 100) / 100;
/** "600 12px system-ui, sans-serif" as attributes. */
function fontAttributes(font) {
  const [, weight, size, family] = font.match(/^(?:(\d+) )?([\d.]+)px (.*)$/) ?? [];
  return ` font-size="${size}" font-family="${escape(family)}"${weight ? ` font-weight="${weight}"` : ""}`;
}

const escape = (text) => String(text).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

export class SvgContext {
  constructor(width, height, ground) {
    this.width = width;
    this.height = height;
    this.parts = [`<rect width="${width}" height="${height}" fill="${escape(ground)}"/>`];
    this.path = "";
    this.fillStyle = "#000";
    this.strokeStyle = "#000";
    this.lineWidth = 1;
    this.lineCap = "butt";
    this.lineJoin = "miter";
    this.globalAlpha = 1;
    this.font = "10px sans-serif";
    this.textAlign = "left";
    this.textBaseline = "alphabetic";
    this.dash = [];
    this.clips = 0;
    this.open = [0];
    /** @type {any[]} */ this.stack = [];
  }

  save() {
    this.open.push(0);
    this.stack.push({ ...this, parts: undefined, stack: undefined, open: undefined });
  }

  restore() {
    const kept = this.stack.pop();
    for (let groups = this.open.pop() ?? 0; groups > 0; groups -= 1) this.parts.push("</g>");
    if (!kept) return;
    const { clips } = this;
    for (const name of ["fillStyle", "strokeStyle", "lineWidth", "lineCap", "lineJoin", "globalAlpha", "font",
      "textAlign", "textBaseline", "dash"]) this[name] = kept[name];
    this.clips = clips;
  }

  beginPath() { this.path = ""; }
  closePath() { this.path += "Z"; }
  moveTo(x, y) { this.path += `M${round(x)} ${round(y)}`; }
  lineTo(x, y) { this.path += `${this.path ? "L" : "M"}${round(x)} ${round(y)}`; }

  arc(x, y, radius, from, to, counterclockwise = false) {
    let sweep = counterclockwise ? from - to : to - from;
    const turn = 2 * Math.PI;
    if (sweep >= turn - 1e-9) {
      this.arc(x, y, radius, from, from + Math.PI);
      this.arc(x, y, radius, from + Math.PI, from + turn - 1e-4);
      this.closePath();
      return;
    }
    sweep = ((sweep % turn) + turn) % turn;
    const at = (angle) => [x + radius * Math.cos(angle), y + radius * Math.sin(angle)];
    this.lineTo(...at(from));
    const [endX, endY] = at(counterclockwise ? from - sweep : from + sweep);
    this.path += `A${round(radius)} ${round(radius)} 0 ${sweep > Math.PI ? 1 : 0} ${counterclockwise ? 0 : 1} ${round(endX)} ${round(endY)}`;
  }

  rect(x, y, width, height) {
    this.path += `M${round(x)} ${round(y)}h${round(width)}v${round(height)}h${round(-width)}Z`;
  }

  fill() {
    this.parts.push(`<path d="${this.path}" fill="${escape(this.fillStyle)}"${this.alpha()}/>`);
  }

  stroke() {
    const dash = this.dash.length ? ` stroke-dasharray="${this.dash.join(" ")}"` : "";
    this.parts.push(`<path d="${this.path}" fill="none" stroke="${escape(this.strokeStyle)}" stroke-width="${round(this.lineWidth)}" stroke-linecap="${this.lineCap}" stroke-linejoin="${this.lineJoin}"${dash}${this.alpha()}/>`);
  }

  clip() {
    this.clips += 1;
    this.parts.push(`<clipPath id="clip${this.clips}"><path d="${this.path}"/></clipPath><g clip-path="url(#clip${this.clips})">`);
    this.open[this.open.length - 1] += 1;
  }

  translate(x, y) {
    this.parts.push(`<g transform="translate(${round(x)} ${round(y)})">`);
    this.open[this.open.length - 1] += 1;
  }

  setLineDash(dash) { this.dash = dash; }

  fillRect(x, y, width, height) {
    this.parts.push(`<rect x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}" fill="${escape(this.fillStyle)}"${this.alpha()}/>`);
  }

  clearRect() {}

  fillText(text, x, y) {
    const anchor = { center: "middle", right: "end", end: "end" }[this.textAlign] ?? "start";
    const baseline = { middle: "central", top: "hanging" }[this.textBaseline] ?? "auto";
    this.parts.push(`<text x="${round(x)}" y="${round(y)}" text-anchor="${anchor}" dominant-baseline="${baseline}" fill="${escape(this.fillStyle)}"${fontAttributes(this.font)}${this.alpha()}>${escape(text)}</text>`);
  }

  measureText(text) {
    const size = Number.parseFloat(this.font.match(/([\d.]+)px/)?.[1] ?? "10");
    return { width: String(text).length * size * 0.56 };
  }

  alpha() {
    return this.globalAlpha === 1 ? "" : ` opacity="${round(this.globalAlpha)}"`;
  }

  /** The whole file. @param {string} title @returns {string} */
  text(title) {
    return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${this.width} ${this.height}" width="${this.width}" height="${this.height}" role="img">\n<title>${escape(title)}</title>\n${this.parts.join("\n")}\n</svg>\n`;
  }
}
