import type { Chart } from '../../src/engine/charts/chart.ts';
import { type HeatMark, type Overlay, transitionKey } from '../chart/overlay.ts';
import type { Marks } from '../fold/marks.ts';
import { counted, grouped } from '../fold/number-words.ts';
import { transitionOf } from './item-place.ts';
import type { CoveredMachine, ShownReport } from './read-report.ts';

/** What coverage lights up in charts. */
export interface Lights {
  readonly marks: Marks;
  readonly overlay: Overlay;
  readonly neverTaken: ReadonlySet<string>;
}

export function lightsOf({ charts: { charts }, machines }: ShownReport): Lights {
  const overlay: [string, ReadonlyMap<string, HeatMark>][] = [];
  const taken: [string, ReadonlyMap<number, number>][] = [];
  const neverTaken = new Set<string>();
  for (const one of machines) {
    const chart = charts.find(({ id }) => id === one.machine);
    if (chart !== undefined) overlay.push([one.machine, stateMarks(chart, one)]);
    const times = new Map<number, number>();
    for (const item of one.items) {
      const place = item.kind === 'transition' ? transitionOf(item) : null;
      if (place === null) continue;
      if (item.times > 0) times.set(place, item.times);
      else neverTaken.add(transitionKey(one.machine, place));
    }
    taken.push([one.machine, times]);
  }
  const marks: Marks = { isSum: true, active: {}, where: {}, taken: Object.fromEntries(taken), last: null };
  return { marks, overlay: Object.fromEntries(overlay), neverTaken };
}

/** States around others are entered with them: they have the least heat. What was never entered has none. */
function stateMarks({ states }: Chart, { items }: CoveredMachine): ReadonlyMap<string, HeatMark> {
  const times = new Map(items.flatMap((item) => (item.kind === 'state' ? [[item.key, item.times]] : [])));
  const outer = new Set(states.map(({ parent }) => parent));
  const timesOf = (id: string): number | undefined => times.get(`state ${id}`);
  const most = Math.max(1, ...states.map(({ id }) => (outer.has(id) ? 0 : (timesOf(id) ?? 0))));
  return new Map(
    states.map(({ id }) => {
      const entered = timesOf(id);
      if (entered === undefined) return [id, { heat: LEAST, text: '', words: 'not counted' }];
      const share = outer.has(id) ? 0 : Math.log1p(entered) / Math.log1p(most);
      return [
        id,
        {
          heat: entered === 0 ? 0 : LEAST + (1 - LEAST) * share,
          text: entered === 0 ? 'never' : `×${grouped(entered)}`,
          words: enteredWords(entered),
        },
      ];
    }),
  );
}

const LEAST = 0.1;

const enteredWords = (times: number): string => (times === 0 ? 'never entered' : `${counted(times, 'time')} entered`);
