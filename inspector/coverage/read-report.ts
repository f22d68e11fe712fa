import type { Chart } from '../../src/engine/charts/chart.ts';
import type { RunCharts } from '../../src/inspection/wire.ts';
import { type CoverageReport, KINDS, REPORT_VERSION } from '../../src/testing/coverage/coverage-report.ts';
import { tooLarge } from '../chart/chart-limits.ts';
import type { Chip, Drawing, DrawnEdge, DrawnState, Inset } from '../chart/drawing.ts';
import type { LaidOut } from '../chart/laid-out.ts';
import { bakedDrawingsOf } from '../chart/layout.ts';
import { ownOf } from '../chart/own-of.ts';

/** Whether a value is what it is taken for. */
type Is<Type> = (value: unknown) => value is Type;

const isText: Is<string> = (value): value is string => typeof value === 'string';
const isFlag: Is<boolean> = (value): value is boolean => typeof value === 'boolean';
const isNumber: Is<number> = (value): value is number => Number.isFinite(value);
/** A number of times, or a place in a list. */
const isCount: Is<number> = (value): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

const isOneOf =
  <const Type extends string>(...all: readonly Type[]): Is<Type> =>
  (value): value is Type =>
    (all as readonly unknown[]).includes(value);

const isNullOr =
  <Type>(is: Is<Type>): Is<Type | null> =>
  (value): value is Type | null =>
    value === null || is(value);

const isListOf =
  <Type>(is: Is<Type>): Is<readonly Type[]> =>
  (value): value is readonly Type[] =>
    Array.isArray(value) && value.every(is);

const isRecordOf =
  <Type>(is: Is<Type>): Is<Readonly<Record<string, Type>>> =>
  (value): value is Readonly<Record<string, Type>> =>
    isObject(value) && Object.values(value).every(is);

/** What it has beside these is of no moment. */
const isShape =
  <Type extends object>(members: { readonly [Key in keyof Type]-?: Is<Type[Key]> }): Is<Type> =>
  (value): value is Type =>
    isObject(value) && Object.entries<Is<unknown>>(members).every(([key, is]) => is(ownMember(value, key)));

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const ownMember = (value: object, key: string): unknown =>
  Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined;

const STATE_TYPES = ['atomic', 'compound', 'parallel', 'final', 'history'] as const;

const point = { x: isNumber, y: isNumber };
const box = { ...point, width: isNumber, height: isNumber };

const isChip = isShape<Chip>({
  ...box,
  labels: isListOf(isText),
  target: isText,
  targetName: isText,
  transitions: isListOf(isCount),
});

const isDrawnState = isShape<DrawnState>({
  ...box,
  id: isText,
  name: isText,
  parent: isNullOr(isText),
  type: isOneOf(...STATE_TYPES),
  description: isText,
  note: isText,
  isInitial: isFlag,
  chips: isListOf(isChip),
  inset: isNullOr(isShape<Inset>({ ...point, chartId: isText, scale: isNumber })),
});

const isDrawnEdge = isShape<DrawnEdge>({
  source: isText,
  target: isText,
  labels: isListOf(isText),
  dashed: isFlag,
  points: isListOf(isShape<DrawnEdge['points'][number]>(point)),
  label: isNullOr(isShape<NonNullable<DrawnEdge['label']>>(box)),
  transitions: isListOf(isCount),
});

const isStateType = isOneOf(...STATE_TYPES);

/** Drawings by the ids of their charts. */
const isDrawings = isRecordOf(
  isShape<Drawing>({
    chartId: isText,
    width: isNumber,
    height: isNumber,
    chips: isListOf(isChip),
    states: isListOf(isDrawnState),
    edges: isListOf(isDrawnEdge),
  }),
);

const AGAIN = 'the file was cut off or changed. Make it again.';

export type CoveredMachine = CoverageReport['machines'][number];
export type ShownItem = CoveredMachine['items'][number];

/** What the page shows, found to be whole. */
export interface ShownReport {
  readonly title: string;
  readonly charts: RunCharts;
  readonly machines: readonly CoveredMachine[];
  readonly laidOut: LaidOut;
}

/** Throws a sentence for the reader where it is no such report. */
export function readReport(data: string): ShownReport {
  const parts = parsed(data);
  if (parts['version'] !== REPORT_VERSION)
    throw new Error(
      `This file is of version ${JSON.stringify(parts['version']) ?? 'none'}; this page reads version ${REPORT_VERSION}.`,
    );
  const title = part(parts, 'title', isText);
  const charts = {
    charts: part(parts, 'charts', isListOf(isChart)),
    invoked: part(parts, 'invoked', isRecordOf(isText)),
  };
  return { title, charts, machines: part(parts, 'machines', isListOf(isMachine)), laidOut: layoutOf(parts, charts) };
}

function parsed(data: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(data);
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {
    // Told below.
  }
  throw new Error(`The coverage in this file cannot be read: ${AGAIN}`);
}

function part<Type>(parts: Readonly<Record<string, unknown>>, name: keyof CoverageReport, is: Is<Type>): Type {
  const value = parts[name];
  if (!is(value)) throw new Error(`The coverage in this file is not whole, its ${name} cannot be read: ${AGAIN}`);
  return value;
}

/** Without a picture there are the rows: that is no reason to show nothing. */
function layoutOf(parts: Readonly<Record<string, unknown>>, charts: RunCharts): LaidOut {
  const baked = bakedDrawingsOf(charts);
  if (baked !== null) return { drawings: baked, problem: null };
  const { layout } = parts;
  return isLayout(layout) ? layout : { drawings: null, problem: null };
}

/** What there is of a chart: the drawings where its own is among them, else why it has none. */
export function layoutFor({ id }: Chart, { charts, laidOut }: ShownReport): LaidOut {
  if (laidOut.drawings !== null && ownOf(laidOut.drawings, id) !== undefined) return laidOut;
  const own = tooLarge({ ...charts, charts: charts.charts.filter((chart) => chart.id === id) });
  return { drawings: null, problem: own ?? laidOut.problem ?? 'There is no drawing of this chart in this file.' };
}

const isLayout = isShape<LaidOut>({ drawings: isNullOr(isDrawings), problem: isNullOr(isText) });

const isChart = isShape<Chart>({
  id: isText,
  states: isListOf(
    isShape<Chart['states'][number]>({
      id: isText,
      name: isText,
      parent: isNullOr(isText),
      type: isStateType,
      description: isText,
      initial: isNullOr(isText),
      invokes: isListOf(isText),
    }),
  ),
  transitions: isListOf(
    isShape<Chart['transitions'][number]>({
      source: isText,
      target: isListOf(isText),
      event: isText,
      guard: isNullOr(isText),
      otherwise: isFlag,
      actions: isListOf(isText),
    }),
  ),
});

const isMachine = isShape<CoveredMachine>({
  machine: isText,
  items: isListOf(isShape<ShownItem>({ key: isText, kind: isOneOf(...KINDS), name: isText, times: isCount })),
});
