import type { JournalEntry } from '../../../machines/contracts/journal-entry.ts';

/** A text of a journal, and where it stands: `answer.sources.0.path` of entry 417. */
export interface PlacedText {
  readonly seq: number;
  readonly path: string;
  readonly text: string;
}

type Change = (text: string, path: string) => string;

/** What a page finds its way by: kinds of entries and events, and what a transition is called. */
const OWN_WORDS =
  /(?:^|\.)type$|^transition\.(?:machine|event|source|target|candidates\.\d+\.(?:guard|target|verdict))(?:\.|$)/u;

/** The entry with other texts. The words of the journal itself are no texts. */
export function withTexts(entry: JournalEntry, change: Change): JournalEntry {
  return changed(entry, entry.type, change) as JournalEntry;
}

function changed(value: unknown, path: string, change: Change): unknown {
  if (typeof value === 'string') return OWN_WORDS.test(path) ? value : change(value, path);
  if (Array.isArray(value)) return value.map((item, place) => changed(item, `${path}.${place}`, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inside]) => [name, changed(inside, `${path}.${name}`, change)]),
  );
}

/** Every text of a journal, in order. */
export function* textsOf(entries: Iterable<JournalEntry>): Generator<PlacedText> {
  for (const entry of entries) {
    const found: PlacedText[] = [];
    withTexts(entry, (text, path) => {
      found.push({ seq: entry.seq, path, text });
      return text;
    });
    yield* found;
  }
}
