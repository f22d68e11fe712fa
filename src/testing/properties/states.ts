import type { AnyMachineSnapshot } from 'xstate';
import type { ExploredState } from '../exploration/exploration.ts';
import { pathTo } from '../exploration/paths.ts';
import type { Property } from './property.ts';

type OfSnapshot<Value> = (snapshot: AnyMachineSnapshot) => Value;

/** No state that can be reached is so. */
export function never(name: string, isSo: OfSnapshot<boolean>): Property {
  return {
    name: `never ${name}`,
    check(exploration) {
      const found = exploration.states.find(({ snapshot }) => isSo(snapshot));
      if (found === undefined) return null;
      return { what: `it is so in ${standing(found)}`, path: pathTo(exploration, found.id) };
    },
  };
}

/** A number that is never above its bound; what is no number does not hold. */
export function atMost(name: string, most: number, measure: OfSnapshot<number>): Property {
  return {
    name: `at most ${most} ${name}`,
    check(exploration) {
      const found = exploration.states.find(({ snapshot }) => !(measure(snapshot) <= most));
      if (found === undefined) return null;
      const what = `there are ${measure(found.snapshot)} in ${standing(found)}`;
      return { what, path: pathTo(exploration, found.id) };
    },
  };
}

/** No actor's error goes unhandled: XState ends a machine by one. */
export const noUnhandledError: Property = {
  ...never('ends by an error that nothing handles', ({ status }) => status === 'error'),
  name: 'no error of an actor goes unhandled',
};

/** In every state that can be reached, and is no end, something can happen. */
export const noDeadEnd: Property = {
  name: 'no state is without a way out',
  ofWhole: true,
  check(exploration) {
    const found = exploration.states.find(
      ({ id, snapshot }) =>
        snapshot.status === 'active' && !(exploration.edgesFrom[id] ?? []).some(({ taken }) => taken.length > 0),
    );
    if (found === undefined) return null;
    return { what: `nothing that can happen moves it in ${standing(found)}`, path: pathTo(exploration, found.id) };
  },
};

export const standing = ({ value }: Pick<ExploredState, 'value'>): string => JSON.stringify(value);
