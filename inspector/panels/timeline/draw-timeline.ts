import type { Lane } from '../../fold/lanes.ts';
import type { RunFold } from '../../fold/run-fold.ts';
import { CYCLES_PX, drawCycles, drawGaps, drawMarks, MARKS_PX } from './draw-marks.ts';
import { drawStrip, LANE_PX } from './draw-strip.ts';
import type { Paint } from './paint.ts';
import type { Scale } from './scale.ts';

/** Everything but the cursor. The cost goes by what is in sight, and by the width, not by the run. */
export function drawTimeline(
  canvas: HTMLCanvasElement,
  fold: RunFold,
  lanes: readonly Lane[],
  scale: Scale,
  height: number,
  paint: Paint,
): void {
  const on = canvas.getContext('2d');
  if (on === null || scale.width === 0) return;
  fitTo(canvas, scale.width, height);
  const dots = devicePixelRatio;
  on.setTransform(dots, 0, 0, dots, 0, 0);
  on.clearRect(0, 0, scale.width, height);
  on.font = `11px ${getComputedStyle(canvas).fontFamily}`;
  on.textBaseline = 'middle';
  drawRows(on, lanes.length, scale.width, paint);
  drawCycles(on, fold, scale, height, paint);
  lanes.forEach(({ strips }, row) => {
    for (const strip of strips) drawStrip(on, strip, scale, CYCLES_PX + MARKS_PX + row * LANE_PX, paint);
  });
  drawGaps(on, fold, scale, height, paint);
  drawMarks(on, fold, scale, paint);
}

function drawRows(on: CanvasRenderingContext2D, rows: number, width: number, paint: Paint): void {
  on.fillStyle = paint.line;
  on.globalAlpha = 0.5;
  for (let row = 0; row <= rows; row += 1) on.fillRect(0, CYCLES_PX + MARKS_PX + row * LANE_PX - 0.5, width, 1);
  on.globalAlpha = 1;
}

/** A canvas that is given a size is emptied and laid out: so only where it is another one. */
function fitTo(canvas: HTMLCanvasElement, width: number, height: number): void {
  const [across, down] = [Math.round(width * devicePixelRatio), Math.round(height * devicePixelRatio)];
  if (canvas.width !== across) canvas.width = across;
  if (canvas.height !== down) canvas.height = down;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
}
