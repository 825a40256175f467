// A canvas that is as sharp as the screen and knows when it changes size.

/**
 * @param {HTMLCanvasElement} canvas
 * @param {() => void} changed  called when the size has changed
 */
export function sharp(canvas, changed) {
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const box = { context, width: 0, height: 0, scale: 1, visible: false };
  const measure = () => {
    const { width, height } = canvas.getBoundingClientRect();
    const scale = Math.min(3, window.devicePixelRatio || 1);
    box.visible = width > 0 && height > 0;
    if (!box.visible || (width === box.width && height === box.height && scale === box.scale)) return;
    Object.assign(box, { width, height, scale });
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    changed();
  };
  new ResizeObserver(measure).observe(canvas);
  measure();
  return box;
}

/** Clears it and lets what follows be said in CSS pixels. */
export function begin(box) {
  box.context.setTransform(box.scale, 0, 0, box.scale, 0, 0);
  box.context.clearRect(0, 0, box.width, box.height);
  box.context.globalAlpha = 1;
  box.context.setLineDash([]);
  return box.context;
}
