import { PostChainError } from '../../../machines/contracts/error.ts';
import { activeNodes } from '../../internal/xstate-internals.ts';
import type { Exploration, ExploredEdge } from '../exploration/exploration.ts';
import { activeActors } from '../exploration/occurrences.ts';
import { itemsOfEdge, itemsOfStart } from '../exploration/reached-items.ts';
import { describeFinding, findingsOf, type Property } from '../properties/properties.ts';
import { stateKey, transitionKey } from '../structure/coverage-items.ts';
import type { CallKind, ChartProof } from './chart-proof.ts';

/** The actors that call a model. */
const CALLERS = new Set(['attempt', 'action', 'callAhead', 'readReply']);

/** The state that calls a model to write the answer. */
const WRITER = 'postChain.synthesizing.writing';

/**
 * Returns what an exploration proves. Paths avoid external events where possible.
 *
 * @throws PostChainError `exploration_failed` if a property fails.
 */
export function prove(exploration: Exploration, properties: readonly Property[]): ChartProof {
  const failed = findingsOf(exploration, properties).find(({ witness }) => witness !== null);
  if (failed !== undefined) throw new PostChainError('exploration_failed', describeFinding(failed));
  const { chart, starts } = exploration;
  const withoutExternalEvents = shortestPaths(exploration, ({ occurrence: { kind } }) => kind !== 'sent');
  const all = shortestPaths(exploration, () => true);
  const steps: ChartProof['steps'][number][] = [];
  const numbers = new Map<string, number>();

  /** The number of a path's last step; adds the steps that are missing. */
  function endOf({ start, edges }: ReachedPath): number {
    let end = -1 - start;
    for (const {
      occurrence: { name },
      taken,
    } of edges) {
      const step = { after: end, name, taken };
      const key = JSON.stringify(step);
      end = numbers.get(key) ?? steps.push(step) - 1;
      numbers.set(key, end);
    }
    return end;
  }
  const endAt = (key: string): number | null => {
    const path = withoutExternalEvents(key) ?? all(key);
    return path === null ? null : endOf(path);
  };
  return {
    chart: chart.id,
    states: exploration.states.length,
    edges: exploration.edges.length,
    starts: starts.map(({ name }) => name),
    toState: Object.fromEntries(
      chart.states.flatMap(({ id }) => {
        const end = endAt(stateKey(id));
        return end === null ? [] : [[id, end]];
      }),
    ),
    byTransition: chart.transitions.map((_, index) => endAt(transitionKey(index))),
    calls: callsByState(exploration),
    steps,
  };
}

interface ReachedPath {
  readonly start: number;
  readonly edges: readonly ExploredEdge[];
}

/** Returns a function from a part of the chart to the shortest path of these edges that reaches it, or null. */
function shortestPaths(exploration: Exploration, follows: (edge: ExploredEdge) => boolean) {
  const into = new Map<number, ExploredEdge | null>();
  const reached = new Map<string, ExploredEdge | number>();
  for (const [number, start] of exploration.starts.entries()) {
    into.set(start.state, null);
    for (const key of itemsOfStart(exploration, start)) if (!reached.has(key)) reached.set(key, number);
  }
  // Iterating a map also visits entries that are added meanwhile.
  for (const state of into.keys())
    for (const edge of (exploration.edgesFrom[state] ?? []).filter(follows)) {
      if (!into.has(edge.to)) into.set(edge.to, edge);
      for (const key of itemsOfEdge(exploration, edge)) if (!reached.has(key)) reached.set(key, edge);
    }
  return (key: string): ReachedPath | null => {
    const last = reached.get(key);
    if (last === undefined) return null;
    if (typeof last === 'number') return { start: last, edges: [] };
    const edges = [last];
    for (let edge = into.get(last.from); edge; edge = into.get(edge.from)) edges.unshift(edge);
    return { start: exploration.starts.findIndex(({ state }) => state === edges[0]?.from), edges };
  };
}

/** Which model calls may follow each state of the chart. */
function callsByState(exploration: Exploration): ChartProof['calls'] {
  const { chart, starts, states, edges } = exploration;
  const following = states.map(({ snapshot }) => {
    const callers = activeActors(snapshot).filter(({ src }) => CALLERS.has(src));
    return new Set(callers.map(({ state }) => (state === WRITER ? 'answer' : 'phases')));
  });
  const calls = new Map(chart.states.map(({ id }) => [stateKey(id), new Set<CallKind>()]));
  const add = (to: Set<CallKind> | undefined, state: number): boolean => {
    const before = to?.size;
    for (const kind of following[state] ?? []) to?.add(kind);
    return to?.size !== before;
  };
  // What may follow a state may follow all states before it.
  const backwards = edges.toReversed();
  for (let isGrowing = true; isGrowing; )
    isGrowing = backwards.filter(({ from, to }) => add(following[from], to)).length > 0;
  // A transient state is not active in any snapshot, but it is on the way to one.
  for (const edge of edges) for (const key of itemsOfEdge(exploration, edge)) add(calls.get(key), edge.to);
  for (const start of starts) for (const key of itemsOfStart(exploration, start)) add(calls.get(key), start.state);
  for (const { id, snapshot } of states)
    for (const node of activeNodes(snapshot)) add(calls.get(stateKey(node.id)), id);
  return Object.fromEntries(chart.states.map(({ id }) => [id, [...(calls.get(stateKey(id)) ?? [])].sort()]));
}
