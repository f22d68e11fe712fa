import type { Strip } from '../../fold/strips.ts';
import type { Paint } from './paint.ts';
import { placesBetween, type Scale } from './scale.ts';

/** The look of a row, in pixels. */
export const LANE_PX = 15;
const BAR_PX = 12;
const CHAR_PX = 6;
/** Bars narrower than this are one colour; names need more. */
const NARROW_PX = 4;
const NAMED_PX = 20;

/** The bars of a strip that are in sight. Where many fall on one pixel, that pixel is drawn once, and once more if one of them failed. */
export function drawStrip(on: CanvasRenderingContext2D, strip: Strip, scale: Scale, top: number, paint: Paint): void {
  const [first, end] = placesBetween(strip, scale.entryAt(0), scale.entryAt(scale.width));
  let drawnTo = Number.NEGATIVE_INFINITY;
  let markedTo = Number.NEGATIVE_INFINITY;
  for (let place = first; place < end; place += 1) {
    const to = strip.to(place);
    const left = Math.max(-1, scale.xOf(strip.from(place)));
    const right = Math.min(scale.width + 1, to === null ? scale.endX : scale.xOf(to));
    if (right < 0) continue;
    const isBad = strip.failure(place) !== null;
    const pixel = Math.floor(Math.max(right, left + 1));
    if (right - left < NARROW_PX && pixel <= drawnTo && !(isBad && pixel > markedTo)) continue;
    drawnTo = Math.max(drawnTo, pixel);
    if (isBad) markedTo = pixel;
    drawBar(on, { strip, place, left, width: Math.max(1, right - left), isBad, isOpen: to === null }, top, paint);
  }
}

interface Bar {
  readonly strip: Strip;
  readonly place: number;
  readonly left: number;
  readonly width: number;
  readonly isBad: boolean;
  readonly isOpen: boolean;
}

function drawBar(on: CanvasRenderingContext2D, bar: Bar, top: number, paint: Paint): void {
  const { strip, place, left, width, isBad } = bar;
  const tone = strip.tone(place);
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

/** A wait is an empty bar with a dashed line around it. */
function drawWait(on: CanvasRenderingContext2D, bar: Bar, y: number, paint: Paint): void {
  on.strokeStyle = paint.wait;
  on.setLineDash([3, 2]);
  on.lineWidth = 1;
  if (bar.width < NARROW_PX) on.strokeRect(bar.left, y + BAR_PX / 2, bar.width, 0);
  else on.strokeRect(bar.left + 0.5, y + 1.5, bar.width - 1, BAR_PX - 3);
  on.setLineDash([]);
  nameBar(on, bar, y, paint);
}

/** What failed is hatched. */
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

function nameBar(on: CanvasRenderingContext2D, bar: Bar, y: number, paint: Paint): void {
  const left = Math.max(0, bar.left) + 4;
  const room = bar.left + bar.width - left;
  if (room < NAMED_PX) return;
  const name = `${bar.isBad ? '× ' : ''}${bar.strip.label(bar.place)}${bar.isOpen ? ' …' : ''}`;
  const chars = Math.floor(room / CHAR_PX);
  on.fillStyle = paint.text;
  on.fillText(name.length <= chars ? name : `${name.slice(0, chars - 1)}…`, left, y + BAR_PX / 2 + 0.5);
}
