import type { Chart } from '../../src/durable/charts/chart.ts';
import type { RunCharts } from '../../src/inspection/wire.ts';

/** Pictures of a chart by the state whose inside they show: the whole chart (under its own id), and each folded state. */
export type Drawing = Readonly<Record<string, DrawnLevel>>;

/** States and lines that are drawn together. Lengths are CSS pixels at scale 1. */
export interface DrawnLevel {
  /** What the state around the level does, above it. */
  readonly lines: readonly BoxLine[];
  readonly width: number;
  readonly height: number;
  /** Parents come before their children; the state around them is not included. */
  readonly states: readonly DrawnState[];
  readonly stubs: readonly DrawnStub[];
  readonly edges: readonly DrawnEdge[];
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Box extends Point {
  readonly width: number;
  readonly height: number;
}

export interface DrawnState extends Box {
  readonly id: string;
  /** Its children are part of the same level. */
  readonly isOpen: boolean;
  readonly lines: readonly BoxLine[];
}

/** A line of text below the name of a state. */
export interface BoxLine {
  /** `inside`: the number of states inside a folded state, or the active one. */
  readonly kind: 'inside' | 'about' | 'part' | 'stub';
  readonly text: string;
  /** The transitions that it stands for, by their indexes in the chart. */
  readonly transitions: readonly number[];
}

/** The end of a line outside the level (a name), or at any state. */
interface DrawnStub extends Box {
  readonly text: string;
  /** The transitions that begin at it. */
  readonly transitions: readonly number[];
}

/** All transitions with the same ends at a level. */
export interface DrawnEdge {
  /** Null: a stub. */
  readonly source: string | null;
  readonly target: string | null;
  /** Their indexes in the chart. */
  readonly transitions: readonly number[];
  /** The corners of the line; empty if no line is drawn. */
  readonly points: readonly Point[];
  readonly label: Box | null;
  /** Another line of the same state has the label; this one shows only a count. */
  readonly isBranch: boolean;
}

/** What the worker lays out. */
export interface LayoutRequest extends RunCharts {
  /** The ratio of width to height of the space for a chart. */
  readonly aspect: number;
}

/** Drawings by chart id, and the reason if some or all are missing. */
export interface LaidOut {
  readonly drawings: Readonly<Record<string, Drawing>> | null;
  readonly problem: string | null;
  /** Whether the insides of states follow. */
  readonly isPart?: true;
}

/** Increase this when the layout of unchanged charts changes. */
const DRAWING_VERSION = 25;

/** Identifies everything that the drawing of a chart depends on. */
export const chartDigest = (chart: Chart): string => hash(JSON.stringify([DRAWING_VERSION, chart]));

/** FNV-1a with two different seeds: 64 bits in hexadecimal. Not cryptographic. */
function hash(text: string): string {
  let [one, other] = [0x811c9dc5, 0x1b873593];
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    one = Math.imul(one ^ unit, 0x01000193);
    other = Math.imul(other ^ (unit + index), 0x01000193);
  }
  return [one, other].map((part) => (part >>> 0).toString(16).padStart(8, '0')).join('');
}

/** Larger charts are not laid out: it would be slow, and the picture unreadable. */
const MAX_STATES = 500;
const MAX_TRANSITIONS = 1_500;

/** Why charts are too large to lay out, in one line; null if they are not. */
export function tooLarge({ charts }: RunCharts): string | null {
  for (const { states, transitions } of charts) {
    if (states.length > MAX_STATES)
      return `The chart has ${states.length} states; up to ${MAX_STATES} are drawn as a picture.`;
    if (transitions.length > MAX_TRANSITIONS)
      return `The chart has ${transitions.length} transitions; up to ${MAX_TRANSITIONS} are drawn as a picture.`;
  }
  return null;
}

/** Reads an own property; the key may come from untrusted data, such as `__proto__`. */
export function ownOf<Value>(record: Readonly<Record<string, Value>>, key: string): Value | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}
