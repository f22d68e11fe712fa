import type { Chart } from '../../src/engine/charts/chart.ts';
import type { RunCharts } from '../../src/inspection/wire.ts';

/** A laid-out chart, with everything needed to draw it. Lengths are CSS pixels at scale 1. */
export interface Drawing {
  readonly chartId: string;
  readonly width: number;
  readonly height: number;
  /** Transitions of the root state. */
  readonly chips: readonly Chip[];
  /** Parents come before their children; the root state is not included. */
  readonly states: readonly DrawnState[];
  readonly edges: readonly DrawnEdge[];
}

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** A state, in the coordinates of its chart. */
export interface DrawnState extends Box {
  readonly id: string;
  readonly name: string;
  readonly parent: string | null;
  readonly type: 'atomic' | 'compound' | 'parallel' | 'final' | 'history';
  readonly description: string;
  /** The names of the invoked actors; empty if one of them is drawn inside as a chart. */
  readonly note: string;
  /** The initial state of its parent. */
  readonly isInitial: boolean;
  readonly chips: readonly Chip[];
  /** The invoked chart, drawn smaller inside this state; null if there is none. */
  readonly inset: Inset | null;
}

export interface Inset extends Pick<Box, 'x' | 'y'> {
  readonly chartId: string;
  readonly scale: number;
}

/** Edges written as text in their source state (`else → recovering`), because their lines would clutter the picture. */
export interface Chip extends Box {
  readonly labels: readonly string[];
  readonly target: string;
  readonly targetName: string;
  /** The indexes of its transitions in the chart. */
  readonly transitions: readonly number[];
}

/** All transitions between two states, as one line. */
export interface DrawnEdge {
  readonly source: string;
  readonly target: string;
  readonly labels: readonly string[];
  /** All of them are triggered by external events, timeouts or errors. */
  readonly dashed: boolean;
  readonly points: readonly { readonly x: number; readonly y: number }[];
  readonly label: Box | null;
  readonly transitions: readonly number[];
}

/** Drawings by chart id, and the reason if some or all are missing. */
export interface LaidOut {
  readonly drawings: Readonly<Record<string, Drawing>> | null;
  readonly problem: string | null;
}

/** Identifies everything that the drawing of a chart depends on: the chart and the charts inside its states. */
export function chartDigest(chartId: string, { charts, invoked }: RunCharts): string {
  const byId = new Map(charts.map((chart) => [chart.id, chart]));
  const inside = new Map<string, Chart>();
  const names = new Map<string, string>();
  const visit = (id: string): void => {
    const chart = byId.get(id);
    if (chart === undefined || inside.has(id)) return;
    inside.set(id, chart);
    for (const name of chart.states.flatMap(({ invokes }) => invokes)) {
      const inner = ownOf(invoked, name);
      if (inner === undefined) continue;
      names.set(name, inner);
      visit(inner);
    }
  };
  visit(chartId);
  const sorted = [...names].sort(([one], [other]) => (one < other ? -1 : 1));
  return hash(JSON.stringify([DRAWING_VERSION, [...inside.values()], sorted]));
}

/** Increase this when the layout of unchanged charts changes. */
const DRAWING_VERSION = 1;

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
const MAX_STATES = 400;
const MAX_TRANSITIONS = 1_500;
/** The most states in one picture; states of inner charts count each time they are drawn. */
export const MAX_DRAWN = 4_000;
export const LAYOUT_TIMEOUT_MS = 10_000;

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
