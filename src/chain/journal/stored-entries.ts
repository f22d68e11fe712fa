import type { ChainInput } from '../../../machines/contracts/chain-state.ts';
import { type CallError, type CallEvent, LAST_EVENTS } from '../../../machines/contracts/events.ts';
import {
  ANNOTATIONS,
  JOURNAL_VERSION,
  type JournalEntry,
  type JournalEvent,
  type RetryRule,
  type RunStart,
} from '../../../machines/contracts/journal.ts';
import { createCodec, type Json } from '../../durable/codec.ts';
import type { DurableEntry, DurableEvent, StartEntry } from '../../durable/entries.ts';

/** What the chain stores in the first entry of a durable actor. */
export interface RunProduct
  extends Pick<RunStart, 'modelId' | 'fallbackModelIds' | 'prompts' | 'instructionsDigest' | 'host' | 'redacted'> {
  readonly fork: { readonly changes: readonly string[]; readonly forkedAt: string } | null;
}

/** What the chain stores in the last entry. */
export type RunEndSummary = Pick<Extract<JournalEvent, { type: 'run-end' }>, 'status' | 'usage'>;

const { encode, decode } = createCodec();

type Stored<Type extends DurableEvent['type']> = Extract<DurableEvent, { type: Type }>;
type Read<Type extends JournalEvent['type']> = Extract<JournalEvent, { type: Type }>;

/** Returns an entry of a durable actor with the types of the chain. */
export function readEntry({ seq, atMs, ...event }: DurableEntry): JournalEntry {
  return { seq, atMs, ...readEvent(event as DurableEvent) } as JournalEntry;
}

function readEvent(event: DurableEvent): JournalEvent {
  switch (event.type) {
    case 'start':
      return event.product === null ? (event as unknown as JournalEvent) : readStart(event);
    case 'delivery': {
      const { actor, event: sent, ...rest } = event;
      return { ...rest, event: decode(sent), ...(actor !== '' && { actor }) } as Read<'delivery'>;
    }
    case 'activity-event': {
      const { type: _, activity: call, source: actor, actor: to, event: reported, ...rest } = event;
      return { type: 'call-event', call, actor, to, event: readCallEvent(reported), ...rest } as Read<'call-event'>;
    }
    case 'activity-start': {
      const { activity: call, source: actor, actor: path, inputDigest, subject } = event;
      return { type: 'call-start', call, actor, path, inputDigest, ...(subject as object) } as Read<'call-start'>;
    }
    case 'transition':
    case 'ignored':
    case 'timer-start': {
      const { type, actor: path, ...rest } = event;
      return { type, ...rest, ...(path !== '' && { path }) } as unknown as JournalEvent;
    }
    case 'emitted': {
      const emitted = decode(event.event) as JournalEvent;
      return event.actor === '' ? emitted : placed(emitted, { from: event.actor });
    }
    case 'note': {
      const note = decode(event.note) as JournalEvent;
      if (event.activity !== undefined) return placed(note, { call: event.activity });
      return ANNOTATIONS.has(note.type) ? note : placed(note, { from: null });
    }
    case 'value': {
      const [rule, attemptId] = event.name.split(' ') as [RetryRule, string];
      const { value: result, error } = event;
      return { type: 'retry-rule', attemptId, rule, ...(result !== null && { result }), error };
    }
    case 'failed':
      return { type: 'failed', actor: event.actor, error: readError(event.error) };
    case 'stopped':
      return { type: 'run-stopped' };
    case 'end': {
      const { status, output, error, summary } = event;
      if (summary === undefined) return event as unknown as JournalEvent;
      return { type: 'run-end', ...(summary as object), actor: { status, output, error } } as Read<'run-end'>;
    }
    default:
      return event as unknown as JournalEvent;
  }
}

/** `from` is the path of the actor that emitted an event, null for the host; `call` is the call that noted something. */
function placed(
  { type, ...event }: JournalEvent,
  place: { readonly from?: string | null; readonly call?: number },
): JournalEvent {
  return { type, ...event, ...place } as JournalEvent;
}

function readStart({ machine, input, product, startedAt, seed, node, icu, forkedFrom }: StartEntry): Read<'run-start'> {
  const { fork, ...about } = product as unknown as RunProduct;
  return {
    type: 'run-start',
    version: JOURNAL_VERSION,
    chart: { id: machine.id, digest: machine.digest },
    ...(decode(input) as ChainInput),
    ...about,
    startedAt,
    seed,
    node,
    icu,
    forkedFrom:
      forkedFrom && fork
        ? { runId: forkedFrom.actorId, seq: forkedFrom.seq, ...fork, clockStartMs: forkedFrom.clockStartMs }
        : null,
  } as Read<'run-start'>;
}

const RESOLVED = 'xstate.promise.resolve';
const REJECTED = 'xstate.promise.reject';

export function readCallEvent(stored: Json): CallEvent {
  const { type, data } = stored as { readonly type: string; readonly data: Json };
  if (type === RESOLVED) {
    const output = decode(data);
    return { type: 'done', ...(output !== undefined && { output }) };
  }
  return type === REJECTED ? { type: 'failed', error: readError(data) } : (decode(stored) as CallEvent);
}

/** Errors stay plain values, as they are in JSON. */
const readError = (stored: Json): CallError => Object(stored).value as CallError;
const storedError = (error: CallError): Json => ({ $type: 'Error', value: error as Json });

/** Whether a stored event ends its call with a result. A call that was lost with its process has none. */
export function isResult(stored: Json): boolean {
  const { type } = readCallEvent(stored);
  return LAST_EVENTS.has(type) && type !== 'reply.lost';
}

/** Returns the entry of a durable actor that an entry stands for. */
export function storedEntry(entry: JournalEntry): DurableEntry {
  // Most entries are of these types, so they are copied only once.
  if (entry.type === 'transition' || entry.type === 'ignored' || entry.type === 'timer-start') {
    const { seq, atMs, path: actor = '', ...rest } = entry;
    return { seq, atMs, ...rest, actor } as unknown as DurableEntry;
  }
  const { seq, atMs, ...event } = entry;
  return { seq, atMs, ...storedEvent(event as JournalEvent) } as DurableEntry;
}

function storedEvent(event: JournalEvent): DurableEvent {
  switch (event.type) {
    case 'run-start':
      return storedStart(event);
    case 'delivery':
      return { actor: '', ...event, event: encode(event.event, 'event') } as Stored<'delivery'>;
    case 'call-event': {
      const { type: _, call: activity, actor: source, to: actor = '', event: reported, ...rest } = event;
      return { type: 'activity-event', activity, source, actor, event: storedCallEvent(reported), ...rest };
    }
    case 'call-start': {
      const { type: _, call: activity, actor: source, path: actor = '', inputDigest = '', ...subject } = event;
      return {
        type: 'activity-start',
        activity,
        actor,
        source,
        inputDigest,
        ...(Object.keys(subject).length > 0 && { subject: subject as Json }),
      };
    }
    case 'retry-rule': {
      const { rule, attemptId, result = null, error } = event;
      return { type: 'value', name: `${rule} ${attemptId}`, value: result as Json, error };
    }
    case 'failed':
      return { ...event, error: storedError(event.error) };
    case 'run-stopped':
      return { type: 'stopped' };
    case 'run-end': {
      const { actor, status, usage } = event;
      return { type: 'end', ...actor, summary: { status, usage } } as unknown as Stored<'end'>;
    }
    case 'resumed':
      return event;
    case 'closed':
      return event as Stored<'closed'>;
    default:
      return storedRest(event as unknown as { readonly type: string; readonly from?: string | null });
  }
}

function storedRest(event: {
  readonly type: string;
  readonly from?: string | null;
  readonly call?: number;
}): DurableEvent {
  const { from = '', ...own } = event;
  if (STORED.has(event.type)) return event as unknown as DurableEvent;
  if (from !== null && !ANNOTATIONS.has(event.type as JournalEvent['type']))
    return { type: 'emitted', actor: from, event: encode(own, 'emitted event') };
  const { call, ...note } = own;
  return { type: 'note', note: encode(note, 'note'), ...(call !== undefined && { activity: call }) };
}

/** Entries that are read as they are. */
const STORED: ReadonlySet<string> = new Set<DurableEvent['type']>(['start', 'timer', 'effect', 'effect-end', 'end']);

function storedStart(start: Read<'run-start'>): StartEntry {
  const { type: _, version: format, chart, startedAt, seed, node, icu, forkedFrom, ...others } = start;
  const { modelId, fallbackModelIds, prompts, instructionsDigest, host, redacted, ...input } = others;
  const { runId, seq, changes, forkedAt, clockStartMs } = forkedFrom ?? {};
  const product = {
    modelId,
    fallbackModelIds,
    prompts,
    instructionsDigest,
    host,
    redacted,
    fork: forkedFrom && { changes, forkedAt },
  };
  return {
    type: 'start',
    format,
    actorId: start.runId,
    machine: { ...chart, version: null },
    input: encode(input, 'input'),
    product: product as unknown as Json,
    seed,
    startedAt,
    node,
    icu,
    forkedFrom: forkedFrom && { actorId: runId as string, seq: seq as number, clockStartMs: clockStartMs as number },
  };
}

export function storedCallEvent(event: CallEvent): Json {
  if (event.type === 'done') return { type: RESOLVED, data: encode(event.output, 'output') };
  if (event.type === 'failed') return { type: REJECTED, data: storedError(event.error) };
  return encode(event, 'event');
}
