import { PostChainError } from '../../../machines/contracts/error.ts';
import { activeNodes } from '../../internal/xstate-internals.ts';
import type { Exploration } from '../exploration/exploration.ts';
import { pathThrough } from '../exploration/paths.ts';
import type { Property } from './property.ts';
import { standing } from './states.ts';

/** Where what is sent may come to nothing: by the type of the event, the ids of states, with that of the machine or without; of their inner states too. */
export type MayIgnore = Readonly<Record<string, readonly string[]>>;

/** Nothing that is sent comes to nothing while a machine is active, but where that is declared. */
export function noIgnoredEvent(mayIgnore: MayIgnore = {}): Property {
  return {
    name: 'no event from outside is ignored',
    check(exploration) {
      requireKnown(exploration, mayIgnore);
      const found = exploration.edges.find(({ from, occurrence: { kind, event }, taken }) => {
        if (kind !== 'sent' || taken.length > 0) return false;
        const snapshot = exploration.states[from]?.snapshot;
        const declared = mayIgnore[event.type] ?? [];
        return (
          snapshot !== undefined &&
          !activeNodes(snapshot).some(({ id }) => declared.some((name) => isCalled(exploration, id, name)))
        );
      });
      const state = exploration.states[found?.from ?? -1];
      if (found === undefined || state === undefined) return null;
      return { what: `${found.occurrence.name} is, in ${standing(state)}`, path: pathThrough(exploration, found) };
    },
  };
}

const isCalled = ({ chart }: Exploration, id: string, name: string): boolean =>
  id === name || id === `${chart.id}.${name}`;

function requireKnown(exploration: Exploration, mayIgnore: MayIgnore): void {
  const unknown = Object.values(mayIgnore)
    .flat()
    .find((name) => !exploration.chart.states.some(({ id }) => isCalled(exploration, id, name)));
  if (unknown !== undefined)
    throw new PostChainError(
      'invalid_option',
      `noIgnoredEvent: got "${unknown}"; wanted a state of ${exploration.chart.id}, by its id.`,
    );
}
