import { isDeepStrictEqual } from 'node:util';
import type { RunStatus } from '../../../machines/contracts/journal.ts';
import { firstChars } from '../../../machines/text/clip.ts';
import type { Chart } from '../../durable/charts/chart.ts';
import { count } from '../../internal/printable.ts';
import { callFact } from '../../llm/call-facts.ts';
import { lineLog, type RunSource, type SourceSink } from '../source.ts';
import { changesBetween, withChanges } from '../state-changes.ts';
import type { RunCharts, SystemEntry } from '../wire.ts';
import type { SystemMessage } from './messages.ts';

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
  /** The size of all entries as JSON. */
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
  const entries: SystemEntry[] = [];
  const log = lineLog(entries);
  const sinks = new Set<SourceSink>();
  const machines = new Map<number, Chart>();
  const actors = new Map<string, SystemActor>();
  /** The names of ended actors: the event that notifies the parent follows their end. */
  const ended = new Map<string, string>();
  const names = new Set<string>();
  const charts = createCharts();
  const contexts = createContexts(append, () => entries.length);
  const missing = { actors: 0, entries: 0 };
  let chars = 0;
  let timers = 0;
  let startedMs: number | null = null;
  let nowMs = 0;
  let title = rootId;
  let status: RunStatus | 'disconnected' = 'running';
  let isLive = true;
  let rootLeaves: readonly string[] = [];
  let rootChart: Chart | undefined;
  let failure = '';

  function append(event: SystemEvent): void {
    if (entries.length >= limits.entries || chars > limits.chars) missing.entries += 1;
    else {
      // A keyframe shares its values with the changes before it.
      if (event.type !== 'keyframe') chars += JSON.stringify(event).length;
      entries.push({ ...event, seq: entries.length, atMs: nowMs - (startedMs ?? nowMs) });
    }
  }

  /** Times never go back, even if the program's clock does. */
  function setTime(at: number): void {
    startedMs ??= at;
    nowMs = Math.max(nowMs, at);
  }

  function addActor(message: Extract<SystemMessage, { type: 'actor' }>): void {
    const { actor: sessionId, event, leaves, src } = message;
    if (actors.has(sessionId)) return;
    if (actors.size >= limits.actors) {
      missing.actors += 1;
      return;
    }
    const chart = machines.get(message.machine ?? -1);
    const parent = actors.get(message.parent ?? '');
    const actor: SystemActor = {
      name: names.has(message.name) ? `${message.name} ${sessionId}` : message.name,
      chart: chart === undefined || charts.size >= limits.charts ? null : charts.open(chart, sessionId),
    };
    actors.set(sessionId, actor);
    names.add(actor.name);
    if (sessionId === rootId) [title, rootChart, rootLeaves] = [actor.name, chart, leaves];
    if (actor.chart !== null) {
      if (src !== null && parent?.chart) charts.link(src, actor.chart);
      for (const sink of sinks) sink.charts(charts.all());
    }
    // A machine that is observed after its start did not report it.
    const started = event ?? (actor.chart === null ? null : { type: INIT });
    if (started !== null) append({ type: 'delivery', event: started, actor: actor.name, sender: parent?.name ?? null });
    // Without a chart, the initial state of the machine is unknown.
    if (actor.chart === null || chart === undefined || leaves.length === 0) return;
    const { name, chart: machine } = actor;
    const source = chart.states[0]?.id ?? chart.id;
    const entered = { actor: name, machine, event: INIT, source, target: leaves, leaves };
    append({ type: 'transition', ...entered, candidates: [] });
  }

  function takeFrom(actor: SystemActor, message: MessageOfActor): void {
    const { name, chart } = actor;
    if (message.type === 'context') contexts.record(name, message.context);
    else if (message.type === 'timer') {
      append({
        type: 'timer-start',
        timer: timers,
        actor: name,
        machine: chart,
        event: message.event,
        dueMs: message.due - (startedMs ?? message.due),
      });
      timers += 1;
    } else if (message.type === 'emitted') addFact(name, message.event, `emitted ${message.event.type}`);
    else if (message.type === 'note') addFact(name, message.note, 'note');
    else if (message.type === 'noted') {
      const { text, data } = message;
      append({ type: 'noted', actor: name, text, ...(data !== undefined && { data }) });
    } else if (message.type === 'event') {
      const { event, sender } = message;
      const from = actors.get(sender ?? '')?.name ?? ended.get(sender ?? '') ?? null;
      append({ type: 'delivery', event, actor: name, sender: from });
    } else if (message.type === 'end') endActor(actor, message);
    else if (chart === null) return;
    else if (message.type === 'ignored') {
      const guards = message.candidates.flatMap(({ guard }) => guard ?? []);
      const candidates = candidatesOf(message);
      append({ type: 'ignored', actor: name, machine: chart, event: message.event, guards, candidates });
    } else {
      const { event, source, target, leaves } = message;
      if (message.actor === rootId && leaves !== null) rootLeaves = leaves;
      const candidates = candidatesOf(message);
      append({ type: 'transition', actor: name, machine: chart, event, source, target, candidates, leaves });
    }
  }

  function addFact(actor: string, payload: unknown, text: string): void {
    const fact = callFact(payload);
    append(fact === null ? { type: 'noted', actor, text, data: payload } : { ...fact, actor });
  }

  function endActor({ name, chart }: SystemActor, message: Extract<SystemMessage, { type: 'end' }>): void {
    const { actor: sessionId, status: ending, output, error } = message;
    const result = { ...(output !== undefined && { output }), ...(error !== undefined && { error }) };
    append({ type: 'actor-end', actor: name, status: ending, ...result });
    actors.delete(sessionId);
    names.delete(name);
    ended.set(sessionId, name);
    if (ended.size > limits.actors) ended.delete([...ended.keys()][0] ?? '');
    if (chart !== null) charts.release(chart);
    // The root fails last, and often because of another one.
    if (ending === 'error' && (sessionId !== rootId || failure === ''))
      failure = `${actorName(name)} failed: ${errorText(error)}`;
    if (sessionId === rootId) status = STATUS[ending];
  }

  const isIdle = (): boolean => status === 'running' && [...actors.values()].every(({ chart }) => chart !== null);

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
      append({ type: 'stopped' });
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
      if (entries.length === 0) contexts.keyframe();
      if (message.type === 'closed') close();
      else if (message.type === 'actor') addActor(message);
      else if (message.type === 'machine') {
        if (machines.size < limits.charts) machines.set(message.machine, message.chart);
      } else {
        const actor = actors.get(message.actor);
        if (actor !== undefined) takeFrom(actor, message);
      }
      log.notify();
      if (isLive && shown() !== before) changed();
    },
    close,
    end,
  };
}

const INIT = 'xstate.init';

type Candidates = Extract<SystemEntry, { type: 'ignored' }>['candidates'];

const candidatesOf = ({ candidates }: Extract<SystemMessage, { type: 'transition' | 'ignored' }>): Candidates =>
  candidates.map(({ inputs = null, ...candidate }) => ({ ...candidate, inputs: inputs as Candidates[0]['inputs'] }));

/** An actor without an id of its own is named by the state that invokes it: `0.order.charging`. */
const actorName = (name: string): string => (/^\d+\./u.test(name) ? (name.split('.').at(-1) ?? name) : name);

const MAX_ERROR = 300;

/** The message of an error, as far as it was sent. */
export function errorText(error: unknown): string {
  const { message = error } = Object(error) as { readonly message?: unknown };
  return firstChars(typeof message === 'string' ? message : (JSON.stringify(message) ?? 'no reason given'), MAX_ERROR);
}

interface SystemActor {
  /** Unique among the running actors. */
  readonly name: string;
  /** Null if the actor is not a machine. */
  readonly chart: string | null;
}

type MessageOfActor = Exclude<SystemMessage, { type: 'actor' | 'machine' | 'closed' }>;

type SystemEvent = SystemEntry extends infer Entry
  ? Entry extends unknown
    ? Omit<Entry, 'seq' | 'atMs'>
    : never
  : never;

/**
 * Keeps the charts of a system. Each running actor has one of its own, since the log records positions by chart; the session id is appended
 * to the id of a second one. An actor that starts after another with the same machine has ended reuses its chart.
 */
function createCharts() {
  const charts = new Map<string, { readonly chart: Chart; readonly of: Chart; isFree: boolean }>();
  const invoked = new Map<string, string>();
  return {
    get size() {
      return charts.size;
    },
    open(of: Chart, sessionId: string): string {
      const [free] = [...charts].find(([, known]) => known.isFree && known.of === of) ?? [];
      const id = free ?? (charts.has(of.id) ? `${of.id} ${sessionId}` : of.id);
      charts.set(id, { chart: charts.get(id)?.chart ?? { ...of, id }, of, isFree: false });
      return id;
    },
    release(id: string): void {
      const known = charts.get(id);
      if (known !== undefined) known.isFree = true;
    },
    /** Records which chart runs in the states that invoke `src`. */
    link(src: string, id: string): void {
      if (!invoked.has(src)) invoked.set(src, id);
    },
    all: (): RunCharts => ({
      charts: [...charts.values()].map(({ chart }) => chart),
      invoked: Object.fromEntries(invoked),
    }),
  };
}

const LEAST_ENTRIES = 256;
const ENTRY_CHARS = 150;

/** Records the contexts of all actors, by name, as one state: changes, and regular keyframes. */
function createContexts(append: (event: SystemEvent) => void, entryCount: () => number) {
  const contexts = new Map<string, unknown>();
  let due = 0;
  const keyframe = (): void => {
    const state = Object.fromEntries(contexts);
    append({ type: 'keyframe', state });
    due = entryCount() + Math.max(LEAST_ENTRIES, Math.ceil(JSON.stringify(state).length / ENTRY_CHARS));
  };
  const record = (actor: string, context: unknown): void => {
    const before = contexts.get(actor);
    // Contexts are parsed from JSON, so equal parts are different objects. Applying the changes lets contexts share them.
    const changes = contexts.has(actor)
      ? changesBetween(before, context, [], isDeepStrictEqual)
      : [{ path: [], value: context }];
    if (changes.length === 0) return;
    contexts.set(actor, withChanges(before, changes));
    if (entryCount() >= due) keyframe();
    else append({ type: 'state', changes: changes.map((change) => ({ ...change, path: [actor, ...change.path] })) });
  };
  // `keyframe` starts the log, before any context is known.
  return { keyframe, record };
}
