import { formatDuration, formatNumber, PHASE_NAMES } from '../../fold/format.ts';
import type { Bar, Lane, Strip, Tone } from '../../fold/lanes.ts';
import type { RunFold } from '../../fold/run-fold.ts';
import { countStartedBy, countUpTo, firstIndexWhere } from '../../fold/sorted.ts';
import { ticksIn } from '../../fold/time-axis.ts';
import { type Scale, visibleRange } from './scale.ts';

/** The look of a row, in pixels. */
export const LANE_PX = 17;
export const RULER_PX = 18;
const BAR_PX = 14;
const FONT_PX = 11;
/** Narrower bars have one color and no name. */
const NARROW_PX = 4;
const PADDING_PX = 4;
/** With less space for each, bars are replaced by columns of sums. */
const CROWDED_PX = 5;
const WIDE_PX = 12;
/** Cycles are grouped so that each group is at least this wide. */
const GROUP_PX = 64;
const GROUPS: readonly number[] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000];
/** With less space for each, decisions are left out: they would hide the names of the cycles. */
const DECISION_PX = 24;

type Canvas = CanvasRenderingContext2D;

/** Sets the size of a canvas and clears it; null if nothing can be drawn. */
export function cleared(canvas: HTMLCanvasElement, width: number, height: number): Canvas | null {
  const on = canvas.getContext('2d');
  if (on === null || width === 0) return null;
  const [across, down] = [Math.round(width * devicePixelRatio), Math.round(height * devicePixelRatio)];
  // Setting the size clears a canvas and is slow, so it is set only if it changed.
  if (canvas.width !== across) canvas.width = across;
  if (canvas.height !== down) canvas.height = down;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  on.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
  on.clearRect(0, 0, width, height);
  on.font = `${FONT_PX}px ${getComputedStyle(canvas).fontFamily}`;
  on.textBaseline = 'middle';
  return on;
}

/** The cost depends on what is visible, not on the length of the run. */
export function drawLanes(on: Canvas, fold: RunFold, lanes: readonly Lane[], scale: Scale, paint: Paint): void {
  const height = lanes.length * LANE_PX;
  drawCycles(on, fold, scale, height, paint);
  // Below the names of the cycles.
  const under = fold.spans.cycles.length > 0 ? LANE_PX : 0;
  drawGaps(on, fold, scale, { top: under, height: height - under }, paint);
  on.fillStyle = paint.line;
  for (let row = 1; row <= lanes.length; row += 1) on.fillRect(0, row * LANE_PX - 0.5, scale.width, 0.5);
  lanes.forEach(({ strips }, row) => {
    const top = row * LANE_PX + (LANE_PX - BAR_PX) / 2;
    for (const strip of strips) {
      const [first, end] = visibleRange(strip, scale.entryAt(0), scale.entryAt(scale.width));
      if (first >= end) continue;
      const { kind } = strip.bar(first);
      const isCrowded = end - first > scale.width / CROWDED_PX;
      if (kind === 'phase' && isCrowded) drawShares(on, fold, scale, top, paint);
      else if (kind === 'attempt' && isCrowded) drawTokens(on, fold, scale, top, paint);
      else if (kind !== 'cycle' && !(kind === 'decision' && end - first > scale.width / DECISION_PX))
        drawStrip(on, strip, first, end, scale, top, paint);
    }
  });
}

/** Above the lanes: cycles, in groups that are wide enough for a name. Every second one has a darker background. */
function drawCycles(on: Canvas, { spans: { cycles } }: RunFold, scale: Scale, height: number, paint: Paint): void {
  const first = Math.max(0, countStartedBy(cycles, scale.entryAt(0)) - 1);
  const end = countStartedBy(cycles, scale.entryAt(scale.width));
  const perCycle = scale.width / Math.max(1, end - first);
  const size = GROUPS.find((count) => count * perCycle >= GROUP_PX) ?? cycles.length;
  for (let index = Math.floor(first / size) * size; index < end; index += size) {
    const [start, next] = [cycles[index], cycles[index + size]];
    if (start === undefined) return;
    const left = scale.xOf(start.from);
    const right = next === undefined ? scale.endX : scale.xOf(next.from);
    on.fillStyle = paint.sunken;
    if ((index / size) % 2 === 1) on.fillRect(left, 0, right - left, height);
    on.fillStyle = paint.line;
    on.fillRect(Math.round(left), 0, 1, height);
    const last = cycles[Math.min(index + size, cycles.length) - 1]?.cycle ?? start.cycle;
    const numbers = size === 1 ? `${start.cycle}` : `${start.cycle}–${last}`;
    const place = { left: left + PADDING_PX, width: right - left - PADDING_PX, top: (LANE_PX - BAR_PX) / 2 };
    drawName(on, [`${size === 1 ? 'Cycle' : 'Cycles'} ${numbers}`, numbers], place, paint.muted);
  }
}

/** Draws the visible bars of a strip. Bars on the same pixel are drawn once, and once more if one of them failed. */
function drawStrip(
  on: Canvas,
  strip: Strip,
  first: number,
  end: number,
  scale: Scale,
  top: number,
  paint: Paint,
): void {
  let drawnTo = Number.NEGATIVE_INFINITY;
  let markedTo = Number.NEGATIVE_INFINITY;
  let namedTo = Number.NEGATIVE_INFINITY;
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
    const place = { left, width: Math.max(1, right - left), top };
    drawBar(on, bar, place, paint);
    if (left < namedTo) continue;
    namedTo = Math.max(namedTo, drawName(on, namesOf(bar), place, paint.text) + 2 * PADDING_PX);
  }
}

interface Place {
  readonly left: number;
  readonly width: number;
  readonly top: number;
}

function drawBar(on: Canvas, bar: Bar, { left, width, top }: Place, paint: Paint): void {
  const { tone } = bar;
  if (tone === 'cycle') return;
  if (tone === 'decision' || tone === 'event') return void drawMark(on, tone, left, top, paint);
  const isBad = bar.failure !== null;
  if (tone === 'wait') return void drawWait(on, left, width, top, paint);
  on.fillStyle = isBad ? paint.bad : paint[tone];
  if (width < NARROW_PX) {
    on.globalAlpha = 0.75;
    on.fillRect(left, top, width, BAR_PX);
    on.globalAlpha = 1;
    if (isBad) on.fillRect(left, top + BAR_PX - 4, Math.max(2, width), 4);
    return;
  }
  on.globalAlpha = bar.kind === 'phase' || bar.kind === 'state' ? 0.32 : 0.18;
  on.fillRect(left, top, width - 1, BAR_PX);
  on.globalAlpha = 1;
  on.fillRect(left, top, 2, BAR_PX);
  if (isBad) hatch(on, left, top, width - 1, BAR_PX, 0.5);
  on.fillStyle = paint.warn;
  if (bar.isRetry) on.fillRect(left, top + BAR_PX - 2, width - 1, 2);
}

/** A decision is a diamond, an event sent to the run a triangle. */
function drawMark(on: Canvas, tone: 'decision' | 'event', x: number, top: number, paint: Paint): void {
  const y = top + BAR_PX / 2;
  const corners =
    tone === 'decision' ? [x, y - 5, x + 4, y, x, y + 5, x - 4, y] : [x - 4, y - 4, x + 4, y - 4, x, y + 5];
  on.fillStyle = paint[tone];
  on.beginPath();
  for (let corner = 0; corner < corners.length; corner += 2) on.lineTo(corners[corner] ?? 0, corners[corner + 1] ?? 0);
  on.fill();
}

/** A wait is an empty bar with a dashed border. */
function drawWait(on: Canvas, left: number, width: number, top: number, paint: Paint): void {
  on.strokeStyle = paint.wait;
  on.setLineDash([3, 2]);
  on.lineWidth = 1;
  if (width < NARROW_PX) on.strokeRect(left, top + BAR_PX / 2, width, 0);
  else on.strokeRect(left + 0.5, top + 1.5, width - 1, BAR_PX - 3);
  on.setLineDash([]);
}

function hatch(on: Canvas, left: number, top: number, width: number, height: number, alpha: number): void {
  on.save();
  on.beginPath();
  on.rect(left, top, width, height);
  on.clip();
  on.strokeStyle = on.fillStyle;
  on.globalAlpha = alpha;
  on.lineWidth = 1;
  on.beginPath();
  for (let x = Math.floor((left - height) / 6) * 6; x < left + width; x += 6) {
    on.moveTo(x, top + height);
    on.lineTo(x + height, top);
  }
  on.stroke();
  on.restore();
}

/** Writes the longest of these names that fits, or none. Returns where it ends; without one, before the bar. */
function drawName(on: Canvas, names: readonly string[], { left, width, top }: Place, color: string): number {
  const start = Math.max(0, left) + PADDING_PX;
  const room = left + width - start - PADDING_PX / 2;
  const name = room < FONT_PX / 2 ? undefined : names.find((one) => on.measureText(one).width <= room);
  if (name === undefined) return left - 2 * PADDING_PX;
  on.fillStyle = color;
  on.fillText(name, start, top + BAR_PX / 2 + 0.5);
  return start + on.measureText(name).width;
}

/** The possible labels of a bar, the longest first. */
function namesOf({ label, short, failure, attempt, to }: Bar): readonly string[] {
  if (label === '') return [];
  const mark = failure === null ? '' : '× ';
  const usage = attempt?.usage;
  const tokens = usage ? [`${mark}${label} · ${formatNumber(usage.inputTokens + usage.outputTokens)} tokens`] : [];
  return [
    ...tokens,
    `${mark}${label}${to === null ? ' …' : ''}`,
    ...(short === undefined ? [] : [mark + short, short]),
  ];
}

/** Seconds since the start. A shortened gap is a hatched break with its real length. */
export function drawRuler(on: Canvas, fold: RunFold, scale: Scale, paint: Paint): void {
  const middle = RULER_PX / 2;
  const taken: (readonly [number, number])[] = [];
  const isFree = (left: number, right: number): boolean =>
    !taken.some(([from, to]) => left < to + 6 && right > from - 6);
  drawGaps(on, fold, scale, { top: 0, height: RULER_PX }, paint);
  for (const { left, right, ms } of gapsOn(fold, scale)) {
    const text = `… ${formatDuration(ms)} idle`;
    const width = on.measureText(text).width;
    const isInside = width + 8 < right - left;
    const start = Math.min(isInside ? (left + right - width) / 2 : right + 3, scale.width - width - 2);
    if (!isFree(start, start + width)) continue;
    taken.push([start, start + width]);
    on.fillStyle = paint.surface;
    on.fillRect(start - 2, 2, width + 4, RULER_PX - 4);
    on.fillStyle = paint.text;
    on.font = `italic ${on.font}`;
    on.fillText(text, start, middle + 0.5);
    on.font = on.font.replace('italic ', '');
  }
  const perPx = scale.positionAt(1) - scale.positionAt(0);
  for (const { position, label } of ticksIn(scale.axis, fold.timeLine, scale.window, perPx * 72)) {
    const x = Math.round(scale.xAt(position));
    on.fillStyle = paint.strong;
    on.fillRect(x, RULER_PX - 5, 1, 5);
    const width = on.measureText(label).width;
    const start = Math.min(x + 3, scale.width - width - 1);
    if (!isFree(start, start + width)) continue;
    taken.push([start, start + width]);
    on.fillStyle = paint.muted;
    on.fillText(label, start, middle);
  }
}

/** The visible shortened gaps; those of less than a pixel are left out. */
function gapsOn({ timeLine: { gaps, atMs } }: RunFold, scale: Scale) {
  if (scale.axis.by === 'entry') return [];
  const found: { readonly left: number; readonly right: number; readonly ms: number }[] = [];
  const last = scale.entryAt(scale.width) + 1;
  for (let index = countUpTo(gaps, scale.entryAt(0)); index < gaps.length; index += 1) {
    const seq = gaps[index] ?? 0;
    if (seq > last) break;
    const [left, right] = [scale.xOf(seq - 1), scale.xOf(seq)];
    if (right - left >= 1) found.push({ left, right, ms: atMs(seq) - atMs(seq - 1) });
  }
  return found;
}

function drawGaps(on: Canvas, fold: RunFold, scale: Scale, { top, height }: Rows, paint: Paint): void {
  for (const { left, right } of gapsOn(fold, scale)) {
    on.fillStyle = paint.sunken;
    on.fillRect(left, top, right - left, height);
    on.fillStyle = paint.strong;
    hatch(on, left, top, right - left, height, 0.45);
  }
}

interface Rows {
  readonly top: number;
  readonly height: number;
}

/** Draws columns of a few pixels, each divided by the time of its phases. */
function drawShares(on: Canvas, fold: RunFold, scale: Scale, top: number, paint: Paint): void {
  const { phases } = fold.spans;
  const columns = Math.ceil(scale.width / WIDE_PX);
  const shares = PHASE_NAMES.map(() => new Float64Array(columns));
  const end = countStartedBy(phases, scale.entryAt(scale.width));
  for (let index = Math.max(0, countStartedBy(phases, scale.entryAt(0)) - 1); index < end; index += 1) {
    const phase = phases[index];
    const share = phase === undefined ? undefined : shares[PHASE_NAMES.indexOf(phase.phase)];
    if (phase === undefined || share === undefined) continue;
    const left = Math.max(0, scale.xOf(phase.from) / WIDE_PX);
    const right = Math.min(columns, (phase.to === null ? scale.endX : scale.xOf(phase.to)) / WIDE_PX);
    for (let column = Math.floor(left); column < right; column += 1)
      share[column] = (share[column] ?? 0) + Math.min(right, column + 1) - Math.max(left, column);
  }
  on.globalAlpha = 0.7;
  for (let column = 0; column < columns; column += 1) {
    let bottom = top + BAR_PX;
    shares.forEach((share, phase) => {
      const part = Math.min(1, share[column] ?? 0) * BAR_PX;
      on.fillStyle = paint[PHASE_NAMES[phase] ?? 'other'];
      if (part > 0.1) on.fillRect(column * WIDE_PX, bottom - part, WIDE_PX, part);
      bottom -= part;
    });
  }
  on.globalAlpha = 1;
}

/** Draws the tokens of the model calls in each column, those of failed ones in red. */
function drawTokens(on: Canvas, { spans: { attempts } }: RunFold, scale: Scale, top: number, paint: Paint): void {
  const columns = Math.ceil(scale.width / WIDE_PX);
  const [all, failed] = [new Float64Array(columns), new Float64Array(columns)];
  const end = countStartedBy(attempts, scale.entryAt(scale.width));
  for (let index = firstIndexWhere(attempts, ({ from }) => from >= scale.entryAt(0)); index < end; index += 1) {
    const { from, usage, failure } = attempts[index] ?? { from: 0, usage: null, failure: null };
    const column = Math.max(0, Math.floor(scale.xOf(from) / WIDE_PX));
    const tokens = usage === null ? 0 : usage.inputTokens + usage.outputTokens;
    all[column] = (all[column] ?? 0) + tokens;
    if (failure !== null) failed[column] = (failed[column] ?? 0) + tokens;
  }
  const most = Math.max(1, ...all);
  const bars = (tokens: Float64Array, color: string): void => {
    on.fillStyle = color;
    tokens.forEach((count, column) => {
      const height = count === 0 ? 0 : Math.max(1, (count / most) * BAR_PX);
      on.fillRect(column * WIDE_PX, top + BAR_PX - height, WIDE_PX - 1, height);
    });
  };
  bars(all, paint.other);
  bars(failed, paint.bad);
}

export type Paint = Readonly<
  Record<Tone | 'text' | 'muted' | 'line' | 'strong' | 'surface' | 'sunken' | 'bad' | 'warn', string>
>;

const PALETTE: Readonly<Record<string, string>> = {
  ...Object.fromEntries(PHASE_NAMES.map((phase) => [phase, `var(--phase-${phase}, var(--accent))`])),
  synthesis: 'var(--phase-synthesis)',
  cycle: 'var(--muted)',
  wait: 'var(--warn)',
  other: 'var(--line-strong)',
  state: 'var(--accent)',
  decision: 'var(--text)',
  event: 'var(--accent)',
  strong: 'var(--line-strong)',
  ...Object.fromEntries(
    ['text', 'muted', 'line', 'surface', 'sunken', 'bad', 'warn'].map((name) => [name, `var(--${name})`]),
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
