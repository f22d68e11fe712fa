import type { RunFold } from '../fold/run-fold.ts';
import { countUpTo, lastUpTo } from '../fold/sorted.ts';
import type { Inspector, PanelView } from './inspector.ts';
import type { Key } from './keys.ts';

/** The keys that move the cursor of a run or an actor, wherever the focus is. */
export function moveKeys({ view, moveTo }: Inspector): readonly Key[] {
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
    key('Home', 'First entry', () => 0),
    key('End', 'Latest entry, and follow the run', () => null),
  ];
}

/** 1: next, -1: previous. Without one, the last or first entry. */
type StepDirection = 1 | -1;

export function transitionFrom({ transitions: { seqs }, timeLine }: RunFold, at: number, to: StepDirection): number {
  return to === 1 ? (seqs[countUpTo(seqs, at)] ?? timeLine.count - 1) : (lastUpTo(seqs, at - 1) ?? 0);
}
