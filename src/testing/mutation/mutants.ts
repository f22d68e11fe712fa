import { type AnyStateMachine, type AnyStateNode, type AnyTransitionDefinition, not } from 'xstate';
import { nodesOf } from '../anatomy/nodes.ts';

/** A machine with one mistake in its chart. */
export interface Mutant<Machine extends AnyStateMachine = AnyStateMachine> {
  readonly kind: MutantKind;
  /** What is wrong with it, in words. */
  readonly name: string;
  readonly machine: Machine;
}

export type MutantKind = 'dropped' | 'negated' | 'swapped' | 'no delay' | 'no onError';

type Group = readonly AnyTransitionDefinition[];
/** Gives the candidates for one event another form. */
type Change = (candidates: Group) => Group;

/**
 * Every way to make one mistake in a chart: a transition dropped, a guard negated, two candidates that follow each other swapped, a delay or
 * an `onError` taken away. The operators are those of mutation testing for statecharts (S. Fabbri et al., 1999).
 */
export function mutantsOf<Machine extends AnyStateMachine>(machine: Machine): readonly Mutant<Machine>[] {
  return nodesOf(machine).flatMap((node) =>
    groupsOf(node).flatMap(([event, group]) => {
      const change = (kind: MutantKind, what: string, by: Change): Mutant<Machine> => ({
        ...{ kind, name: `${node.id}, ${event === '' ? 'at once' : eventInWords(node, event)}: ${what}` },
        machine: edited(machine, node.id, event, by),
      });
      return [
        ...group.map((_, at) =>
          change('dropped', `${nth(at, group)} dropped`, (all) => all.filter((_one, other) => other !== at)),
        ),
        ...group.flatMap(({ guard }, at) =>
          guard === undefined ? [] : [change('negated', `the guard of ${nth(at, group)} negated`, negatedAt(at))],
        ),
        ...group.slice(1).map((_, at) => change('swapped', `${nth(at, group)} after the next one`, swappedAt(at))),
        ...(group.length > 1 && node.after.some(({ eventType }) => eventType === event)
          ? [change('no delay', 'the delay taken away', () => [])]
          : []),
        ...(group.length > 1 && event.startsWith('xstate.error.')
          ? [change('no onError', 'onError taken away', () => [])]
          : []),
      ];
    }),
  );
}

const groupsOf = (node: AnyStateNode): readonly (readonly [string, Group])[] => [
  ...node.transitions,
  ...(node.always === undefined ? [] : ([['', node.always]] as const)),
];

const negatedAt =
  (at: number): Change =>
  (all) =>
    all.map((one, place) =>
      place === at && one.guard !== undefined ? { ...one, guard: not(one.guard as never) } : one,
    );

const swappedAt =
  (at: number): Change =>
  (all) => {
    const changed = [...all];
    const [first, second] = [all[at], all[at + 1]];
    if (first !== undefined && second !== undefined) changed.splice(at, 2, second, first);
    return changed;
  };

/** A copy with another form of one group. Where implementations are provided anew, XState builds its states anew: they are changed again. */
function edited<Machine extends AnyStateMachine>(machine: Machine, state: string, event: string, by: Change): Machine {
  const copy = machine.provide({}) as Machine;
  const node = nodesOf(copy).find(({ id }) => id === state);
  if (node !== undefined) change(node, event, by);
  const provide: Machine['provide'] = (implementations) =>
    edited(machine.provide(implementations) as Machine, state, event, by) as never;
  return Object.assign(copy, { provide });
}

function change(node: AnyStateNode, event: string, by: Change): void {
  if (event === '') {
    node.always = [...by(node.always ?? [])];
    return;
  }
  const left = by(node.transitions.get(event) ?? []);
  if (left.length === 0) node.transitions.delete(event);
  else node.transitions.set(event, [...left]);
}

const nth = (at: number, { length }: Group): string =>
  length === 1 ? 'its transition' : `candidate ${at + 1} of ${length}`;

function eventInWords({ after }: AnyStateNode, event: string): string {
  const delay = after.find(({ eventType }) => eventType === event);
  if (delay !== undefined) return `after ${delay.delay}`;
  return event.startsWith('xstate.') ? (event.split('.')[1] ?? event) : event;
}
