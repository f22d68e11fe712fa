import { cycleFrom, phaseFrom, type StepDirection, transitionFrom } from '../fold/steps.ts';
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
