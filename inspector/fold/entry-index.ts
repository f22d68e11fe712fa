import type { JournalEntry, RunStart } from '../../machines/contracts/journal.ts';
import type { FinalAnswer } from '../../machines/contracts/synthesis.ts';
import { isStored } from '../../src/chain/journal/run-start.ts';
import { isExternal } from '../../src/durable/entries.ts';
import type { RunLog } from '../wire/run-log.ts';
import { countUpTo, lastUpTo, numbersIn } from './sorted.ts';

type EntryType = JournalEntry['type'];

const NONE: readonly number[] = [];

/** The sequence numbers of the entries of each type, ascending, and the steps. */
export class EntryIndex {
  readonly #byType = new Map<EntryType, number[]>();
  readonly #types: EntryType[] = [];
  /** Charts act only on these, and all effects are recorded before the next one. */
  readonly #external: number[] = [];

  take(entry: JournalEntry): void {
    const { type, seq } = entry;
    const known = this.#byType.get(type);
    if (known === undefined) this.#byType.set(type, [seq]);
    else known.push(seq);
    this.#types.push(type);
    if (isExternal(entry)) this.#external.push(seq);
  }

  of(type: EntryType): readonly number[] {
    return this.#byType.get(type) ?? NONE;
  }

  typeOf(seq: number): EntryType {
    return this.#types[seq] ?? 'text-delta';
  }

  /** The step of an entry: from its external event up to, but excluding, the next one. `to` of the last step is Infinity. */
  stepOf(seq: number): { readonly from: number; readonly to: number } {
    const next = countUpTo(this.#external, seq);
    return { from: this.#external[next - 1] ?? 0, to: this.#external[next] ?? Number.POSITIVE_INFINITY };
  }
}

export type EntryOf<Type extends JournalEntry['type']> = Extract<JournalEntry, { readonly type: Type }>;

interface Entries {
  entry(seq: number): JournalEntry;
}

export function entryAt<Type extends EntryType>(
  log: Entries,
  seq: number | null | undefined,
  type: Type,
): EntryOf<Type> | null {
  const entry = seq == null ? null : log.entry(seq);
  return entry?.type === type ? (entry as EntryOf<Type>) : null;
}

/** Returns the entries of a type in a range with both of its ends. */
export const entriesIn = <Type extends EntryType>(
  log: Entries,
  entries: EntryIndex,
  type: Type,
  from = 0,
  to = Number.POSITIVE_INFINITY,
): readonly EntryOf<Type>[] => numbersIn(entries.of(type), from, to).map((seq) => log.entry(seq) as EntryOf<Type>);

/** The first entry; null for the systems of other programs. */
export function runStart(log: RunLog): RunStart | null {
  const start = log.count > 0 ? log.entry(0) : null;
  return start?.type === 'start' && !isStored(start) ? start : null;
}

interface AnswerAt {
  readonly seq: number;
  readonly answer: FinalAnswer;
}

export const answerUpTo = (log: RunLog, { entries }: { readonly entries: EntryIndex }, seq: number): AnswerAt | null =>
  entryAt(log, lastUpTo(entries.of('answer'), seq), 'answer');
