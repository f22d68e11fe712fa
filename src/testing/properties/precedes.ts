import type { AnyMachineSnapshot, DoneActorEvent } from 'xstate';
import { PostChainError } from '../../../machines/contracts/error.ts';
import { approval } from '../../durable/approval.ts';
import { declaredOutcomes } from '../../internal/declared-outcomes.ts';
import { describeValue } from '../../internal/describe-value.ts';
import { activeNodes } from '../../xstate/ports.ts';
import type { Exploration } from '../exploration/exploration.ts';
import type { Occurrence } from '../exploration/occurrences.ts';
import { replacedLogic } from '../exploration/stub-actors.ts';
import { describeTransition } from '../structure/chart-structure.ts';
import { activeActors, childOf, inputOf, spawnedActors } from '../structure/running-actors.ts';
import { labeledStates, type Step, snapshotAfter } from './labeled-states.ts';
import { describeState, type Property, type Witness } from './properties.ts';

/**
 * What a step of a machine may do: take an event, enter a state, start an actor, or run an action. Exactly one. Events and states are given by
 * name or by a predicate.
 */
export type StepMark =
  | { readonly event: string | ((occurrence: Occurrence) => boolean) }
  | { readonly state: string | ((snapshot: AnyMachineSnapshot) => boolean) }
  | { readonly actor: string }
  | { readonly action: string };

export type PrecedesTimes = 'once' | 'each' | 'never';

const ORDER: Readonly<Record<PrecedesTimes, string>> = {
  once: 'before',
  each: 'before each',
  never: 'never before',
};

/** A predicate is named after its function. One that is written in place has the name of the member. */
function textOf(mark: StepMark): string {
  const [[kind, given] = ['', '']] = Object.entries(mark);
  if (typeof given === 'string') return `${kind} "${given}"`;
  return given.name === kind || given.name === '' ? `a matching ${kind}` : `${kind} "${given.name}"`;
}

/**
 * `first` happens before `later`: for example, an approval before a payment. With `'each'`, again before each further time that `later`
 * happens, so that one approval allows one payment. With `'never'`, `later` does not happen in the step of `first` or after it: for example,
 * no payment after a denial. It also fails if one of the two never happens, because a property with a misspelled name would always hold.
 *
 * A state is named by its id, with or without that of the machine; an event by its type, or as in paths (`pay: done`). A state counts when it
 * is entered, or a predicate on snapshots becomes true; as `later` with `'never'`, as long as it is active or the predicate holds.
 *
 * @example
 * precedes({ event: 'approval: approved' }, { state: ({ context }) => context.paid > 0 }, 'each')
 */
export function precedes(first: StepMark, later: StepMark, times: PrecedesTimes = 'once'): Property {
  if (!Object.hasOwn(ORDER, times))
    throw new PostChainError(
      'invalid_option',
      `precedes: the third argument must be one of ${Object.keys(ORDER).join(', ')}; received ${describeValue(times)}`,
    );
  return {
    name: `${textOf(first)} ${ORDER[times]} ${textOf(later)}`,
    check: (exploration) => findMisplaced(exploration, first, later, times),
    untaken: (exploration) => [...untakenTo(exploration, later), ...untakenEdits(exploration)],
  };
}

/** Labels states with whether `first` has happened. */
function findMisplaced(
  exploration: Exploration,
  first: StepMark,
  later: StepMark,
  times: PrecedesTimes,
): Witness | null {
  const [isFirst, isLater] = [marks(exploration, first), marks(exploration, later, times === 'never')];
  const steps: readonly Step[] = [...exploration.starts, ...exploration.edges];
  const isAbsent = [!steps.some(isFirst), !steps.some(isLater)] as const;
  if (isAbsent[1]) return neverHappens(exploration, later);
  if (isAbsent[0] && times === 'never') return neverHappens(exploration, first);
  const states = labeledStates<'no' | 'yes' | 'used' | 'broken' | 'repeated'>(exploration, (before, step) => {
    if (before === 'broken' || before === 'repeated') return null;
    const has = before === 'yes' || isFirst(step);
    const now = isLater(step);
    if (now && has === (times === 'never')) return before === 'used' ? 'repeated' : 'broken';
    if (has) return now && times === 'each' ? 'used' : 'yes';
    return before ?? 'no';
  });
  const broken = states.find(({ label }) => label === 'broken' || label === 'repeated');
  if (broken === undefined) return null;
  const without = broken.label === 'repeated' ? 'again without another' : 'without';
  const how = times === 'never' ? 'after' : without;
  const never = isAbsent[0] ? ' (which never happens)' : '';
  const what = `${textOf(later)} happens ${how} ${textOf(first)}${never}, in ${describeState(broken.state)}`;
  return { what, path: broken.path() };
}

function neverHappens(exploration: Exploration, mark: StepMark): Witness {
  const names = knownNames(exploration, mark);
  return {
    what: `${textOf(mark)} never happens in ${exploration.machine.id}${names === null ? '' : `, which has ${names}`}`,
    path: null,
  };
}

/** Returns whether a step does what a mark names, or, if it is a state and `whileActive`, leaves it active. */
function marks(exploration: Exploration, mark: StepMark, whileActive = false): (step: Step) => boolean {
  const { machine, chart, states } = exploration;
  const before = (step: Step) => ('from' in step ? states[step.from]?.snapshot : undefined);
  const after = (step: Step) => snapshotAfter(exploration, step);
  const stateOf = new Map(chart.states.map((state) => [state.id, state]));
  const enters = (step: Step, matches: (id: string) => boolean): boolean => step.entered.some(matches);
  if ('event' in mark) {
    const { event } = mark;
    const is = typeof event === 'function' ? event : (one: Occurrence) => [one.name, one.event.type].includes(event);
    return (step) => 'occurrence' in step && step.taken.length > 0 && is(step.occurrence);
  }
  if ('state' in mark) {
    const { state } = mark;
    const isNamed = (id: string): boolean => id === state || id === `${machine.id}.${String(state)}`;
    const holds =
      typeof state === 'function'
        ? state
        : (snapshot: AnyMachineSnapshot) => activeNodes(snapshot).some(({ id }) => isNamed(id));
    if (whileActive) return (step) => holds(after(step));
    if (typeof state === 'string') return (step) => enters(step, isNamed);
    return (step) => {
      const from = before(step);
      return holds(after(step)) && (from === undefined || !holds(from));
    };
  }
  if ('actor' in mark) {
    const spawned = (snapshot: AnyMachineSnapshot | undefined): number =>
      snapshot === undefined
        ? 0
        : spawnedActors(snapshot, []).filter(({ name, id }) => [name, id].includes(mark.actor)).length;
    return (step) =>
      enters(step, (id) =>
        [...(stateOf.get(id)?.invokes ?? []), ...(stateOf.get(id)?.invokeIds ?? [])].includes(mark.actor),
      ) || spawned(after(step)) > spawned(before(step));
  }
  const runsOnExit = (step: Step): boolean => {
    const from = before(step);
    const to = after(step);
    // A state may be entered and left in one step. A machine that ends leaves all its states.
    const left = [...(from === undefined ? [] : activeNodes(from).map(({ id }) => id)), ...step.entered];
    const stays = to.status === 'done' ? [] : activeNodes(to).map(({ id }) => id);
    const count = (ids: readonly string[], id: string): number => ids.filter((one) => one === id).length;
    return left.some(
      (id) => count(left, id) > count(stays, id) && stateOf.get(id)?.exit?.includes(mark.action) === true,
    );
  };
  return (step) =>
    step.taken.some((index) => chart.transitions[index]?.actions.includes(mark.action)) ||
    enters(step, (id) => stateOf.get(id)?.entry?.includes(mark.action) === true) ||
    runsOnExit(step);
}

/** Returns the transitions that were never taken and would do what a mark names. A predicate has none. */
function untakenTo({ machine, chart, starts, edges }: Exploration, mark: StepMark): readonly string[] {
  const taken = new Set([...starts, ...edges].flatMap((step) => step.taken));
  const [name] = Object.values(mark) as readonly unknown[];
  const ids = chart.states.flatMap(({ id, invokes, invokeIds = [], entry = [] }) => {
    const own = 'state' in mark ? [id, id.replace(`${machine.id}.`, '')] : 'action' in mark ? entry : [];
    const names = 'actor' in mark ? [...invokes, ...invokeIds] : own;
    return names.includes(String(name)) ? [id] : [];
  });
  const isIn = (state: string, id: string): boolean => `${state}.`.startsWith(`${id}.`);
  return chart.transitions.flatMap(({ source, target, actions }, index) => {
    const leads = ids.some((id) => target.some((to) => to === id || (isIn(to, id) && !isIn(source, id))));
    const does = leads || ('action' in mark && actions.includes(mark.action));
    return does && !taken.has(index) ? [describeTransition(chart, index)] : [];
  });
}

/** Returns the approvals whose edited answer no path takes, because `outcomes` or guards leave it out. */
function untakenEdits({ machine, states, edgesFrom }: Exploration): readonly string[] {
  const isTaken = new Map<string, boolean>();
  for (const { id: at, snapshot, ended } of states)
    for (const { id, name, state } of activeActors(snapshot, ended)) {
      const ref = childOf(snapshot, id);
      if (ref === undefined || replacedLogic(ref) !== approval) continue;
      const answers = declaredOutcomes(approval)?.(inputOf(ref), snapshot) ?? [];
      if (!answers.some((answer) => 'output' in answer && isEdited(answer.output))) continue;
      const label = `${state.replace(`${machine.id}.`, '')}, ${name}: edited`;
      const takes = edgesFrom[at]?.some(
        ({ taken, occurrence: { actor, event } }) =>
          taken.length > 0 && actor?.id === id && isEdited((event as DoneActorEvent).output),
      );
      isTaken.set(label, isTaken.get(label) === true || takes === true);
    }
  return [...isTaken].flatMap(([label, taken]) => (taken ? [] : [label]));
}

const isEdited = (output: unknown): boolean => Object(output).isEdited === true;

const MAX_NAMES = 20;

/** The names that a mark of this kind may have; null for a predicate. */
function knownNames({ chart, edges }: Exploration, mark: StepMark): string | null {
  const { states, transitions } = chart;
  if (Object.values(mark).some((given) => typeof given === 'function')) return null;
  const names =
    'event' in mark
      ? edges.filter(({ taken }) => taken.length > 0).flatMap(({ occurrence: { name } }) => name)
      : 'state' in mark
        ? states.map(({ id }) => id)
        : 'actor' in mark
          ? states.flatMap(({ invokes }) => invokes)
          : [
              ...transitions.flatMap(({ actions }) => actions),
              ...states.flatMap(({ entry = [], exit = [] }) => [...entry, ...exit]),
            ];
  const unique = [...new Set(names)];
  const listed = unique.slice(0, MAX_NAMES).join(', ');
  return unique.length === 0 ? 'none' : `${listed}${unique.length > MAX_NAMES ? ', …' : ''}`;
}
