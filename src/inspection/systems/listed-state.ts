import type { AnyStateMachine, AnyStateNode } from 'xstate';
import { type DurableEntry, hasState, type Waiting } from '../../durable/entries.ts';
import type { ReplayStep } from '../../durable/replay.ts';
import { initialNodes } from '../../xstate/states.ts';
import { readableValue } from '../readable-value.ts';
import { leavesOf } from './observe-for-inspector.ts';
import type { ReplayHost } from './recorded-states.ts';
import { errorText } from './system-log.ts';

/** What a list shows of a durable actor besides the ends of its journal. Reads the entries without a replay of them. */
export class ListedState {
  /** What it still waits for, although a process has opened it again; null if something has happened since. */
  wait: Waiting | null = null;
  atMs = 0;
  /** The time between failures and their repairs. */
  idleMs = 0;
  #resumedAfterMs = 0;
  /** The names of the calls that failed and have not succeeded since, with their errors. */
  readonly #failures = new Map<string, string>();
  readonly #active = new Set<string>();
  #root = '';
  #start: readonly DurableEntry[] = [];
  #machine: AnyStateMachine | null = null;

  take(entry: DurableEntry): void {
    if (entry.type === 'resumed') this.#resumedAfterMs = this.atMs;
    if (entry.type === 'retried') this.idleMs += entry.atMs - this.#resumedAfterMs;
    this.atMs = entry.atMs;
    if (entry.type === 'closed') this.wait = entry.waiting ?? null;
    else if (entry.type !== 'resumed' && entry.type !== 'attributes') this.wait = null;
    if (entry.type === 'activity-event') this.#takeResult(entry);
    else if (entry.type === 'transition' && entry.actor === '') this.#move(entry.source, entry.target);
    // The names of timers and of calls without an id end with the id of their state.
    else if (entry.type === 'timer-start' && entry.actor === '')
      this.#enterFor(/^xstate\.after\.[^.]+\.(.+)$/su.exec(entry.event));
    else if (entry.type === 'activity-start') this.#enterFor(/^\/\d+\.([^/]+)$/u.exec(entry.actor));
    else if (entry.type === 'start') [this.#root, this.#start] = [`${entry.machine.id}.`, [entry]];
    else if (hasState(entry)) {
      this.#active.clear();
      for (const id of entry.state.snapshot.nodes) this.#enter(id);
    }
  }

  /** The paths of the innermost active states of the root: with its durable machine all of them in chart order, without it as far as the journal has them. */
  statesIn(host: ReplayHost | null): string {
    try {
      const first = this.#machine === null ? host?.replaySteps(this.#start).next() : undefined;
      this.#machine ??= (first as IteratorYieldResult<ReplayStep>).value.snapshot.machine;
      const { root } = this.#machine;
      const active = Array.from(this.#active, (id) => root.machine.getStateNodeById(id));
      return listOf(activeLeaves(root, active).map(({ path }) => path));
    } catch {
      const paths = Array.from(this.#active, (id) => id.slice(id.startsWith(this.#root) ? this.#root.length : 0));
      return listOf(paths.sort().map((path) => path.split('.')));
    }
  }

  get failure(): string {
    const [source, error] = [...this.#failures].at(-1) ?? [];
    return source === undefined ? '' : `${source} failed: ${error}`;
  }

  #takeResult({ source, event }: Extract<DurableEntry, { type: 'activity-event' }>): void {
    const { type, data } = Object(event);
    if (type === 'xstate.promise.reject' || type === 'xstate.promise.resolve') this.#failures.delete(source);
    if (type === 'xstate.promise.reject') this.#failures.set(source, errorText(readableValue(data)));
  }

  /** Leaves what is inside the innermost state that contains both ends of a transition. */
  #move(source: string, targets: readonly string[]): void {
    if (targets.length === 0) return;
    const paths = targets.map((id) => id.split('.'));
    const path = source.split('.');
    const end = path.findIndex((name, at) => paths.some((other) => other[at] !== name || other.length === at + 1));
    const domain = path.slice(0, end === -1 ? path.length : end).join('.');
    for (const id of this.#active)
      if (domain === '' || isInside(id, domain) || isInside(domain, id)) this.#active.delete(id);
    for (const id of targets) this.#enter(id);
  }

  #enterFor(match: RegExpExecArray | null): void {
    const id = match?.[1] ?? '';
    if (id.startsWith(this.#root)) this.#enter(id);
  }

  #enter(id: string): void {
    if ([...this.#active].some((other) => isInside(other, id))) return;
    for (const other of this.#active) if (isInside(id, other)) this.#active.delete(other);
    this.#active.add(id);
  }
}

/** The innermost active states inside a state, in chart order. What the journal does not name is in its initial states. */
function activeLeaves(node: AnyStateNode, active: readonly AnyStateNode[]): readonly AnyStateNode[] {
  // Only a replay knows which states a history state has restored.
  if (active.some(({ type, parent }) => type === 'history' && parent === node)) return [node];
  const children = Object.values(node.states).filter(({ type }) => type !== 'history');
  const named = children.filter((child) => active.some((one) => one === child || hasAncestor(one, child)));
  if (named.length > 0 || node.type === 'parallel')
    return (node.type === 'parallel' ? children : named).flatMap((child) => activeLeaves(child, active));
  return leavesOf(initialNodes(node)).map((id) => node.machine.getStateNodeById(id));
}

const hasAncestor = ({ parent }: AnyStateNode, node: AnyStateNode): boolean =>
  parent !== undefined && (parent === node || hasAncestor(parent, node));

const listOf = (paths: readonly (readonly string[])[]): string => paths.map((path) => path.join(' › ')).join(', ');

const isInside = (id: string, outer: string): boolean => id === outer || id.startsWith(`${outer}.`);
