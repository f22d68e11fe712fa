import type { RunFold } from '../../fold/run-fold.ts';
import { countUpTo, firstWhere } from '../../fold/sorted.ts';
import { duration } from '../../shown/text.ts';
import type { Paint } from './paint.ts';
import type { Scale } from './scale.ts';

/** The two rows above the lanes: cycles, then marks and gaps. */
export const CYCLES_PX = 14;
export const MARKS_PX = 13;

/** The number of each cycle at its beginning, and a line down through all lanes. */
export function drawCycles(
  on: CanvasRenderingContext2D,
  fold: RunFold,
  scale: Scale,
  bottom: number,
  paint: Paint,
): void {
  const { phases } = fold.spans;
  const begun = firstWhere(phases, ({ from }) => from > scale.entryAt(0)) - 1;
  let place = Math.max(0, begun);
  let linedTo = Number.NEGATIVE_INFINITY;
  while (place < phases.length) {
    const phase = phases[place];
    if (phase === undefined) return;
    const next = firstWhere(phases, ({ cycle }) => cycle > phase.cycle);
    const start = scale.xOf(phase.from);
    const end = next < phases.length ? scale.xOf(phases[next]?.from ?? 0) : scale.endX;
    if (start > scale.width) return;
    if (start - linedTo >= 4) {
      on.fillStyle = paint.line;
      on.fillRect(Math.round(start), 0, 1, bottom);
      linedTo = start;
    }
    const left = Math.max(0, start) + 3;
    const name = [`cycle ${phase.cycle}`, String(phase.cycle)].find((text) => end - left > text.length * 6 + 2);
    on.fillStyle = paint.muted;
    if (name !== undefined) on.fillText(name, left, CYCLES_PX / 2 + 0.5);
    place = Math.max(next, place + 1);
  }
}

/** Where nothing happened for long: the true length stands there. */
export function drawGaps(
  on: CanvasRenderingContext2D,
  fold: RunFold,
  scale: Scale,
  bottom: number,
  paint: Paint,
): void {
  if (scale.axis.by === 'entry') return;
  const { gaps, atMs } = fold.timeLine;
  const last = scale.entryAt(scale.width) + 1;
  let writtenTo = Number.NEGATIVE_INFINITY;
  let linedTo = Number.NEGATIVE_INFINITY;
  on.strokeStyle = paint.muted;
  for (let place = countUpTo(gaps, scale.entryAt(0)); place < gaps.length; place += 1) {
    const seq = gaps[place] ?? 0;
    if (seq > last) return;
    const middle = (scale.xOf(seq - 1) + scale.xOf(seq)) / 2;
    if (middle - linedTo >= 6) {
      on.setLineDash([2, 3]);
      on.beginPath();
      on.moveTo(Math.round(middle) + 0.5, CYCLES_PX + MARKS_PX);
      on.lineTo(Math.round(middle) + 0.5, bottom);
      on.stroke();
      on.setLineDash([]);
      linedTo = middle;
    }
    const text = duration(atMs(seq) - atMs(seq - 1));
    const left = middle - text.length * 3;
    if (left < writtenTo + 8) continue;
    on.fillStyle = paint.muted;
    on.fillText(text, left, CYCLES_PX + MARKS_PX / 2);
    writtenTo = left + text.length * 6;
  }
}

/** Decisions as diamonds, what the user said as triangles: each pixel once. */
export function drawMarks(on: CanvasRenderingContext2D, fold: RunFold, scale: Scale, paint: Paint): void {
  const y = CYCLES_PX + MARKS_PX / 2;
  on.fillStyle = paint.yield;
  eachInSight(fold.places.of('decision'), scale, (x) => {
    on.beginPath();
    on.moveTo(x, y - 5);
    on.lineTo(x + 4, y);
    on.lineTo(x, y + 5);
    on.lineTo(x - 4, y);
    on.fill();
  });
  on.fillStyle = paint.warn;
  eachInSight(fold.places.of('delivery'), scale, (x) => {
    on.beginPath();
    on.moveTo(x - 4, y - 4);
    on.lineTo(x + 4, y - 4);
    on.lineTo(x, y + 5);
    on.fill();
  });
}

function eachInSight(seqs: readonly number[], scale: Scale, draw: (x: number) => void): void {
  const last = scale.entryAt(scale.width);
  let drawn = Number.NEGATIVE_INFINITY;
  for (let place = Math.max(0, countUpTo(seqs, scale.entryAt(0)) - 1); place < seqs.length; place += 1) {
    const seq = seqs[place] ?? 0;
    if (seq > last) return;
    const x = scale.xOf(seq);
    if (x - drawn < 1) continue;
    draw(x);
    drawn = x;
  }
}
