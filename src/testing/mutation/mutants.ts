import { type AnyStateMachine, type AnyStateNode, not } from 'xstate';
import { replaceCandidates } from '../../internal/xstate-internals.ts';
import { type Group, groupsOf } from '../structure/groups.ts';
import { nodesOf } from '../structure/nodes.ts';

/** A machine with one mistake in its chart. */
export interface Mutant<Machine extends AnyStateMachine = AnyStateMachine> {
  readonly kind: MutantKind;
  /** What is wrong with it, in words. */
  readonly name: string;
  readonly machine: Machine;
}

export type MutantKind = 'dropped' | 'negated' | 'swapped' | 'no delay' | 'no onError';

type Candidates = Group['candidates'];
/** Gives the candidates for one event another form. */
type Change = (candidates: Candidates) => Candidates;

/**
 * Every way to make one mistake in a chart: a transition dropped, a guard negated, two candidates that follow each other swapped, a delay or
 * an `onError` taken away; these two where there are several candidates, since a single one is dropped already. The operators are those of
 * mutation testing for statecharts (S. Fabbri et al., 1999).
 */
export function mutantsOf<Machine extends AnyStateMachine>(machine: Machine): readonly Mutant<Machine>[] {
  return groupsOf(machine).flatMap(({ node, eventType, candidates }) => {
    const change = (kind: MutantKind, what: string, by: Change): Mutant<Machine> => ({
      ...{ kind, name: `${node.id}, ${eventType === '' ? 'at once' : eventInWords(node, eventType)}: ${what}` },
      machine: edited(machine, node.id, eventType, by),
    });
    return [
      ...candidates.map((_, at) =>
        change('dropped', `${nth(at, candidates)} dropped`, (all) => all.filter((_one, other) => other !== at)),
      ),
      ...candidates.flatMap(({ guard }, at) =>
        guard === undefined ? [] : [change('negated', `the guard of ${nth(at, candidates)} negated`, negatedAt(at))],
      ),
      ...candidates
        .slice(1)
        .map((_, at) => change('swapped', `${nth(at, candidates)} after the next one`, swappedAt(at))),
      ...(candidates.length > 1 && node.after.some((delay) => delay.eventType === eventType)
        ? [change('no delay', 'the delay taken away', () => [])]
        : []),
      ...(candidates.length > 1 && eventType.startsWith('xstate.error.')
        ? [change('no onError', 'onError taken away', () => [])]
        : []),
    ];
  });
}

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
  if (node !== undefined) replaceCandidates(node, event, by(candidatesOf(node, event)));
  const provide: Machine['provide'] = (implementations) =>
    edited(machine.provide(implementations) as Machine, state, event, by) as never;
  return Object.assign(copy, { provide });
}

const candidatesOf = (node: AnyStateNode, event: string): Candidates =>
  (event === '' ? node.always : node.transitions.get(event)) ?? [];

const nth = (at: number, { length }: Candidates): string =>
  length === 1 ? 'its transition' : `candidate ${at + 1} of ${length}`;

function eventInWords({ after }: AnyStateNode, event: string): string {
  const delay = after.find(({ eventType }) => eventType === event);
  if (delay !== undefined) return `after ${delay.delay}`;
  return event.startsWith('xstate.') ? (event.split('.')[1] ?? event) : event;
}
