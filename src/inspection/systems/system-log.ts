import type { RunStatus } from '../../../machines/contracts/journal.ts';
import { firstChars } from '../../../machines/text/clip.ts';
import type { Chart } from '../../durable/charts/chart.ts';
import type { Json } from '../../durable/codec.ts';
import { type ActorPath, childPath, type DurableEvent, idAt, JOURNAL_FORMAT } from '../../durable/entries.ts';
import { count } from '../../internal/printable.ts';
import { logWithStates, type RunSource, type SourceSink } from '../source.ts';
import type { ActorState, ObservedEntry, StateFrame } from '../wire.ts';
import type { SystemMessage } from './messages.ts';
import { SystemStates, systemCharts } from './system-states.ts';

/** An observed system of actors, as a source that pages can open. It keeps its log in memory. */
export interface ObservedSystem extends Pick<RunSource, 'info' | 'charts' | 'follow'> {
  /** Takes the next message. Messages that contradict earlier ones, as only a hostile program sends them, are ignored. */
  take(message: SystemMessage): void;
  /** The program has closed its connection. */
  close(): void;
  /** Ends the log. `problem`: why the rest cannot be shown. */
  end(problem: string | null): void;
}

export interface SystemLimits {
  /** Actors that run at the same time. */
  readonly actors: number;
  readonly charts: number;
  readonly entries: number;
  /** The size of all entries and state frames as JSON. */
  readonly chars: number;
}

const LIMITS: SystemLimits = { actors: 1_000, charts: 200, entries: 200_000, chars: 64_000_000 };

export const STATUS = { done: 'completed', error: 'degraded', stopped: 'cancelled' } as const satisfies Record<
  string,
  RunStatus
>;

/** `changed` is called when `info()` has changed. */
export function observedSystem(
  runId: string,
  rootId: string,
  changed: () => void,
  limits: SystemLimits = LIMITS,
): ObservedSystem {
  const entries: ObservedEntry[] = [];
  const frames: StateFrame[] = [];
  const log = logWithStates(entries, frames, { format: 'actor' });
  const states = new SystemStates();
  const charts = systemCharts(limits.charts);
  const sinks = new Set<SourceSink>();
  const machines = new Map<number, Chart>();
  const actors = new Map<string, SystemActor>();
  /** The paths of ended actors: the event that notifies the parent follows their end. */
  const ended = new Map<string, ActorPath>();
  /** The activities whose result was recorded, but not yet received by their parents. */
  const reported = new Set<ActorPath>();
  const paths = new Set<ActorPath>();
  /** How many running actors are not machines. */
  let busy = 0;
  const missing = { actors: 0, entries: 0 };
  let chars = 0;
  let timers = 0;
  let activities = 0;
  let startedMs: number | null = null;
  let nowMs = 0;
  let title = rootId;
  let status: RunStatus | 'disconnected' = 'running';
  let isLive = true;
  let rootLeaves: readonly string[] = [];
  let rootChart: Chart | undefined;
  let failure = '';

  /** Adds the size of an entry or a frame. Returns false, now and later, if the log is full. */
  function hasRoomFor(more: unknown): boolean {
    if (entries.length >= limits.entries || chars > limits.chars) missing.entries += 1;
    else chars += JSON.stringify(more).length;
    return missing.entries === 0;
  }

  function append(event: DurableEvent & Pick<ObservedEntry, 'sender'>): void {
    if (hasRoomFor(event)) entries.push({ ...event, seq: entries.length, atMs: nowMs - (startedMs ?? nowMs) });
  }

  const lastSeq = (): number => Math.max(0, entries.length - 1);

  /** Adds a frame if the states have changed since the last one. */
  function addFrame(): void {
    const frame = states.frame(lastSeq());
    // A whole state shares its values with the changes before it.
    if (frame !== null && hasRoomFor('state' in frame ? null : frame)) frames.push(frame);
  }

  /** Times never go back, even if the program's clock does. */
  function setTime(at: number): void {
    startedMs ??= at;
    nowMs = Math.max(nowMs, at);
  }

  function pathOf({ actor, parent, name }: Extract<SystemMessage, { type: 'actor' }>): ActorPath {
    if (actor === rootId) return '';
    const path = childPath(actors.get(parent ?? '')?.path ?? '', name);
    let own = path;
    for (let number = 2; paths.has(own); number += 1) own = `${path}#${number}`;
    return own;
  }

  function addActor(message: Extract<SystemMessage, { type: 'actor' }>): void {
    const { actor: sessionId, event, leaves, src, name } = message;
    if (actors.has(sessionId)) return;
    if (actors.size >= limits.actors) {
      missing.actors += 1;
      return;
    }
    const machine = machines.get(message.machine ?? -1);
    const before = charts.all().charts.length;
    const chart = machine === undefined ? null : charts.idOf(message.machine, () => machine);
    if (src !== null && chart !== null && actors.get(message.parent ?? '')?.chart) charts.link(src, chart);
    const actor: SystemActor = { path: pathOf(message), chart, activity: machine === undefined ? activities : null };
    actors.set(sessionId, actor);
    paths.add(actor.path);
    if (chart === null) busy += 1;
    if (sessionId === rootId) {
      [title, rootChart, rootLeaves] = [name, machine, leaves];
      const { input = null } = (event ?? {}) as { readonly input?: Json };
      append(startOf(name, chart ?? name, input, nowMs));
    } else if (actor.activity !== null) {
      activities += 1;
      const { path, activity } = actor;
      append({ type: 'activity-start', activity, actor: path, source: src ?? name, inputDigest: '' });
    }
    states.set(actor.path, { ...NEW_ACTOR, started: lastSeq(), chart, initial: leaves, leaves });
    if (charts.all().charts.length > before) for (const sink of sinks) sink.charts(charts.all());
  }

  function takeFrom(actor: SystemActor, message: MessageOfActor): void {
    const { path, chart } = actor;
    switch (message.type) {
      case 'context':
        states.change(path, { context: message.context });
        break;
      case 'timer': {
        const dueMs = message.due - (startedMs ?? message.due);
        append({ type: 'timer-start', timer: timers, actor: path, event: message.event, dueMs });
        timers += 1;
        break;
      }
      case 'emitted':
        append({ type: 'emitted', actor: path, event: message.event as Json });
        break;
      case 'event':
        takeEvent(actor, message);
        break;
      case 'end':
        endActor(actor, message);
        break;
      case 'ignored':
      case 'transition':
        if (chart !== null) takeMove(path, chart, message);
        break;
      default:
        message satisfies never;
    }
  }

  function takeEvent(actor: SystemActor, { event, sender }: Extract<SystemMessage, { type: 'event' }>): void {
    const { path, activity } = actor;
    const from = sender === null ? null : (actors.get(sender)?.path ?? ended.get(sender) ?? null);
    if (activity !== null && from === path) {
      // What an activity sends to itself is its result. Its parent receives it next.
      append({ type: 'activity-event', activity, source: idAt(path), actor: path, event: event as Json });
      reported.add(path);
    } else if (from === null || !reported.delete(from))
      append({ type: 'delivery', actor: path, event: event as Json, sender: from });
  }

  function takeMove(
    path: ActorPath,
    machine: string,
    message: Extract<SystemMessage, { type: 'transition' | 'ignored' }>,
  ): void {
    const { type, event } = message;
    const candidates = message.candidates.map(({ inputs = null, ...candidate }) => ({
      ...candidate,
      inputs: inputs as Json,
    }));
    if (type === 'ignored') {
      append({ type, actor: path, machine, event, candidates });
      return;
    }
    const { source, target, leaves } = message;
    append({ type, actor: path, machine, event, source, target, candidates });
    if (leaves === null) return;
    if (path === '') rootLeaves = leaves;
    states.change(path, { leaves, moved: lastSeq() });
  }

  function endActor({ path, chart }: SystemActor, message: Extract<SystemMessage, { type: 'end' }>): void {
    const { actor: sessionId, status: ending, output, error } = message;
    const result = { ...(output !== undefined && { output }), ...(error !== undefined && { error }) };
    if (path === '')
      append({ type: 'end', status: ending, output: (output ?? null) as Json, error: (error ?? null) as Json });
    states.end(path, lastSeq(), { status: ending, ...result });
    actors.delete(sessionId);
    paths.delete(path);
    if (chart === null) busy -= 1;
    ended.set(sessionId, path);
    if (ended.size > limits.actors) ended.delete([...ended.keys()][0] ?? '');
    // The root fails last, and often because of another one.
    if (ending === 'error' && (sessionId !== rootId || failure === ''))
      failure = `${actorName(path, title)} failed: ${errorText(error)}`;
    if (sessionId === rootId) status = STATUS[ending];
  }

  const isIdle = (): boolean => status === 'running' && busy === 0;

  /** Returns what `info()` shows, apart from the counts within its sentences. */
  const shown = (): string => [title, status, isIdle(), missing.actors > 0, missing.entries > 0].join();

  function end(problem: string | null): void {
    if (!isLive) return;
    isLive = false;
    log.end(problem);
    changed();
  }

  function close(): void {
    if (isLive && status === 'running') {
      status = 'disconnected';
      append({ type: 'closed', closedAt: new Date(nowMs).toISOString() });
    }
    end(null);
  }

  return {
    info: () => ({
      runId,
      kind: 'system',
      title,
      startedAt: startedMs === null ? '' : new Date(startedMs).toISOString(),
      status,
      live: isLive,
      fidelity: [
        ...(missing.actors > 0 ? [`${count(missing.actors, 'actor')} exceeded the limit and are not shown.`] : []),
        ...(missing.entries > 0 ? ['The log is full: the latest entries are missing.'] : []),
      ],
      summary: null,
      ...(isIdle() && { isIdle: true }),
      ...((status !== 'running' || failure !== '') && {
        ending: {
          states: rootLeaves.map((id) => rootChart?.states.find((one) => one.id === id)?.name ?? id).join(', '),
          failure,
          // Later messages may add no entry; the page shows the time of the last one.
          durationMs: (missing.entries === 0 && entries.at(-1)?.atMs) || nowMs - (startedMs ?? nowMs),
        },
      }),
    }),
    charts: charts.all,
    follow(from, outer) {
      const sink: SourceSink = {
        ...outer,
        end(problem) {
          sinks.delete(sink);
          outer.end(problem);
        },
      };
      sinks.add(sink);
      const stop = log.follow(from, sink);
      return () => {
        sinks.delete(sink);
        stop();
      };
    },
    take(message) {
      if (!isLive) return;
      const before = shown();
      setTime(message.at);
      if (message.type === 'closed') close();
      else if (message.type === 'actor') addActor(message);
      else if (message.type === 'machine') {
        if (machines.size < limits.charts) machines.set(message.machine, message.chart);
      } else {
        const actor = actors.get(message.actor);
        if (actor !== undefined) takeFrom(actor, message);
      }
      addFrame();
      log.notify();
      if (isLive && shown() !== before) changed();
    },
    close,
    end,
  };
}

const NEW_ACTOR = { moved: null, context: null, end: null } satisfies Partial<ActorState>;

/** Returns the first entry of an observed system. The members that only a replay reads are empty. */
function startOf(actorId: string, machineId: string, input: Json, atMs: number): DurableEvent {
  return {
    type: 'start',
    format: JOURNAL_FORMAT,
    actorId,
    machine: { id: machineId, version: null, digest: '' },
    input,
    product: null,
    seed: 0,
    startedAt: new Date(atMs).toISOString(),
    node: '',
    icu: '',
    forkedFrom: null,
  };
}

/** An actor without an id of its own is named by the state that invokes it: `0.order.charging`. */
function actorName(path: ActorPath, root: string): string {
  const name = path === '' ? root : idAt(path);
  return /^\d+\./u.test(name) ? (name.split('.').at(-1) ?? name) : name;
}

const MAX_ERROR = 300;

/** The message of an error, as far as it was sent. */
export function errorText(error: unknown): string {
  const { message = error } = Object(error) as { readonly message?: unknown };
  return firstChars(typeof message === 'string' ? message : (JSON.stringify(message) ?? 'no reason given'), MAX_ERROR);
}

interface SystemActor {
  readonly path: ActorPath;
  /** Null if the actor is not a machine. */
  readonly chart: string | null;
  /** The number of an actor that is not a machine. */
  readonly activity: number | null;
}

type MessageOfActor = Exclude<SystemMessage, { type: 'actor' | 'machine' | 'closed' }>;
