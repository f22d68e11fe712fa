import { formatDuration, PHASE_NAMES } from '../../fold/format.ts';
import type { Bar, Strip, Tone } from '../../fold/lanes.ts';
import type { RunFold } from '../../fold/run-fold.ts';
import { countUpTo, firstIndexWhere } from '../../fold/sorted.ts';
import { type Scale, visibleRange } from './scale.ts';

/** The look of a row, in pixels. */
export const LANE_PX = 15;
const BAR_PX = 12;
const CHAR_PX = 6;
/** Narrower bars have one color; labels need more space. */
const NARROW_PX = 4;
const NAMED_PX = 20;

/** Draws the visible bars of a strip. Bars on the same pixel are drawn once, and once more if one of them failed. */
export function drawStrip(on: CanvasRenderingContext2D, strip: Strip, scale: Scale, top: number, paint: Paint): void {
  const [first, end] = visibleRange(strip, scale.entryAt(0), scale.entryAt(scale.width));
  let drawnTo = Number.NEGATIVE_INFINITY;
  let markedTo = Number.NEGATIVE_INFINITY;
  for (let index = first; index < end; index += 1) {
    const bar = strip.bar(index);
    const left = Math.max(-1, scale.xOf(bar.from));
    const right = Math.min(scale.width + 1, bar.to === null ? scale.endX : scale.xOf(bar.to));
    if (right < 0) continue;
    const isBad = bar.failure !== null;
    const pixel = Math.floor(Math.max(right, left + 1));
    if (right - left < NARROW_PX && pixel <= drawnTo && !(isBad && pixel > markedTo)) continue;
    drawnTo = Math.max(drawnTo, pixel);
    if (isBad) markedTo = pixel;
    drawBar(on, { ...bar, left, width: Math.max(1, right - left), isBad }, top, paint);
  }
}

interface DrawnBar extends Bar {
  readonly left: number;
  readonly width: number;
  readonly isBad: boolean;
}

function drawBar(on: CanvasRenderingContext2D, bar: DrawnBar, top: number, paint: Paint): void {
  const { tone, left, width, isBad } = bar;
  const y = top + (LANE_PX - BAR_PX) / 2;
  if (tone === 'wait') {
    drawWait(on, bar, y, paint);
    return;
  }
  on.fillStyle = isBad ? paint.bad : paint[tone];
  if (width < NARROW_PX) {
    on.globalAlpha = tone === 'loop' ? 0.25 : 0.75;
    on.fillRect(left, y, width, BAR_PX);
    on.globalAlpha = 1;
    if (isBad) on.fillRect(left, y + BAR_PX - 3, Math.max(2, width), 3);
    return;
  }
  on.globalAlpha = tone === 'loop' ? 0.1 : 0.24;
  on.fillRect(left, y, width - 0.5, BAR_PX);
  on.globalAlpha = 1;
  on.fillRect(left, y, tone === 'loop' ? 1 : 2, BAR_PX);
  if (isBad) hatch(on, left, y, width - 0.5);
  if (tone !== 'loop') nameBar(on, bar, y, paint);
}

/** Draws a wait as an empty bar with a dashed border. */
function drawWait(on: CanvasRenderingContext2D, bar: DrawnBar, y: number, paint: Paint): void {
  on.strokeStyle = paint.wait;
  on.setLineDash([3, 2]);
  on.lineWidth = 1;
  if (bar.width < NARROW_PX) on.strokeRect(bar.left, y + BAR_PX / 2, bar.width, 0);
  else on.strokeRect(bar.left + 0.5, y + 1.5, bar.width - 1, BAR_PX - 3);
  on.setLineDash([]);
  nameBar(on, bar, y, paint);
}

/** Hatches a failed bar. */
function hatch(on: CanvasRenderingContext2D, left: number, y: number, width: number): void {
  on.save();
  on.beginPath();
  on.rect(left, y, width, BAR_PX);
  on.clip();
  on.strokeStyle = on.fillStyle;
  on.globalAlpha = 0.55;
  on.lineWidth = 1;
  on.beginPath();
  for (let x = left - BAR_PX; x < left + width; x += 6) {
    on.moveTo(x, y + BAR_PX);
    on.lineTo(x + BAR_PX, y);
  }
  on.stroke();
  on.restore();
}

function nameBar(on: CanvasRenderingContext2D, bar: DrawnBar, y: number, paint: Paint): void {
  const left = Math.max(0, bar.left) + 4;
  const room = bar.left + bar.width - left;
  if (room < NAMED_PX) return;
  const name = `${bar.isBad ? '× ' : ''}${bar.label}${bar.to === null ? ' …' : ''}`;
  const chars = Math.floor(room / CHAR_PX);
  on.fillStyle = paint.text;
  on.fillText(name.length <= chars ? name : `${name.slice(0, chars - 1)}…`, left, y + BAR_PX / 2 + 0.5);
}

/** The two rows above the lanes: cycles, then marks and gaps. */
export const CYCLES_PX = 14;
export const MARKS_PX = 13;
const MARK_PX = 9;

/** Draws the number of each cycle at its start, and a line through all lanes. */
export function drawCycles(
  on: CanvasRenderingContext2D,
  fold: RunFold,
  scale: Scale,
  bottom: number,
  paint: Paint,
): void {
  const { phases } = fold.spans;
  const firstIndex = firstIndexWhere(phases, ({ from }) => from > scale.entryAt(0)) - 1;
  let index = Math.max(0, firstIndex);
  let namedTo = Number.NEGATIVE_INFINITY;
  let linedTo = Number.NEGATIVE_INFINITY;
  while (index < phases.length) {
    const phase = phases[index];
    if (phase === undefined) return;
    const next = firstIndexWhere(phases, ({ cycle }) => cycle > phase.cycle);
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
    index = Math.max(next, index + 1);
  }
}

/** Labels shortened gaps with their real length. */
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
  for (let index = countUpTo(gaps, scale.entryAt(0)); index < gaps.length; index += 1) {
    const seq = gaps[index] ?? 0;
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
    const text = formatDuration(atMs(seq) - atMs(seq - 1));
    const left = middle - text.length * 3;
    if (left < writtenTo + 8) continue;
    on.fillStyle = paint.muted;
    on.fillText(text, left, CYCLES_PX + MARKS_PX / 2);
    writtenTo = left + text.length * 6;
  }
}

/** Draws decisions as diamonds and user events as triangles. */
export function drawMarks(on: CanvasRenderingContext2D, fold: RunFold, scale: Scale, paint: Paint): void {
  const y = CYCLES_PX + MARKS_PX / 2;
  drawEach(on, fold.entries.of('decision'), scale, paint.yield, (x) => {
    on.moveTo(x, y - 5);
    on.lineTo(x + 4, y);
    on.lineTo(x, y + 5);
    on.lineTo(x - 4, y);
  });
  drawEach(on, fold.entries.of('delivery'), scale, paint.warn, (x) => {
    on.moveTo(x - 4, y - 4);
    on.lineTo(x + 4, y - 4);
    on.lineTo(x, y + 5);
  });
}

/** Crowded marks are drawn as ticks, one per pixel. */
function drawEach(
  on: CanvasRenderingContext2D,
  seqs: readonly number[],
  scale: Scale,
  color: string,
  outline: (x: number) => void,
): void {
  const last = scale.entryAt(scale.width);
  const xAt = (index: number): number => (index in seqs ? scale.xOf(seqs[index] ?? 0) : Number.POSITIVE_INFINITY);
  let before = Number.NEGATIVE_INFINITY;
  on.fillStyle = color;
  on.beginPath();
  for (let index = Math.max(0, countUpTo(seqs, scale.entryAt(0)) - 1); index < seqs.length; index += 1) {
    if ((seqs[index] ?? 0) > last) break;
    const x = xAt(index);
    if (x - before < 2) continue;
    if (x - before >= MARK_PX && xAt(index + 1) - x >= MARK_PX) outline(x);
    else on.rect(x - 0.5, CYCLES_PX + 3, 1, MARKS_PX - 6);
    before = x;
  }
  on.fill();
}

/** The colors of the page, for the canvas. */
export type Paint = Readonly<
  Record<Tone | 'text' | 'muted' | 'line' | 'surface' | 'raised' | 'accent' | 'bad' | 'warn', string>
>;

const PALETTE: Readonly<Record<string, string>> = {
  ...Object.fromEntries(PHASE_NAMES.map((phase) => [phase, `var(--phase-${phase}, var(--accent))`])),
  loop: 'var(--phase-action, var(--muted))',
  attempt: 'var(--accent)',
  wait: 'var(--warn)',
  call: 'var(--ok)',
  capability: 'var(--phase-action, var(--accent))',
  state: 'var(--accent)',
  ...Object.fromEntries(
    ['text', 'muted', 'line', 'surface', 'raised', 'accent', 'bad', 'warn'].map((name) => [name, `var(--${name})`]),
  ),
};

/** Reads the current values of custom properties, via the computed color of an element. */
export function readPaint(element: HTMLElement): Paint {
  const before = element.style.color;
  const paint: Record<string, string> = {};
  for (const [name, value] of Object.entries(PALETTE)) {
    element.style.color = value;
    paint[name] = getComputedStyle(element).color;
  }
  element.style.color = before;
  return paint as Paint;
}
