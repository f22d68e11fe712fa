import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import type { RunLog } from '../../log/run-log.ts';
import type { RunFold } from '../run-fold.ts';
import { type FieldBeside, fieldsBeside } from './fields-beside.ts';

/** The first thing that was said otherwise: by a model, a port, the user, or in a decision or an answer. */
export interface FactBeside {
  /** `reply to yield`, `decision`, … */
  readonly kind: string;
  /** The first, the second, … of its kind; from 1. */
  readonly nth: number;
  readonly seqs: readonly [number, number];
  readonly fields: readonly FieldBeside[];
}

interface Told {
  readonly log: RunLog;
  readonly fold: RunFold;
}

interface Fact {
  readonly kind: string;
  readonly nth: number;
  readonly seq: number;
}

/** So many characters of entries are read at most: some hundred milliseconds. */
const MOST_CHARS = 3_000_000;

/** Facts of the same kind are held against each other in their order. `cutOff`: there is more than is looked through. */
export function firstFactBeside(
  left: Told,
  right: Told,
): { readonly fact: FactBeside | null; readonly cutOff: boolean } {
  const facts = factsOf(left.fold);
  const others = new Map(factsOf(right.fold).map(({ kind, nth, seq }) => [`${nth} ${kind}`, seq]));
  let chars = 0;
  for (const { kind, nth, seq } of facts) {
    const other = others.get(`${nth} ${kind}`);
    if (other === undefined) continue;
    chars += left.log.line(seq).length;
    if (chars > MOST_CHARS) return { fact: null, cutOff: true };
    const fields = fieldsBeside([saidIn(left.log.entry(seq)), saidIn(right.log.entry(other))]);
    if (fields.length > 0) return { fact: { kind, nth, seqs: [seq, other], fields }, cutOff: false };
  }
  return { fact: null, cutOff: false };
}

function factsOf({ spans, places }: RunFold): readonly Fact[] {
  const found: { readonly kind: string; readonly seq: number }[] = [];
  for (const { port, subject, outcome, to } of spans.calls) {
    if (to === null) continue;
    if (outcome === 'reply.ended') found.push({ kind: `reply to ${subject}`, seq: to });
    else if (outcome === 'settled' || outcome === 'broken') found.push({ kind: `${port} ${subject}`.trim(), seq: to });
  }
  for (const kind of ['delivery', 'decision', 'answer'] as const)
    for (const seq of places.of(kind)) found.push({ kind, seq });
  const counts = new Map<string, number>();
  return found
    .sort((one, other) => one.seq - other.seq)
    .map(({ kind, seq }) => {
      const nth = (counts.get(kind) ?? 0) + 1;
      counts.set(kind, nth);
      return { kind, nth, seq };
    });
}

function saidIn(entry: JournalEntry): unknown {
  switch (entry.type) {
    case 'decision':
      return entry.decision;
    case 'answer':
      return entry.answer;
    case 'delivery':
      return entry.event;
    case 'call-event': {
      const { event } = entry;
      if (event.type === 'settled') return event.output;
      if (event.type === 'broken') return event.error;
      if (event.type !== 'reply.ended') return null;
      const { value, failure } = event.reply;
      return failure === null ? value : { failure };
    }
    default:
      return null;
  }
}
