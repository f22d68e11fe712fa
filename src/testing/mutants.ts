import { type AnyStateMachine, type AnyStateNode, not } from 'xstate';
import { PostChainError } from '../../machines/contracts/error.ts';
import { nodesOf } from '../durable/charts/chart-nodes.ts';
import { firstLineOf, oneLine } from '../internal/printable.ts';
import { replaceCandidates } from '../xstate/actors.ts';
import { isXState6 } from '../xstate/ports.ts';
import { editCandidates } from '../xstate/six-machines.ts';
import { type CandidateGroup, candidateGroups } from './structure/chart-structure.ts';

/** A machine with one mistake in its chart. */
export interface Mutant<Machine extends AnyStateMachine = AnyStateMachine> {
  readonly kind: MutantKind;
  /** Describes the mistake. */
  readonly name: string;
  readonly machine: Machine;
  /** The machine without the mistake. */
  readonly original: Machine;
}

export type MutantKind = 'dropped' | 'negated' | 'swapped' | 'no delay' | 'no onError';

/**
 * Returns one machine per possible mistake in a chart: a dropped transition, a negated guard, two swapped neighboring candidates, or a removed
 * delay or `onError` with several candidates (with one candidate, dropping the transition is the same mistake). The operators are those of
 * mutation testing for statecharts (S. Fabbri et al., 1999).
 */
export function mutantsOf<Machine extends AnyStateMachine>(machine: Machine): readonly Mutant<Machine>[] {
  return candidateGroups(machine).flatMap(({ node, eventType, candidates }) => {
    const change = (kind: MutantKind, mistake: string, by: Change): Mutant<Machine> => ({
      kind,
      name: `${node.id}, ${describeEvent(node, eventType)}: ${mistake}`,
      machine: edited(machine, node.id, eventType, by),
      original: machine,
    });
    const several = candidates.length > 1;
    return [
      ...candidates.map((_, at) =>
        change('dropped', `${nth(at, candidates)} dropped`, (all) => all.filter((_one, index) => index !== at)),
      ),
      ...candidates.flatMap(({ guard }, at) =>
        guard === undefined ? [] : [change('negated', `guard of ${nth(at, candidates)} negated`, negate(at))],
      ),
      ...candidates
        .slice(1)
        .map((_, at) => change('swapped', `${nth(at, candidates)} swapped with the next`, swap(at))),
      ...(several && node.after.some((delay) => delay.eventType === eventType)
        ? [change('no delay', 'delay removed', () => [])]
        : []),
      ...(several && eventType.startsWith('xstate.error.') ? [change('no onError', 'onError removed', () => [])] : []),
    ];
  });
}

/** How a suite detected a mutant: the first line of its error, or null if the suite passed. */
export interface MutantResult {
  readonly name: string;
  readonly killedBy: string | null;
}

export interface KillReport {
  readonly results: readonly MutantResult[];
  readonly killed: number;
  readonly survivors: readonly string[];
}

/**
 * Runs a suite on each mutant in turn. A suite detects a mutant by throwing or rejecting. Rejects with `invalid_option` if the suite fails on
 * a machine without a mistake: it would seem to detect every mutant.
 */
export async function killReport<Machine extends AnyStateMachine>(
  mutants: readonly Mutant<Machine>[],
  suite: (machine: Machine) => unknown,
): Promise<KillReport> {
  for (const original of new Set(mutants.map((mutant) => mutant.original)))
    try {
      await suite(original);
    } catch (cause) {
      throw new PostChainError(
        'invalid_option',
        `The suite fails on ${original.id} without a mutation: ${oneLine(firstLineOf(cause))}. Fix the machine or the suite first`,
        { cause },
      );
    }
  const results: MutantResult[] = [];
  for (const { name, machine } of mutants)
    try {
      await suite(machine);
      results.push({ name, killedBy: null });
    } catch (error) {
      results.push({ name, killedBy: firstLineOf(error) });
    }
  const survivors = results.filter(({ killedBy }) => killedBy === null).map(({ name }) => name);
  return { results, killed: results.length - survivors.length, survivors };
}

type Candidates = CandidateGroup['candidates'];
/** Changes the candidates of one state for one event. `not` negates a guard of their version of XState. */
type Change = <Candidate extends { readonly guard?: unknown }>(
  candidates: readonly Candidate[],
  not: (guard: Candidate['guard']) => Candidate['guard'],
) => readonly Candidate[];

const negate =
  (at: number): Change =>
  (all, not) =>
    all.map((one, index) => (index === at && one.guard !== undefined ? { ...one, guard: not(one.guard) } : one));

const swap =
  (at: number): Change =>
  (all) => {
    const changed = [...all];
    const [first, second] = [all[at], all[at + 1]];
    if (first !== undefined && second !== undefined) changed.splice(at, 2, second, first);
    return changed;
  };

/** Returns a copy with one group changed. `provide` rebuilds XState's states, so it applies the change again. */
function edited<Machine extends AnyStateMachine>(machine: Machine, state: string, event: string, by: Change): Machine {
  const copy = machine.provide({}) as Machine;
  if (isXState6(copy)) editCandidates(copy, state, event, by);
  else {
    const node = nodesOf(copy).find(({ id }) => id === state);
    if (node !== undefined)
      replaceCandidates(
        node,
        event,
        by(candidatesOf(node, event), (guard) => not(guard as never)),
      );
  }
  const provide: Machine['provide'] = (implementations) =>
    edited(machine.provide(implementations) as Machine, state, event, by) as never;
  return Object.assign(copy, { provide });
}

const candidatesOf = (node: AnyStateNode, event: string): Candidates =>
  (event === '' ? node.always : node.transitions.get(event)) ?? [];

const nth = (at: number, { length }: Candidates): string =>
  length === 1 ? 'transition' : `candidate ${at + 1} of ${length}`;

function describeEvent({ after }: AnyStateNode, event: string): string {
  if (event === '') return 'always';
  const delay = after.find(({ eventType }) => eventType === event);
  if (delay !== undefined) return `after ${delay.delay}`;
  return event.startsWith('xstate.') ? (event.split('.')[1] ?? event) : event;
}
