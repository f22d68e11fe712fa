import { cycleFrom, type Direction, phaseFrom, transitionFrom } from '../../fold/steps.ts';
import type { Inspector, RunView } from '../../ui-state/inspector.ts';
import type { Key } from '../../ui-state/keys.ts';
import type { Player } from './player.ts';

/** The ways in which the cursor is moved without a pointer. */
export interface Moves {
  entry(to: Direction): void;
  transition(to: Direction): void;
  phase(to: Direction): void;
  cycle(to: Direction): void;
  start(): void;
  /** To the newest entry, and on with it. */
  follow(): void;
}

export function movesOf({ view, cursor, moveTo }: Inspector): Moves {
  const move = (find: (view: RunView) => number): void => {
    const shown = view.peek();
    if (shown !== null) moveTo(find(shown));
  };
  return {
    entry: (to) => move(({ at }) => at + to),
    transition: (to) => move(({ fold, at }) => transitionFrom(fold, at, to)),
    phase: (to) => move(({ fold, at }) => phaseFrom(fold, at, to)),
    cycle: (to) => move(({ fold, at }) => cycleFrom(fold, at, to)),
    start: () => moveTo(0),
    follow: () => {
      cursor.value = null;
    },
  };
}

export function moveKeys(moves: Moves, player: Player): readonly Key[] {
  const key = (name: string, does: string, act: () => void): Key => ({ keys: [name], does, group: 'Move', act });
  return [
    key('ArrowLeft', 'One entry back', () => moves.entry(-1)),
    key('ArrowRight', 'One entry on', () => moves.entry(1)),
    key('Shift+ArrowLeft', 'The transition before', () => moves.transition(-1)),
    key('Shift+ArrowRight', 'The next transition', () => moves.transition(1)),
    key('[', 'The phase before', () => moves.phase(-1)),
    key(']', 'The next phase', () => moves.phase(1)),
    key('{', 'The cycle before', () => moves.cycle(-1)),
    key('}', 'The next cycle', () => moves.cycle(1)),
    {
      keys: ['PageUp', 'PageDown'],
      does: 'The same, with the focus on the time',
      group: 'Move',
    },
    key('Home', 'The first entry', moves.start),
    key('End', 'The newest entry, and on with it', moves.follow),
    key(' ', 'Play, pause', player.toggle),
  ];
}
