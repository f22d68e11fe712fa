import {
  type ActorPath,
  type Candidate,
  type ChildEnded,
  childPath,
  type DurableEvent,
  idAt,
} from '../../src/durable/entries.ts';
import { readableValue } from '../../src/inspection/readable-value.ts';
import type { ObservedEntry } from '../../src/inspection/wire.ts';
import { type CallFact, callFact } from '../../src/llm/call-facts.ts';

type Json = Candidate['inputs'];

type Other = Exclude<DurableEvent, { type: 'delivery' | 'activity-event' | 'timer' }>;

/**
 * An entry of an actor of any machine as the page reads it: values are readable JSON, reports of attempts and tool loops are entries of their
 * own types, and each event has its receiver and its sender.
 */
export type ActorEntry = { readonly seq: number; readonly atMs: number } & (
  | Other
  | (CallFact & { readonly actor: ActorPath })
  | {
      readonly type: 'delivery';
      readonly actor: ActorPath;
      readonly event: { readonly type: string };
      /** Null for an event from outside and for an elapsed delay. */
      readonly sender: ActorPath | null;
      readonly isExternal: boolean;
    }
);

/** The events with which a promise or an observable reports to itself that it has ended. */
const RESULT = /^xstate\.(?:promise\.resolve|observable\.complete|(promise\.reject|observable\.error))$/u;

export const parentPath = (path: ActorPath): ActorPath => path.slice(0, Math.max(0, path.lastIndexOf('/')));

function readEvent(stored: Json): { readonly type: string; readonly data?: unknown } {
  const event = readableValue(stored) as { readonly type: string };
  return typeof event?.type === 'string' ? event : { type: String(event?.type) };
}

function readCandidate({ inputs, ...candidate }: Candidate): Candidate {
  const values = readableValue(inputs) ?? null;
  const isNamed = typeof values === 'object' && !Array.isArray(values);
  return { ...candidate, inputs: (isNamed ? values : { value: values }) as Json };
}

/** The members of entries with values of the program. */
const VALUES: ReadonlySet<string> = new Set(['input', 'output', 'error', 'value']);

const readValues = <Entry extends object>(entry: Entry): Entry =>
  Object.fromEntries(
    Object.entries(entry).map(([name, value]) => [name, VALUES.has(name) ? readableValue(value) : value]),
  ) as Entry;

/** How the parent of an actor receives its result. */
const resultOf = (actor: ActorPath, result: { readonly output: unknown } | { readonly error: unknown }) => ({
  actor: parentPath(actor),
  event: { type: `xstate.${'error' in result ? 'error' : 'done'}.actor.${idAt(actor)}`, ...result },
});

export class ActorReader {
  readonly #activities = new Map<number, ActorPath>();
  readonly #timers = new Map<number, { readonly actor: ActorPath; readonly event: string }>();
  readonly #chartOf: (actor: ActorPath, machine: string, seq: number) => string;

  /** `chartOf` names the chart of an actor of a machine. */
  constructor(chartOf: (actor: ActorPath, machine: string, seq: number) => string) {
    this.#chartOf = chartOf;
  }

  /** What an activity reports to itself is its result, which its parent receives. */
  #readReport({ seq, atMs, activity, actor, event }: Extract<ObservedEntry, { type: 'activity-event' }>): ActorEntry {
    const sender = this.#activities.get(activity) ?? actor;
    const read = readEvent(event);
    const place = { seq, atMs, type: 'delivery', sender, isExternal: false } as const;
    const ended = sender === actor ? RESULT.exec(read.type) : null;
    if (ended === null) return { ...place, actor, event: read };
    const [, isError] = ended;
    return { ...place, ...resultOf(actor, isError ? { error: read.data ?? null } : { output: read.data }) };
  }

  read(entry: ObservedEntry): ActorEntry {
    const { seq, atMs } = entry;
    switch (entry.type) {
      case 'delivery': {
        const { type, actor, sender = null } = entry;
        const event = readEvent(entry.event);
        if (event.type !== 'child.ended' || actor === '')
          return { seq, atMs, type, actor, event, sender, isExternal: sender === null };
        const { child, status, output, error } = event as ChildEnded;
        const ended = status === 'done' ? { output } : { error: error ?? `${child} was stopped` };
        return { seq, atMs, type, sender: actor, isExternal: false, ...resultOf(actor, ended) };
      }
      case 'activity-event':
        return this.#readReport(entry);
      case 'timer': {
        // Kept, because its step may be withdrawn.
        const { actor, event } = this.#timers.get(entry.timer) ?? { actor: '', event: 'timer' };
        return { seq, atMs, type: 'delivery', actor, event: { type: event }, sender: null, isExternal: false };
      }
      case 'timer-start':
        this.#timers.set(entry.timer, { actor: entry.actor, event: entry.event });
        return entry;
      case 'activity-start':
        this.#activities.set(entry.activity, entry.actor);
        return entry;
      case 'transition':
      case 'ignored': {
        const candidates = entry.candidates.map(readCandidate);
        return { ...entry, machine: this.#chartOf(entry.actor, entry.machine, seq), candidates };
      }
      case 'emitted': {
        const event = readableValue(entry.event);
        const fact = callFact(event);
        return fact === null
          ? { ...entry, event: event as typeof entry.event }
          : { ...fact, seq, atMs, actor: entry.actor };
      }
      case 'note': {
        const note = readableValue(entry.note);
        const fact = callFact(note);
        if (fact === null) return { ...entry, note: note as typeof entry.note };
        const { activity = -1 } = entry;
        return { ...fact, ...(activity >= 0 && { activity }), seq, atMs, actor: this.#activities.get(activity) ?? '' };
      }
      default:
        return readValues(entry);
    }
  }
}

/** The type of an event that reports the end of a child of its receiver. */
const ACTOR_END = /^xstate\.(done|error)\.actor\.(.*)$/su;

/** Returns the child whose end an event reports to its receiver; null if it reports none. */
export function endReportedBy(receiver: ActorPath, eventType: string) {
  const [, kind, id = ''] = ACTOR_END.exec(eventType) ?? [];
  if (kind === undefined) return null;
  return { path: childPath(receiver, id), status: kind === 'done' ? ('done' as const) : ('error' as const) };
}
