import type { AnyActorRef, AnyMachineSnapshot, AnyStateMachine, Snapshot } from 'xstate';
import { chartOf } from '../../durable/charts/chart.ts';
import type { Json } from '../../durable/codec.ts';
import type { DurableMachine } from '../../durable/durable-machine.ts';
import {
  type ActorPath,
  childPath,
  type DurableEntry,
  isExternal,
  type OpenApproval,
  wasQueued,
} from '../../durable/entries.ts';
import { isSameButKeyframes, type ReplayStep } from '../../durable/replay.ts';
import { plainJson } from '../../internal/plain-json.ts';
import { activeNodes, machineOf } from '../../xstate/actors.ts';
import { initialNodes } from '../../xstate/states.ts';
import type { ActorState, RunCharts, StateFrame } from '../wire.ts';
import { endOf, invokedSrc, leavesOf } from './observe-for-inspector.ts';
import { SystemStates, systemCharts } from './system-states.ts';

/** The members of a durable machine that replay a journal, without calls or effects. */
export type ReplayHost = Pick<DurableMachine<AnyStateMachine>, 'machineId' | 'journals' | 'replaySteps' | 'queue'>;

/** Returns the durable machine that replays the actors of a machine. Machines in other stores may have the same id. */
export function hostOf(
  hosts: readonly ReplayHost[],
  machineId: string | undefined,
  journals: unknown,
): ReplayHost | null {
  const named = hosts.filter((host) => host.machineId === machineId);
  return named.find((host) => host.journals === journals) ?? (named.length === 1 ? (named[0] ?? null) : null);
}

/**
 * Replays a durable actor without calls or effects, and yields its state and that of its children after the start and after each external
 * event. Entries may be appended to the list until the last step. `onCharts` receives all charts whenever a new machine starts. Returns why
 * later states are unknown; null if all are known.
 */
export function* actorStates(
  entries: readonly DurableEntry[],
  host: ReplayHost,
  onCharts: (charts: RunCharts) => void,
): Generator<readonly StateFrame[], string | null> {
  const read = stateReader(entries, onCharts);
  let steps = host.replaySteps(entries, isSameButKeyframes);
  let wasQueuedBefore = false;
  for (let count = 1; ; count += 1) {
    let result = steps.next();
    let isOtherReplay = false;
    if (result.done && result.value.divergence !== null) {
      // The rest of a step may have been stored after the step was replayed.
      steps = host.replaySteps(entries, isSameButKeyframes);
      isOtherReplay = true;
      result = steps.next();
      for (let at = 1; at < count && !result.done; at += 1) {
        yield [];
        result = steps.next();
      }
    }
    if (result.done) {
      const { divergence } = result.value;
      return divergence && divergenceText(divergence);
    }
    if (isQueued(entries)) {
      if (wasQueuedBefore) return null;
      // The state that it will have is not its state. It is yielded when the actor has begun.
      wasQueuedBefore = true;
      steps = host.replaySteps(entries, isSameButKeyframes);
      count -= 1;
      yield [];
      continue;
    }
    const step = result.value;
    const past = entries.slice(step.seq + 1).some(isExternal) ? null : entries.slice(0, step.seq + 1);
    yield read(step, isOtherReplay, (path, answer) => (past === null ? [] : leavesAfter(answer, { path, past, host })));
  }
}

const isQueued = (entries: readonly DurableEntry[]): boolean =>
  wasQueued(entries) && !entries.some(({ type }) => type === 'resumed');

const divergenceText = ({ seq, cause }: { readonly seq: number; readonly cause: string }): string =>
  `The machine no longer does what the journal recorded in entry ${seq}, so the states after it are unknown. Likely cause: ${cause}.`;

/** Returns the innermost states of the machine that asks, after an answer to its open approval: those of a replay with one more entry. */
function leavesAfter(
  event: Json,
  { path, past, host }: { readonly path: ActorPath; readonly past: readonly DurableEntry[]; readonly host: ReplayHost },
): readonly string[] {
  const { seq = 0, atMs = 0 } = past.at(-1) ?? {};
  const answer = { type: 'delivery', seq: seq + 1, atMs, actor: path, event } as const;
  let asking: KnownActor | undefined;
  for (const step of host.replaySteps([...past, answer], isSameButKeyframes))
    if (step.seq > seq) asking = actorsIn(step.snapshot).get(path.slice(0, path.lastIndexOf('/')));
  return asking === undefined ? [] : leavesOf(activeNodes(asking.snapshot as AnyMachineSnapshot));
}

interface KnownActor {
  readonly ref: AnyActorRef | null;
  /** Null if it is not a state machine. */
  readonly machine: AnyStateMachine | null;
  readonly snapshot: Snapshot<unknown>;
  /** The `src` by which a state of its parent invokes it; null if an action has spawned it. */
  readonly src: string | null;
}

type LeavesAfter = (path: ActorPath, answer: Json) => readonly string[];

/** Returns a function that reads the states of all actors after a step. Each replay creates new objects for the same actors. */
function stateReader(entries: readonly DurableEntry[], onCharts: (charts: RunCharts) => void) {
  const states = new SystemStates();
  const charts = systemCharts();
  const refs = new Map<ActorPath, AnyActorRef | null>();
  /** The entry of each actor's last transition. */
  const moved = new Map<ActorPath, number>();
  const contexts = new Map<ActorPath, { readonly context: unknown; readonly plain: unknown }>();
  let read = 0;

  /** Contexts that have not changed are not converted again. */
  function plainContext(path: ActorPath, { snapshot }: KnownActor): unknown {
    const { context } = snapshot as Partial<AnyMachineSnapshot>;
    const known = contexts.get(path);
    if (known !== undefined && known.context === context) return known.plain;
    const plain = plainJson(context) ?? null;
    contexts.set(path, { context, plain });
    return plain;
  }

  function chartIdOf({ machine, src }: KnownActor): string | null {
    if (machine === null) return null;
    const before = charts.all().charts.length;
    const id = charts.idOf(machine, () => chartOf(machine));
    if (src !== null && id !== null) charts.link(src, id);
    if (charts.all().charts.length > before) onCharts(charts.all());
    return id;
  }

  function stateOf(path: ActorPath, actor: KnownActor, started: number, after: LeavesAfter): ActorState {
    const { machine, snapshot } = actor;
    const { id, digest } = snapshot as Partial<OpenApproval>;
    const isAsking = machine === null && snapshot.status === 'active' && id?.startsWith?.('approval:') === true;
    const leadsTo = (decision: 'approve' | 'deny') =>
      after(path, { type: 'approval.given', id: id ?? '', digest: digest ?? '', decision });
    return {
      started,
      chart: chartIdOf(actor),
      initial: machine && leavesOf(initialNodes(machine.root)),
      leaves: machine === null ? [] : leavesOf(activeNodes(snapshot as AnyMachineSnapshot)),
      moved: moved.get(path) ?? null,
      context: machine === null ? null : plainContext(path, actor),
      end: snapshot.status === 'active' ? null : endOf(snapshot),
      ...(isAsking && { answers: { id: id ?? '', approve: leadsTo('approve'), deny: leadsTo('deny') } }),
    };
  }

  return ({ seq, snapshot }: ReplayStep, isOtherReplay: boolean, after: LeavesAfter) => {
    const first = Math.min(read, seq);
    for (const entry of entries.slice(read, seq + 1)) {
      if (entry.type === 'transition') moved.set(entry.actor, entry.seq);
      if (entry.type === 'retried') for (const [path, at] of moved) if (at >= entry.failed) moved.delete(path);
    }
    read = seq + 1;
    const actors = actorsIn(snapshot as AnyMachineSnapshot);
    for (const path of [...refs.keys()])
      if (!actors.has(path)) {
        for (const known of [refs, moved, contexts]) known.delete(path);
        states.remove(path);
      }
    for (const [path, actor] of actors) {
      const before = states.get(path);
      const isSame = before !== undefined && (isOtherReplay || refs.get(path) === actor.ref);
      refs.set(path, actor.ref);
      states.set(path, stateOf(path, actor, isSame ? before.started : first, after));
    }
    const frame = states.frame(seq);
    return frame === null ? [] : [frame];
  };
}

/** Returns the actors of a system by their paths, each parent before its children. */
function actorsIn(root: AnyMachineSnapshot): ReadonlyMap<ActorPath, KnownActor> {
  const actors = new Map<ActorPath, KnownActor>();
  const add = (path: ActorPath, actor: KnownActor): void => {
    actors.set(path, actor);
    const { children = {} } = actor.snapshot as Partial<AnyMachineSnapshot>;
    for (const [id, ref] of Object.entries(children as Readonly<Record<string, AnyActorRef | undefined>>)) {
      if (ref === undefined) continue;
      const src = invokedSrc({ ref, parent: actor });
      // XState keeps a spawned actor without an id under this name; the journal has its own.
      add(childPath(path, id === 'undefined' ? ref.id : id), {
        ref,
        machine: machineOf(ref),
        snapshot: ref.getSnapshot(),
        src,
      });
    }
  };
  add('', { ref: null, machine: root.machine, snapshot: root as Snapshot<unknown>, src: null });
  return actors;
}
