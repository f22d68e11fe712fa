import type { Chart } from '../../engine/charts/chart.ts';
import type { MachineOutline, StateOutline, TransitionOutline } from './machine-outline.ts';

/**
 * The chart of a machine whose configuration is known as JSON only; as `chartOf` gives it of the machine itself, but for this: the package
 * sorts the configuration by name, and states and events with it; a guard that is a function is `inline` or the function's name; an
 * action that is a function has the function's name; routes (`xstate.route`) are left out.
 */
export function chartOfOutline({ root, states }: MachineOutline, id = root.id): Chart {
  const outlines = [...states.values()];
  return {
    id,
    states: outlines.map((state) => ({
      id: state.id,
      name: state.key,
      parent: state.parent?.id ?? null,
      type: state.type,
      description: state.description,
      initial: state.children.get(state.initial ?? '')?.id ?? null,
      invokes: state.invokes.map(({ src }) => src),
    })),
    transitions: outlines.flatMap((state) =>
      [...state.transitions.values(), state.always].flatMap((group) =>
        group.map((transition, index) => chartTransition(transition, index, state)),
      ),
    ),
  };
}

function chartTransition({ target, eventType, guard, actions }: TransitionOutline, index: number, state: StateOutline) {
  return {
    source: state.id,
    target: target.map(({ id }) => id),
    event: eventName(eventType, state.delays),
    guard,
    otherwise: guard === null && index > 0,
    actions,
  };
}

function eventName(eventType: string, delays: ReadonlyMap<string, string>): string {
  const delay = delays.get(eventType);
  if (delay !== undefined) return `after ${delay}`;
  if (eventType.startsWith('xstate.done.')) return 'done';
  if (eventType.startsWith('xstate.error.')) return 'error';
  return eventType;
}
