import { type CallError, type CallEvent, LAST_EVENTS } from '../../../machines/contracts/events.ts';
import { ANNOTATIONS, type JournalEntry, type JournalEvent } from '../../../machines/contracts/journal.ts';
import { createCodec, type Json } from '../../durable/codec.ts';
import { type DurableEntry, isRedacted, JOURNAL_FORMAT } from '../../durable/entries.ts';

const { encode, decode } = createCodec();

/** Returns an entry of a durable actor as an entry of a run: payloads decoded, emitted events and notes unwrapped. */
export function readEntry(entry: DurableEntry): JournalEntry {
  const { seq, atMs } = entry;
  switch (entry.type) {
    case 'start': {
      const product = { ...(entry.product as object), redacted: isRedacted(entry) };
      const { format: _, ...start } = entry;
      return { ...start, input: decode(entry.input), product } as unknown as JournalEntry;
    }
    case 'delivery':
      return { ...entry, event: decode(entry.event) } as JournalEntry;
    case 'activity-event':
      return { ...entry, event: readCallEvent(entry.event) };
    case 'emitted':
      return { seq, atMs, ...(decode(entry.event) as JournalEvent), ...(entry.actor !== '' && { from: entry.actor }) };
    case 'note': {
      const note = decode(entry.note) as JournalEvent;
      const isOfHost = entry.activity === undefined && !ANNOTATIONS.has(note.type);
      return {
        seq,
        atMs,
        ...note,
        ...(entry.activity !== undefined && { activity: entry.activity }),
        ...(isOfHost && { from: null }),
      };
    }
    case 'failed':
      return { ...entry, error: readError(entry.error) };
    default:
      return entry as JournalEntry;
  }
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

/** Returns an entry as a durable actor stores it. */
export function storedEntry(entry: JournalEntry): DurableEntry {
  switch (entry.type) {
    case 'start': {
      // The order of its members is that of the recorded entry, so that a copy of a journal has the same bytes.
      const { seq, atMs, type, ...start } = entry;
      const input = encode(entry.input, 'input');
      return { seq, atMs, type, format: JOURNAL_FORMAT, ...start, input } as DurableEntry;
    }
    case 'delivery':
      return { ...entry, event: encode(entry.event, 'event') };
    case 'activity-event':
      return { ...entry, event: storedCallEvent(entry.event) };
    case 'failed':
      return { ...entry, error: storedError(entry.error) };
    default:
      return UNCHANGED.has(entry.type) ? (entry as DurableEntry) : storedEvent(entry);
  }
}

/** `from` is the path of the actor that emitted an event, null for the host; `activity` is the number of the activity that added a note. */
function storedEvent({ seq, atMs, ...rest }: JournalEntry): DurableEntry {
  const { from = '', ...event } = rest as typeof rest & { readonly from?: string | null };
  if (from !== null && !ANNOTATIONS.has(event.type))
    return { seq, atMs, type: 'emitted', actor: from, event: encode(event, 'emitted event') };
  const { activity, ...note } = event as typeof event & { readonly activity?: number };
  return { seq, atMs, type: 'note', note: encode(note, 'note'), ...(activity !== undefined && { activity }) };
}

/** The types of entries that are stored without changes. */
const UNCHANGED: ReadonlySet<string> = new Set<DurableEntry['type']>([
  'activity-start',
  'closed',
  'effect',
  'effect-end',
  'end',
  'ignored',
  'quarantined',
  'released',
  'resumed',
  'stopped',
  'timer',
  'timer-start',
  'transition',
  'value',
]);

export function storedCallEvent(event: CallEvent): Json {
  if (event.type === 'done') return { type: RESOLVED, data: encode(event.output, 'output') };
  if (event.type === 'failed') return { type: REJECTED, data: storedError(event.error) };
  return encode(event, 'event');
}
