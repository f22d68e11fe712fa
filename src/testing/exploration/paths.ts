import type { AnyStateMachine } from 'xstate';
import { requireKnownOptions } from '../../internal/require-known.ts';
import { activeNodes } from '../../xstate/ports.ts';
import { transitionsOf } from '../structure/chart-structure.ts';
import { delayKey, guardKey, outcomeKey, stateKey, transitionKey } from '../structure/coverage-items.ts';
import type { InstrumentedStep } from '../structure/instrumented-machine.ts';
import type { Exploration, ExploredEdge, StartState } from './exploration.ts';

/** A start of a machine and the events that occur after it. */
export interface Path {
  /** Names the start and the events; suits a test title. */
  readonly name: string;
  readonly start: StartState;
  readonly edges: readonly ExploredEdge[];
}

/** Returns the shortest path to a state, by its id. */
export function pathTo(exploration: Exploration, state: number): Path {
  const edges: ExploredEdge[] = [];
  let at = state;
  for (;;) {
    const edge = exploration.edges[exploration.states[at]?.reachedBy ?? -1];
    if (edge === undefined) break;
    edges.unshift(edge);
    at = edge.from;
  }
  const start = exploration.starts.find((one) => one.state === at) ?? exploration.starts[0];
  if (start === undefined) throw new RangeError(`State ${state} does not exist`);
  return pathOf(start, edges);
}

/** Returns the shortest path that ends with an edge. */
export function pathThrough(exploration: Exploration, edge: ExploredEdge): Path {
  const { start, edges } = pathTo(exploration, edge.from);
  return pathOf(start, [...edges, edge]);
}

export function pathOf(start: StartState, edges: readonly ExploredEdge[]): Path {
  const names = edges.map(({ occurrence }) => occurrence.name);
  return { name: [start.name || 'start', ...names].join(' → '), start, edges };
}

/**
 * Returns few, short paths that together reach every item that the exploration reached: states, transitions, guard results, actor outcomes
 * and delays. With `each: 'edge'`, they take every edge of the exploration.
 */
export function cover(exploration: Exploration, options: { readonly each?: 'item' | 'edge' } = {}): readonly Path[] {
  requireKnownOptions('cover', options, 'each');
  const { each = 'item' } = options;
  const keysOf = (edge: ExploredEdge): readonly string[] =>
    each === 'edge' ? [`edge ${edge.id}`] : itemsOfEdge(exploration, edge);
  const seen = new Set<string>();
  const candidates = exploration.starts.map((start) => pathOf(start, []));
  for (const start of exploration.starts) for (const key of itemsOfStart(exploration, start)) seen.add(key);
  // Edges are ordered by distance, so the first edge that reaches an item ends a shortest path to it.
  for (const edge of exploration.edges) {
    const fresh = keysOf(edge).filter((key) => !seen.has(key));
    if (fresh.length === 0) continue;
    for (const key of fresh) seen.add(key);
    candidates.push(pathThrough(exploration, edge));
  }
  return withoutRedundant(candidates, (path) => [
    ...(each === 'edge' ? [`start ${path.start.name}`] : itemsOfStart(exploration, path.start)),
    ...path.edges.flatMap(keysOf),
  ]);
}

/** Drops paths whose items are all reached by longer paths. */
function withoutRedundant(paths: readonly Path[], keysOf: (path: Path) => readonly string[]): readonly Path[] {
  const kept: Path[] = [];
  const covered = new Set<string>();
  for (const path of [...paths].sort((one, other) => other.edges.length - one.edges.length)) {
    const fresh = keysOf(path).filter((key) => !covered.has(key));
    if (fresh.length === 0) continue;
    for (const key of fresh) covered.add(key);
    kept.push(path);
  }
  return kept.sort((one, other) => one.edges.length - other.edges.length);
}

/** Returns everything in the chart that an exploration reached, as keys of `coverageItems`. */
export function reachedItems(exploration: Exploration): ReadonlySet<string> {
  const reached = new Set<string>();
  const add = (keys: readonly string[]): void => {
    for (const key of keys) reached.add(key);
  };
  for (const start of exploration.starts) add(itemsOfStart(exploration, start));
  for (const edge of exploration.edges) add(itemsOfEdge(exploration, edge));
  return reached;
}

/** Returns the parts of the chart that an edge reaches, as keys of `coverageItems`. */
function itemsOfEdge(exploration: Exploration, edge: ExploredEdge): readonly string[] {
  const { occurrence, taken } = edge;
  const { kind, event, actor } = occurrence;
  const keys = [...itemsOfStep(exploration, edge), ...activeIn(exploration, edge.to)];
  if (taken.length === 0) return keys;
  if (actor !== null && (kind === 'done' || kind === 'error')) keys.push(outcomeKey(actor.id, kind));
  if (kind === 'delay' && event.type.startsWith('xstate.after.')) keys.push(delayKey(event.type));
  return keys;
}

const itemsOfStart = (exploration: Exploration, start: StartState): readonly string[] => [
  ...itemsOfStep(exploration, start),
  ...activeIn(exploration, start.state),
];

/** A transient state counts as reached if the step enters or leaves it, a delay also if it elapses at once. */
function itemsOfStep({ chart, machine }: Exploration, { taken, guards, entered }: InstrumentedStep): string[] {
  return [
    ...taken.flatMap((index) => {
      const keys = [transitionKey(index), stateKey(chart.transitions[index]?.source ?? '')];
      const eventType = eventTypesOf(machine)[index] ?? '';
      return eventType.startsWith('xstate.after.') ? [...keys, delayKey(eventType)] : keys;
    }),
    ...entered.map(stateKey),
    ...guards.map(({ transition, holds }) => guardKey(transition, holds)),
  ];
}

function activeIn({ states }: Exploration, id: number): readonly string[] {
  const snapshot = states[id]?.snapshot;
  return snapshot === undefined ? [] : activeNodes(snapshot).map((node) => stateKey(node.id));
}

const eventTypesByMachine = new WeakMap<AnyStateMachine, readonly string[]>();

/** The event types of all transitions; cached because every edge asks for them. */
function eventTypesOf(machine: AnyStateMachine): readonly string[] {
  const types = eventTypesByMachine.get(machine) ?? transitionsOf(machine).map(({ eventType }) => eventType);
  eventTypesByMachine.set(machine, types);
  return types;
}
