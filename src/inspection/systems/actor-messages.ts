import type { AnyActorRef, AnyMachineSnapshot, AnyStateMachine, Snapshot } from 'xstate';
import { chartOf } from '../../durable/charts/chart.ts';
import { createCodec, type Json } from '../../durable/codec.ts';
import type { DurableMachine } from '../../durable/durable-machine.ts';
import {
  type ActorPath,
  type Candidate,
  childPath,
  type DurableEntry,
  isExternal,
  type StartEntry,
} from '../../durable/entries.ts';
import { clockStartOf, isSameButKeyframes, type ReplayStep } from '../../durable/replay.ts';
import { plainJson } from '../../internal/plain-json.ts';
import { activeNodes, initialNodes, machineOf } from '../../internal/xstate-internals.ts';
import { type CallFact, callFact } from '../../llm/call-facts.ts';
import { problemOf } from '../source.ts';
import type { SystemMessage } from './messages.ts';
import { endOf, invokedSrc, leavesOf } from './observe-for-inspector.ts';

/** The members of a durable machine that replay a journal, without calls or effects. */
export type ReplayHost = Pick<DurableMachine<AnyStateMachine>, 'machineId' | 'journals' | 'replaySteps'>;

/** Translates the journal of a durable actor to the messages that an observed program would send. */
export interface ActorMessages {
  /** Takes the next entries; the last one must end a step. Yields after each step, where the caller may stop. */
  take(entries: readonly DurableEntry[]): Generator<void, void>;
  /** Why no more entries are taken; null while they are. */
  readonly problem: string | null;
}

type WithoutCommon<Message> = Message extends unknown ? Omit<Message, 'system' | 'at'> : never;
type Report = WithoutCommon<SystemMessage>;

/** Returns a translator. With a host, a replay adds charts, active states and contexts, which a journal does not contain. */
export function actorMessages(
  id: string,
  host: ReplayHost | null,
  send: (message: SystemMessage) => void,
): ActorMessages {
  const entries: DurableEntry[] = [];
  const replay = host && replayOf(host, entries);
  /** The paths of running actors. The root, whose path is empty, has the id of the journal. */
  const running = new Set<ActorPath>();
  const machines = new Map<AnyStateMachine | string, number>();
  const contexts = new Map<ActorPath, unknown>();
  const activities = new Map<number, ActorPath>();
  /** The actions of the effects in progress. */
  const effects = new Map<number, string>();
  const timers = new Map<number, { readonly path: ActorPath; readonly event: string; readonly dueMs: number }>();
  let actors: Actors = new Map();
  /** The ids of machines by the paths of their actors, from the entries so far. */
  const named = new Map<ActorPath, string>();
  /** The time at which the clock of the journal was at 0. It changes if delays pause while no process holds the actor. */
  let zeroMs = 0;
  let nowMs = 0;
  let problem: string | null = null;

  const report = (message: Report): void =>
    send({ ...message, system: id, at: timeOf(zeroMs + nowMs) } as SystemMessage);
  const idOf = (path: ActorPath): string => path || id;
  const note = (path: ActorPath, text: string, data?: unknown): void =>
    report({ type: 'noted', actor: idOf(begin(path)), text, ...(data != null && { data: plainJson(data) }) });

  function machineNumber(machine: AnyStateMachine | string): number {
    const number = machines.get(machine) ?? machines.size;
    if (number === machines.size) {
      const chart = typeof machine === 'string' ? { id: machine, states: [], transitions: [] } : chartOf(machine);
      report({ type: 'machine', machine: number, chart });
    }
    machines.set(machine, number);
    return number;
  }

  /** Reports the start of an actor unless it is running, and returns its path. */
  function begin(path: ActorPath, { src = null, machine }: { src?: string | null; machine?: string } = {}): ActorPath {
    if (running.has(path)) return path;
    running.add(path);
    const parent = path === '' ? null : begin(parentOf(path));
    const actor = actors.get(path);
    const known = actor?.machine ?? machine ?? named.get(path) ?? null;
    report({
      type: 'actor',
      actor: idOf(path),
      name: path === '' ? id : lastId(path),
      parent: parent === null ? null : idOf(parent),
      machine: known === null ? null : machineNumber(known),
      src: actor?.src ?? src,
      event: { type: 'xstate.init' },
      leaves: actor ? leavesAtStart(actor) : [],
    });
    return path;
  }

  /** An actor that has taken transitions since its start was in its initial states before. */
  function leavesAtStart({ machine, snapshot, moves }: KnownActor): readonly string[] & string[] {
    if (machine === null) return [];
    return leavesOf(moves > 0 ? initialNodes(machine.root) : activeNodes(snapshot as AnyMachineSnapshot));
  }

  function end(path: ActorPath, ended: ReturnType<typeof endOf>): void {
    if (running.delete(path)) report({ type: 'end', actor: idOf(path), ...ended });
    contexts.delete(path);
  }

  function takeStart(entry: StartEntry): void {
    const { machine, input } = entry;
    zeroMs = clockStartOf(entry);
    begin('', { machine: machine.id });
    note('', 'started', decoded(input));
  }

  /** What an activity reports to itself is its result, which its parent receives. */
  function takeReport(entry: Extract<DurableEntry, { type: 'activity-event' }>): void {
    const path = activities.get(entry.activity) ?? entry.actor;
    const event = decoded(entry.event) as { readonly type: string; readonly data?: unknown };
    const ended = path === entry.actor ? RESULT.exec(event.type) : null;
    begin(path);
    if (ended === null) {
      deliver(entry.actor, event, path);
      return;
    }
    const [, isError] = ended;
    const value = plainJson(event.data);
    const result = isError
      ? { type: `xstate.error.actor.${lastId(path)}`, error: value }
      : { type: `xstate.done.actor.${lastId(path)}`, output: value };
    deliver(parentOf(path), result, path);
    end(path, isError ? { status: 'error', error: value ?? null } : { status: 'done', output: value });
  }

  function deliver(path: ActorPath, event: { readonly type: string }, from: ActorPath | null): void {
    const sent = { ...(plainJson(event) as object), type: event.type };
    report({ type: 'event', actor: idOf(begin(path)), event: sent, sender: from === null ? null : idOf(from) });
  }

  function startTimer(timer: number): void {
    const { path, event, dueMs } = timers.get(timer) ?? { path: '', event: '', dueMs: 0 };
    report({ type: 'timer', actor: idOf(begin(path)), event, due: timeOf(zeroMs + dueMs) });
  }

  function takeResumed(resumedAt: string): void {
    const before = zeroMs;
    zeroMs = Date.parse(resumedAt) - nowMs;
    note('', 'continued by a process');
    // Delays that were paused end later.
    if (Math.abs(zeroMs - before) >= 1_000) for (const timer of timers.keys()) startTimer(timer);
  }

  function takeFailed({ actor, error, effect }: Extract<DurableEntry, { type: 'failed' }>): void {
    const thrown = plainJson(decoded(error)) ?? null;
    const name = effect === undefined ? lastId(actor) : (effects.get(effect) ?? 'effect');
    note(actor, `${name || id} failed`, thrown);
    if (actor !== '') end(actor, { status: 'error', error: thrown });
  }

  function takeTransition(entry: Extract<DurableEntry, { type: 'transition' }>): void {
    const path = begin(entry.actor, { machine: entry.machine });
    const actor = actors.get(path);
    if (actor) actor.moves -= 1;
    // Only the states after the whole step are known.
    const leaves = actor?.moves === 0 ? leavesOf(activeNodes(actor.snapshot as AnyMachineSnapshot)) : null;
    const { type, event, source, target, candidates } = entry;
    report({ type, actor: idOf(path), event, source, target: [...target], candidates: withInputs(candidates), leaves });
    // The replayed machines show how their children have ended.
    if (replay === null) for (const [ended, result] of resultsIn([entry])) end(ended, result);
  }

  function takeEnd({ status, output, error }: Extract<DurableEntry, { type: 'end' }>): void {
    for (const path of [...running].reverse()) if (path !== '') end(path, STOPPED);
    end('', endOf({ status, output: decoded(output), error: decoded(error) } as Snapshot<unknown>));
  }

  const takers: { readonly [Type in DurableEntry['type']]: (entry: Extract<DurableEntry, { type: Type }>) => void } = {
    start: takeStart,
    delivery: ({ actor, event }) => deliver(actor, decoded(event) as { type: string }, null),
    'activity-start'({ activity, actor, source, subject }) {
      activities.set(activity, actor);
      end(actor, STOPPED);
      begin(actor, { src: source });
      if (subject !== undefined) note(actor, 'called', subject);
    },
    'activity-event': takeReport,
    'timer-start'({ timer, actor, event, dueMs }) {
      timers.set(timer, { path: actor, event, dueMs });
      startTimer(timer);
    },
    timer({ timer }) {
      const { path, event } = timers.get(timer) ?? { path: '', event: 'timer' };
      timers.delete(timer);
      deliver(path, { type: event }, null);
    },
    transition: takeTransition,
    ignored({ type, actor, machine, event, candidates }) {
      report({ type, actor: idOf(begin(actor, { machine })), event, candidates: withInputs(candidates) });
    },
    effect({ effect, actor, action }) {
      effects.set(effect, action);
      note(actor, `effect ${action}`);
    },
    'effect-end'({ effects: ended }) {
      for (const effect of ended) effects.delete(effect);
    },
    emitted: ({ type, actor, event }) =>
      report({ type, actor: idOf(begin(actor)), event: decoded(event) as { readonly type: string } }),
    note: ({ type, activity, note: noted }) => {
      const path = activities.get(activity ?? -1) ?? '';
      const shown = decoded(noted);
      const isFact = callFact(shown) !== null && activity !== undefined;
      report({ type, actor: idOf(begin(path)), note: isFact ? { ...(shown as CallFact), activity } : shown });
    },
    value: ({ name, value, error }) => note('', `recorded ${name}`, error ?? decoded(value)),
    failed: takeFailed,
    stopped: () => note('', 'stopped from outside'),
    resumed: ({ resumedAt }) => takeResumed(resumedAt),
    closed: ({ waiting }) => note('', 'closed by its process', waiting),
    end: takeEnd,
    keyframe: () => {},
  };

  function take(entry: DurableEntry): void {
    nowMs = entry.type === 'start' ? 0 : entry.atMs;
    // A later version may write other entries.
    if (!Object.hasOwn(takers, entry.type)) return;
    try {
      (takers[entry.type] as (entry: DurableEntry) => void)(entry);
    } catch (error) {
      throw new Error(`cannot read entry ${entry.seq}: not an entry of an actor (${problemOf(error)})`, {
        cause: error,
      });
    }
  }

  /** Reports an ignored event: a journal has no entry for an event that its machine has no transition for. */
  function reportIgnored(step: readonly DurableEntry[]): void {
    const [first] = step;
    if (first?.type === 'delivery' && named.has(first.actor) && !step.some((entry) => isMove(entry, first.actor))) {
      const { type } = Object(decoded(first.event)) as { readonly type?: unknown };
      report({ type: 'ignored', actor: idOf(first.actor), event: String(type), candidates: [] });
    }
  }

  /** Reports the end of replaced actors: a state that is entered again starts its actors again, with the same ids. */
  function endReplaced(after: Actors, isOtherReplay: boolean): void {
    // The journal has the starts of the others.
    for (const [path, { ref, machine }] of isOtherReplay ? [] : after)
      if (machine !== null && actors.has(path) && actors.get(path)?.ref !== ref) end(path, STOPPED);
    actors = after;
  }

  /** Reports the state of the replayed machines after a step: new actors, contexts, and actors that have ended. */
  function reportReplayed(step: readonly DurableEntry[]): void {
    if (!running.has('')) return;
    for (const [path, { machine, snapshot }] of actors) {
      if (path !== '' && snapshot.status !== 'active') {
        end(path, endOf(snapshot));
        continue;
      }
      begin(path);
      const { context } = snapshot as Partial<AnyMachineSnapshot>;
      if (machine === null || contexts.get(path) === context) continue;
      contexts.set(path, context);
      report({ type: 'context', actor: idOf(path), context: plainJson(context) ?? null });
    }
    const results = resultsIn(step);
    for (const path of [...running].reverse()) if (!actors.has(path)) end(path, results.get(path) ?? STOPPED);
  }

  return {
    get problem() {
      return problem;
    },
    *take(more) {
      for (const entry of more) if ('machine' in entry && 'actor' in entry) named.set(entry.actor, entry.machine);
      for (const step of stepsOf(more)) {
        if (problem !== null) return;
        entries.push(...step);
        const replayed = replay && (yield* replay.next(step));
        if (typeof replayed === 'string') problem = replayed;
        else {
          if (replayed !== null) endReplaced(actorsIn(replayed, step), replay?.isNew === true);
          for (const entry of step) {
            // Send nothing after `end`. The others may be stored long after the step.
            if (replayed !== null && /^(?:end|closed|resumed)$/u.test(entry.type)) reportReplayed(step);
            take(entry);
          }
          if (replayed !== null) reportReplayed(step);
          reportIgnored(step);
        }
        yield;
      }
    },
  };
}

const isMove = (entry: DurableEntry, path: ActorPath): boolean =>
  (entry.type === 'transition' || entry.type === 'ignored') && entry.actor === path;

const STOPPED = { status: 'stopped' } as const;

interface KnownActor {
  readonly ref: AnyActorRef | null;
  /** Null if it is not a state machine. */
  readonly machine: AnyStateMachine | null;
  readonly snapshot: Snapshot<unknown>;
  readonly src: string | null;
  /** How many of its transitions in the step are yet to be reported. */
  moves: number;
}

type Actors = ReadonlyMap<ActorPath, KnownActor>;

/** Returns the actors of a system after a step, each parent before its children. */
function actorsIn({ snapshot }: ReplayStep, step: readonly DurableEntry[]): Actors {
  const actors = new Map<ActorPath, KnownActor>();
  const movesOf = (path: ActorPath): number =>
    step.filter((entry) => entry.type === 'transition' && entry.actor === path).length;
  const add = (path: ActorPath, actor: Omit<KnownActor, 'moves'>): void => {
    actors.set(path, { ...actor, moves: movesOf(path) });
    const { children = {} } = actor.snapshot as Partial<AnyMachineSnapshot>;
    for (const [id, ref] of Object.entries(children as Readonly<Record<string, AnyActorRef | undefined>>)) {
      if (ref === undefined) continue;
      const src = invokedSrc({ ref, parent: actor });
      add(childPath(path, id), { ref, machine: machineOf(ref), snapshot: ref.getSnapshot(), src });
    }
  };
  add('', { ref: null, machine: snapshot.machine, snapshot: snapshot as Snapshot<unknown>, src: null });
  return actors;
}

/** Returns a replay whose method `next` takes the next step of the entries so far. It returns the state after the step, or why it is unknown. */
function replayOf(host: ReplayHost, entries: readonly DurableEntry[]) {
  const begin = () => host.replaySteps(entries, isSameButKeyframes);
  let steps = begin();
  let count = 0;
  let after: ReplayStep | null = null;
  let isNew = false;
  function* next(step: readonly DurableEntry[]): Generator<void, ReplayStep | string | null> {
    isNew = false;
    // Without an external event, the entries are annotations that follow a step.
    if (!step.some((entry) => entry.type === 'start' || isExternal(entry))) return after;
    count += 1;
    try {
      let result = steps.next();
      // The rest of the first step may be stored later, by the process that begins a paused actor.
      if (result.done && count > 1) {
        steps = begin();
        isNew = true;
        for (let at = 0; at < count && (at === 0 || !result.done); at += 1) {
          result = steps.next();
          yield;
        }
      }
      if (!result.done) {
        after = result.value;
        return after;
      }
      const { seq = 0, cause = 'unknown' } = result.value.divergence ?? {};
      return `The machine no longer does what the journal recorded in entry ${seq}. Likely cause: ${cause}. Only the steps before it are shown.`;
    } catch (error) {
      return `The journal cannot be replayed: ${problemOf(error)}`;
    }
  }
  return {
    next,
    /** Whether the last step began the replay again, with other actors at the same paths. */
    get isNew() {
      return isNew;
    },
  };
}

/** Splits entries before each external event. */
function stepsOf(entries: readonly DurableEntry[]): readonly (readonly DurableEntry[])[] {
  const steps: DurableEntry[][] = [];
  for (const entry of entries) {
    if (steps.length === 0 || isExternal(entry)) steps.push([]);
    steps.at(-1)?.push(entry);
  }
  return steps;
}

/** The events with which a promise or an observable reports to itself that it has ended. */
const RESULT = /^xstate\.(?:promise\.resolve|observable\.complete|(promise\.reject|observable\.error))$/u;
const ACTOR_END = /^xstate\.(done|error)\.actor\.(.*)$/su;

/** Returns how children have ended, according to the transitions of their parents. */
function resultsIn(step: readonly DurableEntry[]) {
  const ends = step.flatMap((entry) => {
    const [, status, id = ''] = (entry.type === 'transition' && ACTOR_END.exec(entry.event)) || [];
    if (status === undefined || entry.type !== 'transition') return [];
    return [[childPath(entry.actor, id), status === 'done' ? { status } : { status: 'error', error: null }] as const];
  });
  return new Map(ends as readonly (readonly [ActorPath, ReturnType<typeof endOf>])[]);
}

const parentOf = (path: ActorPath): ActorPath => path.slice(0, Math.max(0, path.lastIndexOf('/')));

/** The id of the actor at a path. */
const lastId = (path: ActorPath): string =>
  (path.split('/').at(-1) ?? '').replace(/#\d+$/u, '').replaceAll('~1', '/').replaceAll('~0', '~');

const { decode } = createCodec();

/** Returns a decoded value, or the value as it is stored if decoding it needs a codec of the program. */
export function decoded(value: Json): unknown {
  try {
    return decode(value);
  } catch {
    return value;
  }
}

const withInputs = (candidates: readonly Candidate[]) =>
  candidates.map(({ target, inputs, ...candidate }) => {
    const values = plainJson(decoded(inputs)) ?? null;
    const isNamed = typeof values === 'object' && !Array.isArray(values);
    return { ...candidate, target: [...target], inputs: isNamed ? values : { value: values } };
  });

const LAST_MS = 8.64e15;

/** A journal may contain any number. */
const timeOf = (ms: number): number => (Number.isFinite(ms) ? Math.min(LAST_MS, Math.max(0, ms)) : 0);
