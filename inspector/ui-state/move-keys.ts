import type { RunFold } from '../fold/run-fold.ts';
import { countStartedBy, countUpTo, lastStartedBy, lastUpTo } from '../fold/sorted.ts';
import { cycleStarts } from '../fold/spans.ts';
import type { Inspector, PanelView } from './inspector.ts';
import type { Key } from './keys.ts';

/** The keys that move the cursor of a run or an actor, wherever the focus is. Only runs have phases. */
export function moveKeys({ view, moveTo }: Inspector, hasPhases: boolean): readonly Key[] {
  const key = (name: string, description: string, find: (view: PanelView) => number | null): Key => ({
    keys: [name],
    description,
    group: 'Move',
    act() {
      const shown = view.peek();
      if (shown !== null) moveTo(find(shown));
    },
  });
  const pair = (
    [back, forward]: readonly [string, string],
    noun: string,
    find: (view: PanelView, to: StepDirection) => number,
  ): readonly Key[] => [
    key(back, `Previous ${noun}`, (shown) => find(shown, -1)),
    key(forward, `Next ${noun}`, (shown) => find(shown, 1)),
  ];
  return [
    ...pair(['ArrowLeft', 'ArrowRight'], 'entry', ({ at }, to) => at + to),
    ...pair(['Shift+ArrowLeft', 'Shift+ArrowRight'], 'transition', ({ fold, at }, to) => transitionFrom(fold, at, to)),
    ...(hasPhases
      ? [
          ...pair(['[', ']'], 'phase', ({ fold, at }, to) => phaseFrom(fold, at, to)),
          ...pair(['{', '}'], 'cycle', ({ fold, at }, to) => cycleFrom(fold, at, to)),
        ]
      : []),
    key('Home', 'First entry', () => 0),
    key('End', 'Latest entry, and follow the run', () => null),
  ];
}

/** 1: next, -1: previous. Without one, the last or first entry. */
type StepDirection = 1 | -1;

export function transitionFrom({ transitions: { seqs }, timeLine }: RunFold, at: number, to: StepDirection): number {
  return to === 1 ? (seqs[countUpTo(seqs, at)] ?? timeLine.count - 1) : (lastUpTo(seqs, at - 1) ?? 0);
}

/** The start of the phase, or of the previous one if already there. */
export const phaseFrom = ({ spans, timeLine }: RunFold, at: number, to: StepDirection): number =>
  startFrom(spans.phases, timeLine.count, at, to);

/** The start of the cycle, or of the previous one if already there. */
export const cycleFrom = ({ spans, timeLine }: RunFold, at: number, to: StepDirection): number =>
  startFrom(cycleStarts(spans), timeLine.count, at, to);

function startFrom(all: readonly { readonly from: number }[], count: number, at: number, to: StepDirection): number {
  if (to === -1) return lastStartedBy(all, at - 1)?.from ?? 0;
  return all[countStartedBy(all, at)]?.from ?? count - 1;
}
