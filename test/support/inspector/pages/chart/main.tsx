import { render } from 'preact';
import type { ChartViewProps } from '../../../../../inspector/chart/chart-picture.tsx';
import { ChartView } from '../../../../../inspector/chart/chart-view.tsx';
import { PHASE_NAMES } from '../../../../../inspector/fold/format.ts';
import type { Marks } from '../../../../../inspector/fold/marks.ts';
import type { ChartSelection } from '../../../../../inspector/fold/selection.ts';
import '../../../../../inspector/ui-state/basics.css';
import '../../../../../inspector/ui-state/colors.css';
import type { RunCharts } from '../../../../../src/inspection/wire.ts';
import './page.css';

const HUES = Object.fromEntries(PHASE_NAMES.map((id) => [id, `var(--phase-${id})`]));
const NO_MARKS: Marks = { active: {}, where: {}, taken: {}, last: null, left: {}, failed: {} };

/** Marks as JSON: arrays instead of sets, pairs instead of maps. */
interface PlainMarks extends Omit<Marks, 'active' | 'taken' | 'left' | 'failed'> {
  readonly failed?: Readonly<Record<string, readonly string[]>>;
  readonly active: Readonly<Record<string, readonly string[]>>;
  readonly taken: Readonly<Record<string, readonly (readonly [number, number])[]>>;
  readonly left?: Readonly<Record<string, readonly (readonly [number, string])[]>>;
}

const selections: ChartSelection[] = [];
let props: ChartViewProps | null = null;
const main = document.getElementById('main') as HTMLElement;

function update(changes: Partial<ChartViewProps>): void {
  if (props === null) return;
  props = { ...props, ...changes };
  render(<ChartView {...props} />, main);
}

function each<From, To>(record: Readonly<Record<string, From>>, change: (value: From) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
}

function marksOf({ active, taken, left = {}, failed = {}, ...rest }: PlainMarks): Marks {
  return {
    ...rest,
    failed: each(failed, (ids) => new Set(ids)),
    active: each(active, (ids) => new Set(ids)),
    taken: each(taken, (pairs) => new Map(pairs)),
    left: each(left, (pairs) => new Map(pairs)),
  };
}

/** The functions that tests call. */
const chartPage = {
  selections,
  show: (charts: RunCharts, root: string): void => {
    const onSelect = (selection: ChartSelection): void => {
      selections.push(selection);
      update({ selected: selection });
    };
    const aspect = innerWidth / innerHeight;
    props = { charts, root, marks: NO_MARKS, hues: HUES, selected: null, isStopped: false, aspect, onSelect };
    update({});
  },
  mark: (marks: PlainMarks): void => update({ marks: marksOf(marks) }),
};
Object.assign(window, { chartPage });
