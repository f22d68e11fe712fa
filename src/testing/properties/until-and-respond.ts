import type { AnyMachineSnapshot } from 'xstate';
import { requireKnownOptions } from '../../internal/require-known.ts';
import type { Exploration, ExploredEdge, ExploredState } from '../exploration/exploration.ts';
import { type Path, pathOf } from '../exploration/paths.ts';
import type { EventuallyOptions } from './always-eventually.ts';
import { describeState, type Property } from './properties.ts';
import { findUnfulfilled } from './unfulfilled.ts';

type Predicate = (snapshot: AnyMachineSnapshot) => boolean;

/**
 * On every path, the first predicate holds in each state before the first state in which the second one holds, which need not come. With an
 * `abstraction`, it must contain everything that the predicates read.
 *
 * @example
 * until('nothing is paid', ({ context }) => context.paid === 0, 'approved', ({ context }) => context.approved);
 */
export function until(name: string, holds: Predicate, end: string, ends: Predicate): Property {
  const labelOf = (snapshot: AnyMachineSnapshot) => (ends(snapshot) ? null : holds(snapshot) ? 'holds' : 'broken');
  return {
    name: `${name} until ${end}`,
    check(exploration) {
      const states = labeledStates(exploration, labelOf, (label, snapshot) =>
        label === 'broken' ? null : labelOf(snapshot),
      );
      const broken = states.find(({ label }) => label === 'broken');
      if (broken === undefined) return null;
      return { what: `neither holds in ${describeState(broken.state)}`, path: broken.path() };
    },
  };
}

/**
 * Whenever the first predicate holds, the second one holds in the same state or later, whatever is sent meanwhile and whatever the outcomes of
 * actors. As for `alwaysEventually`, nothing more need be sent, delays elapse, actors end, and an actor that repeats an event without leaving
 * the state is assumed to stop. With an `abstraction`, it must contain everything that the predicates read.
 *
 * @example
 * respond('charged', ({ context }) => context.charged, 'shipped or refunded', (snapshot) => snapshot.status === 'done');
 */
export function respond(
  name: string,
  asks: Predicate,
  response: string,
  responds: Predicate,
  options: EventuallyOptions = {},
): Property {
  requireKnownOptions('respond', options, 'finitely');
  const { finitely = () => false } = options;
  const isOwed = (snapshot: AnyMachineSnapshot, was = false): boolean => (was || asks(snapshot)) && !responds(snapshot);
  return {
    name: `${name} leads to ${response}`,
    requiresComplete: true,
    check(exploration) {
      const states = labeledStates(
        exploration,
        (snapshot) => isOwed(snapshot),
        (was, snapshot) => isOwed(snapshot, was),
      );
      const owed = states.filter(({ label }) => label);
      return findUnfulfilled(exploration, owed, finitely);
    },
  };
}

/** A state together with what matters of the path to it. */
interface LabeledState<Label> {
  readonly state: ExploredState;
  readonly label: Label;
  readonly depth: number;
  /** Returns the shortest path to the state with this label. */
  path(): Path;
}

/** Returns each state once with each of its labels, in order of distance. A path ends where its label is null. */
function labeledStates<Label>(
  exploration: Exploration,
  first: (snapshot: AnyMachineSnapshot) => Label | null,
  next: (label: Label, snapshot: AnyMachineSnapshot) => Label | null,
): readonly LabeledState<Label>[] {
  const found: LabeledState<Label>[] = [];
  const seen = new Set<string>();
  const reach = (id: number, label: Label | null, depth: number, path: () => Path): void => {
    const state = exploration.states[id];
    const key = `${id} ${label}`;
    if (state === undefined || label === null || seen.has(key)) return;
    seen.add(key);
    found.push({ state, label, depth, path });
  };
  for (const start of exploration.starts) {
    const state = exploration.states[start.state];
    if (state !== undefined) reach(start.state, first(state.snapshot), 0, () => pathOf(start, []));
  }
  // States are appended in order of distance, so the list is its own queue.
  for (const before of found)
    for (const edge of exploration.edgesFrom[before.state.id] ?? []) {
      const snapshot = snapshotAfter(exploration, edge);
      if (snapshot === undefined) continue;
      reach(edge.to, next(before.label, snapshot), before.depth + 1, () => {
        const { start, edges } = before.path();
        return pathOf(start, [...edges, edge]);
      });
    }
  return found;
}

const snapshotAfter = ({ states }: Exploration, { merged, to }: ExploredEdge): AnyMachineSnapshot | undefined =>
  merged ?? states[to]?.snapshot;
