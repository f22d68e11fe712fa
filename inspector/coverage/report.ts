import type { Chart } from '../../src/durable/charts/chart.ts';
import type { RunCharts } from '../../src/inspection/wire.ts';
import { type CoverageReport, REPORT_VERSION } from '../../src/testing/coverage/coverage-report.ts';
import { type LaidOut, ownOf, tooLarge } from '../chart/drawing.ts';
import { transitionKey } from '../chart/highlight.ts';
import { bakedDrawingsOf } from '../chart/layout.ts';
import { formatNumber, pluralize } from '../fold/format.ts';
import type { HeatMark, Marks, Overlay } from '../fold/marks.ts';
import type { ChartSelection } from '../fold/selection.ts';

const RECREATE = 'the file is truncated or was changed. Create it again.';

export type CoveredMachine = CoverageReport['machines'][number];
export type ReportItem = CoveredMachine['items'][number];

/** A part that was changed is found when it is rendered. */
export interface ReadReport {
  readonly title: string;
  readonly charts: RunCharts;
  readonly machines: readonly CoveredMachine[];
  readonly laidOut: LaidOut;
}

/** Throws an error with a message for the user if it cannot be read. */
export function readReport(data: string): ReadReport {
  const parts = parsed(data);
  if (parts['version'] !== REPORT_VERSION)
    throw new Error(
      `Unsupported file version: expected ${REPORT_VERSION}; received ${JSON.stringify(parts['version']) ?? 'none'}.`,
    );
  const { title, charts, invoked, machines, layout } = parts as Partial<CoverageReport>;
  if (typeof title !== 'string' || !Array.isArray(charts) || !Array.isArray(machines) || !invoked)
    throw new Error(`The coverage in this file is incomplete: ${RECREATE}`);
  const baked = bakedDrawingsOf({ charts, invoked });
  const given = (layout ?? { drawings: null, problem: null }) as LaidOut;
  const laidOut = baked === null ? given : { drawings: baked, problem: null };
  return { title, charts: { charts, invoked }, machines, laidOut };
}

function parsed(data: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(data);
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {
    // Reported below.
  }
  throw new Error(`The coverage in this file cannot be read: ${RECREATE}`);
}

/** The drawings, if they include this chart; otherwise the reason why not. */
export function layoutFor({ id }: Chart, { charts, laidOut }: ReadReport): LaidOut {
  if (laidOut.drawings !== null && ownOf(laidOut.drawings, id) !== undefined) return laidOut;
  const own = tooLarge({ ...charts, charts: charts.charts.filter((chart) => chart.id === id) });
  return { drawings: null, problem: own ?? laidOut.problem ?? 'This file has no drawing of this chart.' };
}

/** The index of the item's transition in the chart; null if it has none. */
export function transitionOf({ key }: ReportItem): number | null {
  const [, index] = /^(?:transition|guard) (\d+)(?: (?:true|false))?$/u.exec(key) ?? [];
  return index === undefined ? null : Number(index);
}

export function guardResultOf({ kind, key }: ReportItem): 'true' | 'false' | null {
  if (kind !== 'guard') return null;
  return key.endsWith(' true') ? 'true' : 'false';
}

/** The item's state: itself, or the state that runs its actor or delay; null if the chart has no such state. */
export function stateOf({ kind, key, name }: ReportItem, { states }: Chart): string | null {
  const ids = states.map(({ id }) => id);
  if (kind === 'state') return ids.find((id) => key === `state ${id}`) ?? null;
  if (kind !== 'outcome' && kind !== 'delay') return null;
  // One id may be a prefix of another.
  const named = ids.filter((id) => name.startsWith(`${id}: `));
  return named.sort((one, other) => other.length - one.length)[0] ?? null;
}

export function placeOfItem(item: ReportItem, chart: Chart): ChartSelection | null {
  const index = transitionOf(item);
  if (index !== null)
    return index < chart.transitions.length ? { kind: 'transitions', chartId: chart.id, transitions: [index] } : null;
  const stateId = stateOf(item, chart);
  if (stateId === null) return null;
  const what = item.name.slice(stateId.length + 2);
  const event = item.kind === 'delay' ? what : (/ (done|error)$/u.exec(what)?.[1] ?? '');
  const transitions = chart.transitions.flatMap(({ source, event: own }, at) =>
    item.kind !== 'state' && source === stateId && own === event ? [at] : [],
  );
  return transitions.length > 0
    ? { kind: 'transitions', chartId: chart.id, transitions }
    : { kind: 'state', chartId: chart.id, stateId };
}

/** The item's name without machine name and guard result, with an arrow glyph that all fonts have. */
export function shortName(item: ReportItem, machine: string): string {
  const name = item.name.startsWith(`${machine}.`) ? item.name.slice(machine.length + 1) : item.name;
  return (item.kind === 'guard' ? name.replace(/: (?:true|false)$/u, '') : name).replace(' → ', ' › ');
}

interface CoverageMarks {
  readonly marks: Marks;
  readonly overlay: Overlay;
  readonly neverTaken: ReadonlySet<string>;
}

export function coverageMarksOf({ charts: { charts }, machines }: ReadReport): CoverageMarks {
  const overlay: [string, ReadonlyMap<string, HeatMark>][] = [];
  const taken: [string, ReadonlyMap<number, number>][] = [];
  const neverTaken = new Set<string>();
  for (const one of machines) {
    const chart = charts.find(({ id }) => id === one.machine);
    if (chart !== undefined) overlay.push([one.machine, stateMarks(chart, one)]);
    const times = new Map<number, number>();
    for (const item of one.items) {
      const index = item.kind === 'transition' ? transitionOf(item) : null;
      if (index === null) continue;
      if (item.times > 0) times.set(index, item.times);
      else neverTaken.add(transitionKey(one.machine, index));
    }
    taken.push([one.machine, times]);
  }
  const marks: Marks = { isSum: true, active: {}, where: {}, taken: Object.fromEntries(taken), last: null };
  return { marks, overlay: Object.fromEntries(overlay), neverTaken };
}

/** Compound states are entered with their children, so they have the minimum heat. States never entered have none. */
function stateMarks({ states }: Chart, { items }: CoveredMachine): ReadonlyMap<string, HeatMark> {
  const times = new Map(items.flatMap((item) => (item.kind === 'state' ? [[item.key, item.times]] : [])));
  const outer = new Set(states.map(({ parent }) => parent));
  const timesOf = (id: string): number | undefined => times.get(`state ${id}`);
  const max = Math.max(1, ...states.map(({ id }) => (outer.has(id) ? 0 : (timesOf(id) ?? 0))));
  return new Map(
    states.map(({ id }) => {
      const entered = timesOf(id);
      if (entered === undefined) return [id, { heat: MIN_HEAT, text: '', words: 'not counted' }];
      const share = outer.has(id) ? 0 : Math.log1p(entered) / Math.log1p(max);
      return [
        id,
        {
          heat: entered === 0 ? 0 : MIN_HEAT + (1 - MIN_HEAT) * share,
          text: entered === 0 ? 'never' : `×${formatNumber(entered)}`,
          words: enteredText(entered),
        },
      ];
    }),
  );
}

const MIN_HEAT = 0.1;

const enteredText = (times: number): string => (times === 0 ? 'never entered' : `${pluralize(times, 'time')} entered`);
