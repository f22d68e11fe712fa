import type { AnyMachineSnapshot } from 'xstate';
import { PostChainError } from '../../../machines/contracts/error.ts';
import { missingImplementations } from '../../durable/charts/chart-nodes.ts';
import { describeValue } from '../../internal/describe-value.ts';
import { oneLine } from '../../internal/printable.ts';
import { requireKnownOptions } from '../../internal/require-known.ts';
import { activeNodes } from '../../xstate/ports.ts';
import type { Exploration, ExploredEdge, ExploredState } from '../exploration/exploration.ts';
import { type Path, pathThrough, pathTo, reachedItems } from '../exploration/paths.ts';
import { describeTransition } from '../structure/chart-structure.ts';
import { isEnterable, stateKey } from '../structure/coverage-items.ts';

/** A condition on everything that a machine can do. */
export interface Property {
  readonly name: string;
  /** Whether the property can only be checked on a complete exploration, not on one that `depth` cut off. */
  readonly requiresComplete?: boolean;
  /** Returns a counterexample, or null if the property holds. */
  check(exploration: Exploration): Witness | null;
  /** Returns the relevant transitions that no outcome takes, and the edits of approvals on no path: the property is not proved for them. */
  untaken?(exploration: Exploration): readonly string[];
}

/** A counterexample: a description, and the shortest path that shows it, if a path can. */
export interface Witness {
  readonly what: string;
  readonly path: Path | null;
}

/** The result of checking a property. `witness` is null if it holds. */
export interface Finding {
  readonly property: string;
  readonly witness: Witness | null;
  /** If the property holds, the transitions and edits for which it is not proved because no path takes them. */
  readonly untaken?: readonly string[];
}

/**
 * Checks properties in order. If the exploration is incomplete, properties that need all of it are skipped. Throws `invalid_option` if one is
 * not a property.
 */
export function findingsOf(exploration: Exploration, properties: readonly Property[]): readonly Finding[] {
  for (const [at, property] of properties.entries())
    if (typeof Object(property).check !== 'function')
      throw new PostChainError(
        'invalid_option',
        `properties[${at}]: expected a property; received ${describeValue(property)}. Spread lists and call functions, for example [...soundness, noIgnoredEvent()].`,
      );
  return properties
    .filter(({ requiresComplete = false }) => exploration.isComplete || !requiresComplete)
    .map((property) => {
      const witness = property.check(exploration);
      const untaken = witness === null ? (property.untaken?.(exploration) ?? []) : [];
      return { property: property.name, witness, ...(untaken.length > 0 && { untaken }) };
    });
}

/** Formats a finding as one line. */
export function describeFinding({ property, witness, untaken = [] }: Finding): string {
  if (witness !== null) return `FAILS: ${property}: ${describeWitness(witness)}`;
  return `holds: ${property}${untaken.length === 0 ? '' : `; not proved for what is never taken: ${untaken.join('; ')}`}`;
}

export const describeWitness = ({ what, path }: Witness): string =>
  `${what}${path === null ? '' : `, after ${path.name}`}`;

/** No reachable state matches. With an `abstraction`, it must contain everything that `matches` reads. */
export function never(name: string, matches: (snapshot: AnyMachineSnapshot) => boolean): Property {
  return {
    name: `never ${name}`,
    check: (exploration) => findSnapshot(exploration, matches, (snapshot) => `reached in ${describeState(snapshot)}`),
  };
}

/**
 * A number never exceeds its bound. A measure that is not a number fails, and so does one that differs within one state of the `abstraction`,
 * because it may grow further. `name` is a plural noun, such as `attempts`.
 */
export function atMost(name: string, most: number, measure: (snapshot: AnyMachineSnapshot) => number): Property {
  const describe = (snapshot: AnyMachineSnapshot) => `${measure(snapshot)} in ${describeState(snapshot)}`;
  return {
    name: `at most ${most} ${name}`,
    check: (exploration) =>
      findSnapshot(exploration, (snapshot) => !(measure(snapshot) <= most), describe) ??
      findSnapshot(
        exploration,
        (snapshot, state) => !Object.is(measure(snapshot), measure(state)),
        (snapshot, state) =>
          `unknown: ${describe(snapshot)}, and ${measure(state)} in a state that "abstraction" does not tell apart; return the number from it`,
      ),
  };
}

/** Finds a snapshot that matches: that of a state, or one that was merged into it. */
function findSnapshot(
  exploration: Exploration,
  matches: (snapshot: AnyMachineSnapshot, ofState: AnyMachineSnapshot) => boolean,
  describe: (snapshot: AnyMachineSnapshot, ofState: AnyMachineSnapshot) => string,
): Witness | null {
  for (const { id, snapshot } of exploration.states)
    if (matches(snapshot, snapshot)) return { what: describe(snapshot, snapshot), path: pathTo(exploration, id) };
  for (const edge of exploration.edges) {
    const ofState = exploration.states[edge.to]?.snapshot;
    if (edge.merged !== undefined && ofState !== undefined && matches(edge.merged, ofState))
      return { what: describe(edge.merged, ofState), path: pathThrough(exploration, edge) };
  }
  return null;
}

/** No error ends the machine: neither of an actor nor thrown by a guard, an assignment or another expression. */
export const noUnhandledError: Property = {
  name: 'no unhandled error',
  check(exploration) {
    const first = new Map<string, ExploredState>();
    for (const state of exploration.states) {
      const text = errorText(state.snapshot.error);
      if (state.snapshot.status === 'error' && !first.has(text)) first.set(text, state);
    }
    const [found, ...others] = first;
    if (found === undefined) return null;
    const [error, state] = found;
    const paths = others.map(([text, { id }]) => `"${text}", after ${pathTo(exploration, id).name}`);
    const also = paths.length === 0 ? '' : ` (also ${paths.join('; ')})`;
    return { what: `"${error}" ends it in ${describeState(state)}${also}`, path: pathTo(exploration, state.id) };
  },
};

interface ExceptOptions {
  readonly except?: readonly string[];
}

function exceptionsOf(name: string, options: ExceptOptions): readonly string[] {
  requireKnownOptions(name, options, 'except');
  return options.except ?? [];
}

/** All lines: XState puts the reason why a guard failed on the second. */
const errorText = (error: unknown): string => oneLine(error instanceof Error ? error.message : String(error));

/** In every reachable state that is not final, a possible event takes a transition, and not only one that forbids the event. */
export const noDeadEnd: Property = {
  name: 'no dead end',
  requiresComplete: true,
  check(exploration) {
    const { states, edgesFrom, chart, children } = exploration;
    const acts = chart.transitions.map(({ target, actions }) => target.length + actions.length > 0);
    const leadsOn = ({ taken, from, to }: ExploredEdge): boolean =>
      taken.some((index) => acts[index]) || (taken.length > 0 && from !== to);
    const found = states.find(({ id, snapshot }) => snapshot.status === 'active' && !edgesFrom[id]?.some(leadsOn));
    if (found !== undefined)
      return { what: `no event takes a transition in ${describeState(found)}`, path: pathTo(exploration, found.id) };
    const inside = children.map((child) => [child.name, noDeadEnd.check(child.exploration)] as const);
    const [name, witness] = inside.find(([, one]) => one !== null) ?? [];
    return witness == null ? null : { what: `in ${name}: ${describeWitness(witness)}`, path: null };
  },
};

/** Every transition is taken, except those that `except` names as findings print them. */
export function noDeadTransition(options: ExceptOptions = {}): Property {
  const except = exceptionsOf('noDeadTransition', options);
  return {
    name: 'no dead transition',
    requiresComplete: true,
    check({ chart, edges, starts }) {
      const taken = new Set([...edges, ...starts].flatMap((step) => step.taken));
      const names = chart.transitions.map((_, index) => describeTransition(chart, index));
      const dead = names.filter((_, index) => !taken.has(index));
      return witnessOf(without(except, dead, names), 'never taken');
    },
  };
}

/** Every state is entered, except those that `except` names by id. */
export function noUnreachableState(options: ExceptOptions = {}): Property {
  const except = exceptionsOf('noUnreachableState', options);
  return {
    name: 'no unreachable state',
    requiresComplete: true,
    check(exploration) {
      const reached = reachedItems(exploration);
      const ids = exploration.chart.states.filter(isEnterable).map(({ id }) => id);
      const unreached = ids.filter((id) => !reached.has(stateKey(id)));
      return witnessOf(without(except, unreached, ids), 'never entered');
    },
  };
}

/** Every actor, action, guard and delay that the machine names is provided, except those that `except` names as findings print them. */
export function noMissingImplementation(options: ExceptOptions = {}): Property {
  const except = exceptionsOf('noMissingImplementation', options);
  return {
    name: 'no missing implementation',
    check({ machine, unknownActions }) {
      const missing = missingImplementations(machine).map(({ kind, name, state }) => `${kind} "${name}" of ${state}`);
      const queued = [...unknownActions]
        .filter((name) => !missing.some((text) => text.startsWith(`action "${name}" `)))
        .map((name) => `action "${name}" of ${machine.id}`);
      const all = [...missing, ...queued];
      return witnessOf(without(except, all, all), 'not provided');
    },
  };
}

/** Event types to the ids of the states (with or without the machine's id) in which, and within which, the event may be ignored. */
export type MayIgnore = Readonly<Record<string, readonly string[]>>;

/** Every event sent from outside takes a transition while the machine is active, except where declared. */
export function noIgnoredEvent(mayIgnore: MayIgnore = {}): Property {
  return {
    name: 'no ignored external event',
    check(exploration) {
      const { chart, states, edges } = exploration;
      const matches = (id: string, name: string): boolean => id === name || id === `${chart.id}.${name}`;
      for (const [type, names] of Object.entries(mayIgnore)) {
        const unknown = names.find((name) => !chart.states.some(({ id }) => matches(id, name)));
        if (unknown !== undefined)
          throw new PostChainError(
            'invalid_option',
            `noIgnoredEvent "${type}": "${unknown}" is not the id of a state of ${chart.id}`,
          );
      }
      for (const edge of edges) {
        const { from, taken, occurrence } = edge;
        const state = states[from];
        if (occurrence.kind !== 'sent' || taken.length > 0 || state === undefined) continue;
        const declared = mayIgnore[occurrence.event.type] ?? [];
        if (activeNodes(state.snapshot).some(({ id }) => declared.some((name) => matches(id, name)))) continue;
        return {
          what: `${occurrence.name} is ignored in ${describeState(state)}`,
          path: pathThrough(exploration, edge),
        };
      }
      return null;
    },
  };
}

export const describeState = ({ value }: Pick<ExploredState, 'value'>): string => JSON.stringify(value);

/** Returns the names that are not excepted. Throws `invalid_option` for an unknown exception. */
function without(except: readonly string[], names: readonly string[], all: readonly string[]): readonly string[] {
  const unknown = except.find((name) => !all.includes(name));
  if (unknown !== undefined)
    throw new PostChainError(
      'invalid_option',
      `"except" must use names as findings print them${all[0] === undefined ? '' : `, for example ${JSON.stringify(all[0])}`}; received "${unknown}"`,
    );
  return names.filter((name) => !except.includes(name));
}

const witnessOf = (names: readonly string[], problem: string): Witness | null =>
  names.length === 0
    ? null
    : { what: `${names.join('; ')} ${names.length === 1 ? 'is' : 'are'} ${problem}`, path: null };
