import type { JournalEntry, StateChange } from '../../../machines/contracts/journal.ts';

/** A text of a journal, and where it stands: `answer.sources.0.path` of entry 417. */
export interface PlacedText {
  readonly seq: number;
  readonly path: string;
  readonly text: string;
}

type Change = (text: string, path: string) => string;

/** What a page finds its way by: kinds of entries and events, and what a transition is called. */
const OWN_WORDS =
  /^[^.]+\.type$|^(?:delivery|call-event)\.event\.type$|^transition\.(?:machine|event|source|target|candidates\.\d+\.(?:guard|target|verdict))(?:\.|$)/u;

/** Below these, names of members come from a program, a model or a tool: they are texts as others are. */
const FREE_PLACES: ReadonlySet<unknown> = new Set(['arguments', 'host', 'items', 'metadata', 'output']);

const STATE_CHANGE = /^state\.changes\.\d+$/u;

/** The entry with other texts. The words of the journal itself are no texts. */
export function withTexts(entry: JournalEntry, change: Change): JournalEntry {
  return changed(entry, entry.type, change, false) as JournalEntry;
}

/** `isFree`: the names of its members are texts. */
function changed(value: unknown, path: string, change: Change, isFree: boolean): unknown {
  if (typeof value === 'string') return OWN_WORDS.test(path) ? value : change(value, path);
  if (Array.isArray(value)) return value.map((item, place) => changed(item, `${path}.${place}`, change, isFree));
  if (typeof value !== 'object' || value === null) return value;
  if (STATE_CHANGE.test(path)) return changedState(value as StateChange, path, change);
  const members = Object.entries(value).map(([name, inside]) => {
    const below = `${path}.${name}`;
    return [isFree ? change(name, below) : name, changed(inside, below, change, isFree || FREE_PLACES.has(name))];
  });
  return Object.fromEntries(members);
}

/** The place of a change is made of names: those of the state itself stay as they are. */
function changedState({ path: names, ...change }: StateChange, path: string, by: Change): unknown {
  const place = names.findIndex((name) => FREE_PLACES.has(name));
  const free = place < 0 ? names.length : place + 1;
  const told = names.slice(free).map((name, at) => changed(name, `${path}.path.${free + at}`, by, true));
  const isFree = place >= 0;
  const rest = Object.entries(change).map(([name, inside]) => [name, changed(inside, `${path}.${name}`, by, isFree)]);
  return { path: [...names.slice(0, free), ...told], ...Object.fromEntries(rest) };
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
