import type { Chart } from '../../src/engine/charts/chart.ts';
import type { RunCharts } from '../../src/inspection/wire.ts';

/** Where a chart is drawn: what layout makes of it, once, and all that the picture needs. Lengths are CSS pixels at scale 1. */
export interface Drawing {
  readonly chartId: string;
  readonly width: number;
  readonly height: number;
  /** What holds anywhere in it. */
  readonly chips: readonly Chip[];
  /** Outer states before their inner ones; the root of the chart is not among them. */
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
  /** The actors that run in it, where none of them is a chart that is drawn inside it; else empty. */
  readonly note: string;
  /** The state that its parent begins with. */
  readonly isInitial: boolean;
  readonly chips: readonly Chip[];
  /** The chart that runs inside it, drawn smaller; null where nothing with a chart does. */
  readonly inset: Inset | null;
}

export interface Inset extends Pick<Box, 'x' | 'y'> {
  readonly chartId: string;
  readonly scale: number;
}

/** Edges that would tangle the picture, told in words in the state that they leave: `else → recovering`. */
export interface Chip extends Box {
  readonly labels: readonly string[];
  readonly target: string;
  readonly targetName: string;
  /** The transitions that it stands for, by their places in the chart. */
  readonly transitions: readonly number[];
}

/** All transitions between two states, as one line. */
export interface DrawnEdge {
  readonly source: string;
  readonly target: string;
  readonly labels: readonly string[];
  /** Each of them is an event from outside, a time-out or an error. */
  readonly dashed: boolean;
  readonly points: readonly { readonly x: number; readonly y: number }[];
  readonly label: Box | null;
  readonly transitions: readonly number[];
}

/** The drawings of charts by their ids, or why there are none, or not all. */
export interface LaidOut {
  readonly drawings: Readonly<Record<string, Drawing>> | null;
  readonly problem: string | null;
}

/** A short name for everything that the drawing of a chart depends on: the chart, and those that run inside its states. */
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

/** Another number where the same charts are laid out otherwise than before. */
const DRAWING_VERSION = 1;

/** FNV-1a, twice with different beginnings: 64 bits, as hexadecimal digits. It keeps no secrets. */
function hash(text: string): string {
  let [one, other] = [0x811c9dc5, 0x1b873593];
  for (let place = 0; place < text.length; place += 1) {
    const unit = text.charCodeAt(place);
    one = Math.imul(one ^ unit, 0x01000193);
    other = Math.imul(other ^ (unit + place), 0x01000193);
  }
  return [one, other].map((part) => (part >>> 0).toString(16).padStart(8, '0')).join('');
}

/** Charts larger than this are not laid out: it would neither be quick nor a picture that anybody reads. */
const MOST_STATES = 400;
const MOST_TRANSITIONS = 1_500;
/** So many states may stand in one picture, those of charts inside states counted as often as they are drawn. */
export const MOST_DRAWN = 4_000;
export const LAYOUT_TIMEOUT_MS = 10_000;

/** Why charts are not laid out, in one line; null where they are. */
export function tooLarge({ charts }: RunCharts): string | null {
  for (const { states, transitions } of charts) {
    if (states.length > MOST_STATES)
      return `The chart has ${states.length} states; up to ${MOST_STATES} are drawn as a picture.`;
    if (transitions.length > MOST_TRANSITIONS)
      return `The chart has ${transitions.length} transitions; up to ${MOST_TRANSITIONS} are drawn as a picture.`;
  }
  return null;
}

/** What a record itself has under a key that a stranger may have chosen. */
export function ownOf<Value>(record: Readonly<Record<string, Value>>, key: string): Value | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}
