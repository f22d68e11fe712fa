import { duration } from '../../fold/number-words.ts';
import type { RunFold } from '../../fold/run-fold.ts';
import { countUpTo, firstWhere } from '../../fold/sorted.ts';
import type { Paint } from './paint.ts';
import type { Scale } from './scale.ts';

/** The two rows above the lanes: cycles, then marks and gaps. */
export const CYCLES_PX = 14;
export const MARKS_PX = 13;
const MARK_PX = 9;

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
  let namedTo = Number.NEGATIVE_INFINITY;
  let linedTo = Number.NEGATIVE_INFINITY;
  while (place < phases.length) {
    const phase = phases[place];
    if (phase === undefined) return;
    const next = firstWhere(phases, ({ cycle }) => cycle > phase.cycle);
    const start = scale.xOf(phase.from);
    const end = next < phases.length ? scale.xOf(phases[next]?.from ?? 0) : scale.endX;
    if (start > scale.width) return;
    if (start - linedTo >= 12) {
      on.fillStyle = paint.line;
      on.fillRect(Math.round(start), 0, 1, bottom);
      linedTo = start;
    }
    const left = Math.max(0, start) + 3;
    const name = [`cycle ${phase.cycle}`, String(phase.cycle)].find((text) => end - left > text.length * 6 + 2);
    if (name !== undefined || start > namedTo + 24) {
      const text = name ?? String(phase.cycle);
      on.fillStyle = paint.muted;
      on.fillText(text, left, CYCLES_PX / 2 + 0.5);
      namedTo = left + text.length * 6;
    }
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

/** Decisions as diamonds, what the user said as triangles. */
export function drawMarks(on: CanvasRenderingContext2D, fold: RunFold, scale: Scale, paint: Paint): void {
  const y = CYCLES_PX + MARKS_PX / 2;
  drawEach(on, fold.places.of('decision'), scale, paint.yield, (x) => {
    on.moveTo(x, y - 5);
    on.lineTo(x + 4, y);
    on.lineTo(x, y + 5);
    on.lineTo(x - 4, y);
  });
  drawEach(on, fold.places.of('delivery'), scale, paint.warn, (x) => {
    on.moveTo(x - 4, y - 4);
    on.lineTo(x + 4, y - 4);
    on.lineTo(x, y + 5);
  });
}

/** Where marks would lie on each other they are ticks, and each pixel has one. */
function drawEach(
  on: CanvasRenderingContext2D,
  seqs: readonly number[],
  scale: Scale,
  color: string,
  outline: (x: number) => void,
): void {
  const last = scale.entryAt(scale.width);
  const xAt = (place: number): number => (place in seqs ? scale.xOf(seqs[place] ?? 0) : Number.POSITIVE_INFINITY);
  let before = Number.NEGATIVE_INFINITY;
  on.fillStyle = color;
  on.beginPath();
  for (let place = Math.max(0, countUpTo(seqs, scale.entryAt(0)) - 1); place < seqs.length; place += 1) {
    if ((seqs[place] ?? 0) > last) break;
    const x = xAt(place);
    if (x - before < 2) continue;
    if (x - before >= MARK_PX && xAt(place + 1) - x >= MARK_PX) outline(x);
    else on.rect(x - 0.5, CYCLES_PX + 3, 1, MARKS_PX - 6);
    before = x;
  }
  on.fill();
}
