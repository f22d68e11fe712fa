import { PostChainError } from '../../machines/contracts/error.ts';
import { type JournalEntry, journalEntrySchema } from '../../machines/contracts/journal.ts';
import { withoutBytes } from '../chain/journal/run-journal.ts';
import type { Json } from '../durable/codec.ts';
import type { DurableEntry } from '../durable/entries.ts';
import type { Redact } from '../durable/journals/journal-store.ts';
import { count, oneLine } from '../internal/printable.ts';
import { callFact } from '../llm/call-facts.ts';
import type { StateChange } from './state-changes.ts';
import type { ActorPageEntry, ActorState, StateFrame, SystemState } from './wire.ts';

/** An entry of a run, or of an actor's page. */
type Shared = JournalEntry | ActorPageEntry;

const REDACTED = '[redacted]';

/** `/…/` with optional flags is a regular expression; anything else is literal, case-insensitive text. */
const EXPRESSION = /^\/(?<source>.+)\/(?<flags>[dgimsuv]*)$/su;

/** Returns a function that replaces each pattern with `[redacted]`. Throws `invalid_option` for an invalid pattern, or one that matches everywhere. */
export function redactionOf(patterns: readonly string[]): Redact {
  const expressions = patterns.flatMap(expressionsOf);
  return (text) => expressions.reduce((left, expression) => left.replace(expression, REDACTED), text);
}

/** A pattern such as `/home/sim` may be a path, so it is also hidden literally. */
function expressionsOf(pattern: string): readonly RegExp[] {
  const { source, flags = '' } = EXPRESSION.exec(pattern)?.groups ?? {};
  const expressions = pattern === '' ? [] : [new RegExp(escapedVariants(pattern), 'giu')];
  if (source !== undefined) expressions.push(compiled(source, `g${flags.replace('g', '')}`, pattern));
  if (expressions.length > 0 && !expressions.some((expression) => ''.search(expression) === 0)) return expressions;
  throw new PostChainError(
    'invalid_option',
    `redact: ${JSON.stringify(pattern)} matches everywhere; expected a pattern that matches at least one character`,
  );
}

function compiled(source: string, flags: string, pattern: string): RegExp {
  try {
    return new RegExp(source, flags);
  } catch (cause) {
    const why = (cause as Error).message;
    throw new PostChainError('invalid_option', `redact: ${pattern} is not a valid regular expression: ${why}`, {
      cause,
    });
  }
}

/** Streamed text is left out, because a secret may be split across two pieces; the whole text follows in the reply. */
const withoutTexts = (entry: JournalEntry): JournalEntry => {
  if (entry.type === 'start') return { ...entry, product: { ...entry.product, redacted: true } };
  return entry.type === 'text-delta' ? { ...entry, text: '' } : withoutBytes(entry);
};

/** Returns a redacted journal. Names that the format defines are kept. Throws `invalid_option` if another value of the format is hidden. */
export function redacted<Entry extends Shared>(entries: readonly Entry[], redact: Redact): readonly Entry[] {
  const rename = distinctNames(redact);
  const onPage: Change = (text, path, isKey) => (isKey || PAGE_NAMES.test(path) ? rename(text) : redact(text));
  return entries.map((entry) => {
    if (entry.type === 'page') return withTexts(withoutDelta(entry), onPage) as Entry;
    const shown = withoutTexts(entry);
    const changedTexts = withTexts(shown, redact);
    const names = (journalEntrySchema.safeParse(changedTexts).error?.issues ?? []).filter(isName);
    const hidden = names.reduce<unknown>((value, { path }) => restored(value, shown, path), changedTexts) as Entry;
    const [issue] = journalEntrySchema.safeParse(hidden).error?.issues ?? [];
    if (issue === undefined) return hidden;
    const place = `${entry.seq} ${entry.type}.${issue.path.join('.')}`;
    throw new PostChainError(
      'invalid_option',
      `redact: a pattern hides a value of the journal format (${place}); use a more specific pattern`,
    );
  });
}

/** Returns a function that redacts names. Different names stay different, because other texts of the page refer to them. */
function distinctNames(redact: Redact): Redact {
  const [shown, counts] = [new Map<string, string>(), new Map<string, number>()];
  return (name) => {
    const known = shown.get(name);
    if (known !== undefined) return known;
    const text = redact(name);
    const nth = (counts.get(text) ?? 0) + 1;
    counts.set(text, nth);
    const distinct = text === name || nth === 1 ? text : `${text} ${nth}`;
    shown.set(name, distinct);
    return distinct;
  };
}

/** Returns an entry without streamed text, in which a secret may be split. */
function withoutDelta(shared: ActorPageEntry): ActorPageEntry {
  if (!('entry' in shared) || shared.entry.type !== 'note') return shared;
  const note = Object(shared.entry.note) as { readonly type?: Json };
  return note.type === 'text-delta' ? { ...shared, entry: { ...shared.entry, note: { ...note, text: '' } } } : shared;
}

/** Whether a value is none of those that the format defines. */
const isName = ({ code }: { readonly code: string | undefined }): boolean => code === 'invalid_value';

/** Returns a value with the member at this path as it was. */
function restored(value: unknown, original: unknown, [name, ...inside]: readonly PropertyKey[]): unknown {
  if (name === undefined) return original;
  const copy = Array.isArray(value) ? [...value] : { ...Object(value) };
  copy[name] = restored(copy[name], Object(original)[name], inside);
  return copy;
}

/** A redacted place: its text before and after, with some context. */
export interface Redaction {
  readonly seq: number;
  readonly path: string;
  readonly before: string;
  readonly after: string;
}

const CONTEXT_CHARS = 24;

/** Yields what a redaction changes in a journal: the preview of an export. */
export function* redactionsIn(entries: Iterable<Shared>, redact: Redact): Generator<Redaction> {
  for (const { seq, path, text } of textsOf(entries)) {
    const after = redact(text);
    if (after !== text) yield { seq, path, ...around(text, after) };
  }
}

/** Returns where two texts differ, with some common context on both sides. */
function around(before: string, after: string): { readonly before: string; readonly after: string } {
  const least = Math.min(before.length, after.length);
  let start = 0;
  while (start < least && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < least - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const cut = (text: string): string => {
    const [from, to] = [Math.max(0, start - CONTEXT_CHARS), Math.min(text.length, text.length - end + CONTEXT_CHARS)];
    return `${from > 0 ? '…' : ''}${text.slice(from, to)}${to < text.length ? '…' : ''}`;
  };
  return { before: cut(before), after: cut(after) };
}

/** Characters that JSON escapes with a backslash and a letter. */
const LETTERS: Readonly<Record<string, string>> = { '\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't' };

/**
 * Returns the source of a regular expression that matches a text literally and inside JSON strings, such as model replies. There, `"` is
 * `\"`, and `ü` may be `\u00fc`; JSON nested in JSON has more backslashes.
 */
function escapedVariants(text: string): string {
  return Array.from(text, characterVariants).join('');
}

function characterVariants(character: string): string {
  const plain = character.replace(/[.*+?^${}()|[\]\\/]/u, '\\$&');
  if (character === '\\') return '(?:\\\\+(?:u005c)?)';
  const cases = new Set([character, character.toLowerCase(), character.toUpperCase()]);
  const escaped = Array.from(cases, (one) =>
    one
      .split('')
      .map((unit) => `\\\\+u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
  const letter = LETTERS[character];
  const behind = letter === undefined ? [] : [`\\\\+${letter}`];
  const before = character === '"' || character === '/' ? '\\\\*' : '';
  return `(?:${[`${before}${plain}`, ...escaped, ...behind].join('|')})`;
}

/** A text of a journal and its path, for example `answer.sources.0.path` of entry 417. */
interface PlacedText {
  readonly seq: number;
  readonly path: string;
  readonly text: string;
}

type Change = (text: string, path: string, isKey?: boolean) => string;

/** Paths of strings that belong to the format: entry and event types, and the names in transitions. */
const FORMAT_PATHS =
  /^[^.]+\.type$|^attachment\.data$|^(?:delivery|activity-event)\.event\.type$|^(?:activity-event|failed)\.actor$|^activity-start\.(?:actor|inputDigest|subject\.request)$|^(?:ignored|timer-start)\.|^transition\.(?:actor|machine|event|source|target|candidates\.\d+\.(?:guard|target|result))(?:\.|$)/u;

/**
 * Paths of strings on an actor's page that its code reads. Names of states and events belong to the program: they are texts, and a redaction
 * replaces them in charts, entries and states alike.
 */
const PAGE_PATHS =
  /^page\.(?:run\.(?:kind|status|startedAt|exportedAt)|charts\.charts\.\d+\.states\.\d+\.type|(?:entry|fact)\.(?:type|status|(?:started|closed|resumed)At|inputDigest|machine\.digest|candidates\.\d+\.result)|fact\.(?:note|event)\.(?:type|failure\.stage|turns\.\d+\.role))$/u;

/** Paths of names on an actor's page that other texts of the page refer to. */
const PAGE_NAMES =
  /^page\.(?:charts\.|run\.(?:runId|machine)$|entry\.(?:actor|actorId|machine|machine\.id|source|target\.\d+|event|event\.type)$|frame\.(?:chart|initial|leaves|path|key)(?:\.|$))/u;

/** Values of a program on an actor's page. Their keys and numbers are texts. */
const PAGE_DATA =
  /^page\.(?:charts\.invoked|entry\.(?:input|product|output|error|value|summary|subject|note|state|waiting\.approvals|event|candidates\.\d+\.inputs)|frame)(?:\.|$)/u;

/** Below these members, except in answers, the keys come from a program, a model or a tool, so they count as text. */
const FREE_KEYS: ReadonlySet<unknown> = new Set(['arguments', 'host', 'items', 'metadata', 'output']);

/** Returns an entry with its texts changed. Strings of the format itself are not texts. */
export function withTexts<Entry extends Shared>(entry: Entry, change: Change): Entry {
  if ('frame' in entry) return { ...entry, frame: frameWithTexts(entry.frame, change) };
  if (!('entry' in entry) || !isFactual(entry.entry)) return changed(entry, entry.type, change, false) as Entry;
  // The keys of what an attempt or a tool loop reports belong to the format.
  return { ...entry, entry: changed(entry.entry, 'page.fact', change, false) };
}

const isFactual = (entry: DurableEntry): boolean =>
  (entry.type === 'note' && callFact(entry.note) !== null) ||
  (entry.type === 'emitted' && callFact(entry.event) !== null);

/** Returns a state frame with its texts changed: all that comes from the program, but not the members of `ActorState`. */
function frameWithTexts(frame: StateFrame, change: Change): StateFrame {
  const free = (value: unknown, path: string): unknown => changed(value, `page.frame.${path}`, change, true);
  const end = (value: ActorState['end']): unknown =>
    value && { ...(free(value, 'end') as object), status: value.status };
  const member = (name: string, value: unknown): unknown => {
    if (name === 'started' || name === 'moved') return value;
    return name === 'end' ? end(value as ActorState['end']) : free(value, name);
  };
  const actor = (state: ActorState): unknown =>
    Object.fromEntries(Object.entries(state).map(([name, value]) => [name, member(name, value)]));
  const pathTexts = ([path, name, ...inside]: StateChange['path']): StateChange['path'] => [
    ...(free([path], 'path') as string[]),
    ...(name === undefined ? [] : [name]),
    ...(name === 'end' ? inside.slice(0, 1) : []),
    // A number is an index in a list.
    ...(name === 'end' ? inside.slice(1) : inside).map((key) =>
      typeof key === 'number' ? key : (free(key, 'key') as string),
    ),
  ];
  const valueTexts = ([, name, inside]: StateChange['path'], value: unknown): unknown => {
    if (name === undefined) return actor(value as ActorState);
    if (inside === undefined) return member(`${name}`, value);
    return name === 'end' && inside === 'status' ? value : free(value, `${name}`);
  };
  if ('state' in frame) {
    const actors = Object.entries(Object(frame.state) as SystemState);
    return {
      ...frame,
      state: Object.fromEntries(actors.map(([path, state]) => [change(path, 'page.frame.path', true), actor(state)])),
    };
  }
  const changes = frame.changes.map((one) => ({
    ...one,
    path: pathTexts(one.path),
    ...('value' in one && { value: valueTexts(one.path, one.value) }),
    ...('added' in one && { added: free(one.added, `${one.path[1]}`) as readonly unknown[] }),
  }));
  return { ...frame, changes };
}

/** `isFree`: the keys are texts. */
function changed(value: unknown, path: string, change: Change, isFree: boolean): unknown {
  if (typeof value === 'string') return FORMAT_PATHS.test(path) || PAGE_PATHS.test(path) ? value : change(value, path);
  if (typeof value === 'number' && isOfProgram(path)) return changedNumber(value, path, change);
  if (Array.isArray(value)) return value.map((item, place) => changed(item, `${path}.${place}`, change, isFree));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, inside]) => {
    const below = `${path}.${name}`;
    const isText = isFree && !(path === 'page.entry.event' && (name === 'type' || name === 'data'));
    return [
      isText ? change(name, below, true) : name,
      changed(
        inside,
        below,
        change,
        isFree || PAGE_DATA.test(below) || (FREE_KEYS.has(name) && path !== 'answer.answer'),
      ),
    ];
  });
  return Object.fromEntries(members);
}

/** Paths of numbers that any text may replace: they belong to a program, a model or a tool. */
const PROGRAM_NUMBER = /\.(?:arguments|host|output)\./u;
const isOfProgram = (path: string): boolean => PROGRAM_NUMBER.test(path) || PAGE_DATA.test(path);

/** A number of a program, a model or a tool becomes a text if a change applies to it. */
function changedNumber(value: number, path: string, change: Change): unknown {
  const text = change(String(value), path);
  return text === String(value) ? value : text;
}

function* textsOf(entries: Iterable<Shared>): Generator<PlacedText> {
  for (const entry of entries) {
    const found: PlacedText[] = [];
    withTexts(entry, (text, path) => {
      found.push({ seq: entry.seq, path, text });
      return text;
    });
    yield* found;
  }
}

/** Returns the numbers of the journal format that a redaction matches as a whole, and that stay as they are. */
function remainingNumbers(entries: Iterable<Shared>, redact: Redact): readonly PlacedText[] {
  const found: PlacedText[] = [];
  for (const entry of entries) {
    const visit = (value: unknown, path: string): void => {
      if (typeof value === 'number' && !isOfProgram(path) && redact(String(value)) === REDACTED)
        found.push({ seq: entry.seq, path, text: String(value) });
      else if (typeof value === 'object' && value !== null)
        for (const [name, inside] of Object.entries(value)) visit(inside, `${path}.${name}`);
    };
    visit({ ...entry, seq: null, atMs: null }, entry.type);
  }
  return found;
}

/** Keys that are known by their first letters, and JSON web tokens. */
export const KNOWN_KEY =
  /\b(?:(?:sk|pk|rk|gh[opsu]|github_pat|glpat|xox[abeprs])[-_][\w-]{16,}|(?:hf|npm|ntn|gsk|shpat|lin_api|dop_v1)_\w{20,}|A[KS]IA[0-9A-Z]{16}\b|AIza[\w-]{35}|eyJ[\w-]{10,1000}\.[\w-]{10,}\.[\w-]{5,})/gu;

/** Patterns of data that may be private. A hint for the user, not a guarantee. */
const PATTERNS: Readonly<Record<string, RegExp>> = {
  'an API key': KNOWN_KEY,
  'a key on a command line':
    /(?<![\w-])--?[\w-]*(?:(?:api|access|private)-?key|token|secret|passw(?:or)?d)[= ](?!\[hidden\]|\[redacted\]|\$|-)[^\s"']{6,}/giu,
  'a token': /\bBearer\s+[\w.~+/-]{16,}/gu,
  'a private key': /-----BEGIN [A-Z ]*PRIVATE KEY-----/gu,
  'a URL with a password': /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s/:@]{1,100}:[^\s/@]{1,100}@/giu,
  'an email address': /\b[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+\b/gu,
  'a home directory': /(?:\/home\/|\/Users\/|\\Users\\)[^\s/\\:"']{1,64}/gu,
};

export interface Suspect {
  readonly what: string;
  readonly text: string;
  readonly seq: number;
  readonly path: string;
  /** The number of occurrences. */
  readonly places: number;
}

const MAX_SUSPECT_CHARS = 60;

/** Returns texts of a journal that look like secrets or personal data, each once, with its first place. */
export function suspectsIn(entries: Iterable<Shared>): readonly Suspect[] {
  const found = new Map<string, Suspect>();
  for (const { seq, path, text } of textsOf(entries))
    for (const [what, shape] of Object.entries(PATTERNS))
      for (const match of new Set(text.match(shape)?.map((whole) => whole.slice(0, MAX_SUSPECT_CHARS)))) {
        const known = found.get(match);
        found.set(match, known ? { ...known, places: known.places + 1 } : { what, text: match, seq, path, places: 1 });
      }
  return [...found.values()];
}

/** Returns what to know before sharing an export, one line each: patterns that match nothing, numbers that stay, and text that looks private. */
export function exportNotes(entries: readonly Shared[], patterns: readonly string[] = []): readonly string[] {
  const redact = patterns.length === 0 ? undefined : redactionOf(patterns);
  return [
    ...unmatchedLines(entries, patterns),
    ...remainingNumberLines(entries, redact),
    ...suspectLines(entries, redact),
  ];
}

/** Warns about patterns without a match: the text may be written differently in the run. */
function unmatchedLines(entries: readonly Shared[], patterns: readonly string[]): readonly string[] {
  return patterns
    .filter((pattern) => {
      const redact = redactionOf([pattern]);
      return redactionsIn(entries, redact).next().done && remainingNumbers(entries, redact).length === 0;
    })
    .map((pattern) => oneLine(`Warning: the redaction ${JSON.stringify(pattern)} matches nothing`));
}

/** Warns about numbers of the journal format that a pattern matches: the page cannot be shown without them. */
function remainingNumberLines(entries: readonly Shared[], redact: Redact | undefined): readonly string[] {
  const [first, ...others] = redact ? remainingNumbers(entries, redact) : [];
  if (first === undefined) return [];
  const more = others.length === 0 ? '' : `, and ${count(others.length, 'other place')}`;
  return [
    oneLine(
      `Warning: a redaction matches the number ${first.text}, which stays (entry ${first.seq}, ${first.path}${more})`,
    ),
  ];
}

/** Lists remaining text that looks like a secret or personal data. */
function suspectLines(entries: readonly Shared[], redact?: Redact): readonly string[] {
  const left = suspectsIn(redact ? redacted(entries, redact) : entries);
  if (left.length === 0) return [];
  return [
    'Check before sharing:',
    ...left.map(({ what, text, seq, path, places }) =>
      oneLine(
        `  ${text} looks like ${what} (entry ${seq}, ${path}${places > 1 ? `, and ${count(places - 1, 'other place')}` : ''})`,
      ),
    ),
  ];
}
