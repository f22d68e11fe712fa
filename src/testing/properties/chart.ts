import { PostChainError } from '../../../machines/contracts/error.ts';
import { itemsOfBeginning, itemsOfEdge } from '../exploration/edge-items.ts';
import type { Exploration } from '../exploration/exploration.ts';
import { stateKey } from '../structure/items.ts';
import { placeInWords } from '../structure/place-words.ts';
import type { Property } from './property.ts';

/** Every transition of the chart is taken by something that can happen, but for those that are named, as `placeInWords` has them. */
export function noDeadTransition({ except = [] }: { readonly except?: readonly string[] } = {}): Property {
  return {
    name: 'no transition is dead',
    ofWhole: true,
    check({ chart, edges, beginnings }) {
      const taken = new Set([...edges, ...beginnings].flatMap((step) => step.taken));
      const dead = chart.transitions.flatMap((_, place) => (taken.has(place) ? [] : [placeInWords(chart, place)]));
      return told(
        without(
          except,
          dead,
          chart.transitions.map((_, place) => placeInWords(chart, place)),
        ),
        'never taken',
      );
    },
  };
}

/** Every state of the chart is entered by something that can happen. */
export function noUnreachableState({ except = [] }: { readonly except?: readonly string[] } = {}): Property {
  return {
    name: 'no state is unreachable',
    ofWhole: true,
    check(exploration) {
      const reached = reachedItems(exploration);
      const missing = exploration.chart.states.filter(({ id }) => !reached.has(stateKey(id))).map(({ id }) => id);
      return told(
        without(
          except,
          missing,
          exploration.chart.states.map(({ id }) => id),
        ),
        'never entered',
      );
    },
  };
}

/** Everything of the chart that the exploration brought about, as keys of `coverageItems`. */
export function reachedItems(exploration: Exploration): ReadonlySet<string> {
  const reached = new Set<string>();
  const note = (keys: readonly string[]): void => {
    for (const key of keys) reached.add(key);
  };
  for (const beginning of exploration.beginnings) note(itemsOfBeginning(exploration, beginning));
  for (const edge of exploration.edges) note(itemsOfEdge(exploration, edge));
  return reached;
}

/** Those that are not excepted. Throws `invalid_option` for an exception that is none of all. */
function without(except: readonly string[], names: readonly string[], all: readonly string[]): readonly string[] {
  const unknown = except.find((name) => !all.includes(name));
  if (unknown !== undefined)
    throw new PostChainError(
      'invalid_option',
      `except: got "${unknown}"; wanted one as a finding names it: "${all[0]}".`,
    );
  return names.filter((name) => !except.includes(name));
}

const told = (names: readonly string[], what: string) =>
  names.length === 0 ? null : { what: `${names.join('; ')} ${names.length === 1 ? 'is' : 'are'} ${what}`, path: null };
