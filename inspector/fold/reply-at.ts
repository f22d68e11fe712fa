import type { Reply } from '../../machines/contracts/attempt.ts';
import type { RunLog } from '../log/run-log.ts';
import { GrowingJson } from './growing-json.ts';
import { type GrowingValue, grownFrom } from './growing-value.ts';
import { countUpTo } from './sorted.ts';
import type { AttemptSpan } from './spans.ts';

/** What a model has said in an attempt, up to an entry. */
export interface ReplyAt {
  /** The object in it; null while none has begun. */
  readonly value: GrowingValue | null;
  /** The characters that came. */
  readonly chars: number;
  /** All of its text; asked for where there is no object in it. */
  readonly text: () => string;
  /** Its pieces are there without their text, which came with the whole reply. */
  readonly piecesLeftOut: boolean;
}

interface Reading {
  readonly span: AttemptSpan;
  /** The texts of its pieces that were fetched, each once. */
  readonly pieces: string[];
  json: GrowingJson;
  /** How many of the pieces were read, and their characters. */
  read: number;
  chars: number;
}

const readings = new WeakMap<RunLog, Reading>();

/**
 * The reply of an attempt as it stood at an entry. Moving on within an attempt reads only what is new; moving back, or to another
 * attempt, reads that attempt once from its beginning.
 */
export function replyAt(log: RunLog, span: AttemptSpan, at: number): ReplyAt {
  const reading = readUpTo(log, span, countUpTo(span.deltas, at));
  const ended = span.reply !== null && span.reply <= at ? replyIn(log, span.reply) : null;
  const piecesLeftOut = ended !== null && reading.chars === 0 && reading.read > 0 && ended.text !== '';
  const { pieces, read, chars, json } = reading;
  if (ended === null) return { value: json.root, chars, text: () => pieces.slice(0, read).join(''), piecesLeftOut };
  return { value: valueIn(ended) ?? json.root, chars: ended.text.length, text: () => ended.text, piecesLeftOut };
}

function readUpTo(log: RunLog, span: AttemptSpan, count: number): Reading {
  let reading = readings.get(log);
  if (reading === undefined || reading.span !== span) {
    reading = { span, pieces: [], json: new GrowingJson(), read: 0, chars: 0 };
    readings.set(log, reading);
  }
  if (reading.read > count) {
    reading.json = new GrowingJson();
    reading.read = 0;
    reading.chars = 0;
  }
  for (; reading.read < count; reading.read += 1) {
    const piece = reading.pieces[reading.read] ?? fetched(log, span.deltas[reading.read]);
    reading.pieces[reading.read] = piece;
    reading.json.push(piece);
    reading.chars += piece.length;
  }
  return reading;
}

function fetched(log: RunLog, seq: number | undefined): string {
  const entry = seq === undefined ? undefined : log.entry(seq);
  return entry?.type === 'text-delta' ? entry.text : '';
}

function replyIn(log: RunLog, seq: number): Reply | null {
  const entry = log.entry(seq);
  return entry.type === 'call-event' && entry.event.type === 'reply.ended' ? entry.event.reply : null;
}

/** What the engine took for the value; where it took none, what there is of one in the text. Made once a reply. */
function valueIn(reply: Reply): GrowingValue | null {
  const known = values.get(reply);
  if (known !== undefined) return known;
  const { value, text } = reply;
  const json = new GrowingJson();
  if (typeof value !== 'object' || value === null) json.push(text);
  const made = typeof value === 'object' && value !== null ? grownFrom(value) : json.root;
  values.set(reply, made);
  return made;
}

const values = new WeakMap<Reply, GrowingValue | null>();
