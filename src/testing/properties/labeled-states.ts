import type { AnyMachineSnapshot } from 'xstate';
import type { Exploration, ExploredEdge, ExploredState, StartState } from '../exploration/exploration.ts';
import { type Path, pathOf } from '../exploration/paths.ts';

/** A start of a machine, or an event and what it did. */
export type Step = StartState | ExploredEdge;

/** A state together with what matters of the path to it. */
export interface LabeledState<Label> {
  readonly state: ExploredState;
  readonly label: Label;
  readonly depth: number;
  /** Returns the shortest path to the state with this label. */
  path(): Path;
}

interface Found<Label> extends LabeledState<Label> {
  readonly start: StartState;
  /** The last step of the path, and what is before it. */
  readonly last: { readonly edge: ExploredEdge; readonly before: Found<Label> } | null;
}

/**
 * Returns each state once with each of its labels, in order of distance. `labelAfter` receives the label before a step, which is null for a
 * start; a path ends where it returns null.
 */
export function labeledStates<Label>(
  exploration: Exploration,
  labelAfter: (before: Label | null, step: Step) => Label | null,
): readonly LabeledState<Label>[] {
  const found: Found<Label>[] = [];
  const seen = new Set<string>();
  function reach(id: number, label: Label | null, start: StartState, last: Found<Label>['last']): void {
    const state = exploration.states[id];
    const key = `${id} ${label}`;
    if (state === undefined || label === null || seen.has(key)) return;
    seen.add(key);
    const depth = last === null ? 0 : last.before.depth + 1;
    found.push({ state, label, depth, start, last, path: () => pathOf(start, edgesOf(last)) });
  }
  for (const start of exploration.starts) reach(start.state, labelAfter(null, start), start, null);
  // States are appended in order of distance, so the list is its own queue.
  for (const before of found)
    for (const edge of exploration.edgesFrom[before.state.id] ?? [])
      reach(edge.to, labelAfter(before.label, edge), before.start, { edge, before });
  return found;
}

function edgesOf(last: Found<unknown>['last']): readonly ExploredEdge[] {
  const edges: ExploredEdge[] = [];
  for (let at = last; at !== null; at = at.before.last) edges.push(at.edge);
  return edges.reverse();
}

/** Returns the snapshot that results from a step. */
export function snapshotAfter({ states }: Exploration, step: Step): AnyMachineSnapshot {
  const merged = 'merged' in step ? step.merged : undefined;
  return merged ?? (states['to' in step ? step.to : step.state] as ExploredState).snapshot;
}
