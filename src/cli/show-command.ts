import type { JournalEntry } from '../../machines/contracts/journal.ts';
import { attachmentLabel } from '../../machines/policies/message-parts.ts';
import { commandLine } from '../../machines/text/quoting.ts';
import { runEntries, withoutBytes } from '../chain/journal/run-journal.ts';
import { actorEntryWords, entryTrouble, entryWords, queueText, valueText } from '../chain/presentation/entry-words.ts';
import type { DurableEntry, Waiting } from '../durable/entries.ts';
import type { ActorSummary, StoredEntry } from '../durable/journals/journal-store.ts';
import { readableValue } from '../inspection/readable-value.ts';
import { count, firstLineOf, oneLine, printableJson } from '../internal/printable.ts';
import { callFact } from '../llm/call-facts.ts';
import { type FindFlags, type FoundActor, find, reasonText, statusWord } from './find-run.ts';
import { createProgress } from './progress.ts';
import { rendererFor } from './render-answer.ts';
import { createScreen, type Entry, localTime, type Screen, unbroken, wrapLines } from './screen.ts';

export interface ShowFlags extends FindFlags {
  readonly all?: boolean;
  readonly json?: boolean;
}

export async function showCommand(
  name: string,
  flags: ShowFlags,
  stdout: NodeJS.WriteStream = process.stdout,
): Promise<void> {
  const screen = createScreen(stdout);
  const numbered = createNumbering(screen);
  const found = await find(name, flags);
  if (found.kind === 'actor') {
    if (!flags.json) screen.line(wrapLines(actorLine(found.actor), stdout));
    for await (const entry of found.store.read(found.id)) {
      numbered.at(entry);
      if (flags.json) stdout.write(`${printableJson(JSON.stringify(entry))}\n`);
      else numbered.screen.entry(actorDetail(entry));
    }
    if (!flags.json) for (const line of await questionLines(found)) screen.line(wrapLines(line, stdout));
    return;
  }
  const { store, runId } = found;
  const progress = createProgress(numbered.screen);
  let answer: Extract<JournalEntry, { type: 'answer' }> | null = null;
  for await (const recorded of runEntries(store.read(runId))) {
    const entry = withoutBytes(recorded);
    if (flags.json) {
      stdout.write(`${printableJson(JSON.stringify(entry))}\n`);
      continue;
    }
    numbered.at(entry);
    if (entry.type === 'start') for (const line of headerLines(entry)) screen.line(wrapLines(line, stdout));
    if (entry.type === 'answer') answer = entry;
    if (flags.all) numbered.screen.entry(runDetail(entry));
    else progress(entry);
  }
  if (flags.json) return;
  if (answer === null)
    return screen.line(
      `\nThe run has no answer yet. If it was interrupted, continue it with: ${oneLine(commandLine('postchain resume', runId))}`,
    );
  screen.line('');
  stdout.write((await rendererFor('text', stdout))(answer.answer));
}

/** Returns the open questions of an actor, and how to answer them. Those of an interrupted one are known only to its machine. */
async function questionLines({ id, actor, host }: FoundActor): Promise<readonly string[]> {
  const { status, waiting } = actor;
  const answer = oneLine(commandLine('postchain approve', id));
  if (status === 'interrupted' && host === null)
    return ['Its process ended. If it asks for approval, --module FILE shows the question.'];
  const reading = status === 'interrupted' ? host?.query(id).then(({ pending }) => pending.approvals) : undefined;
  const open = (await reading?.catch(firstLineOf)) ?? waiting?.approvals;
  if (typeof open === 'string') return [`Its questions cannot be read: ${oneLine(open)}`];
  return (open ?? []).map(
    ({ id: question, question: asked }) =>
      `Waits for approval ${oneLine(question)}: ${oneLine(JSON.stringify(asked))}. Answer with: ${answer} --module FILE`,
  );
}

/** Returns what an actor is, and what it waits for, in one line. */
export function actorLine(actor: ActorSummary): string {
  const { id, machine, startedAt, status, waiting, queued } = actor;
  const reason = reasonText(actor);
  const about = [id, localTime(startedAt), `actor of ${machine?.id}`, statusWord(status)];
  const waits = [...(queued ? [queueText(queued, localTime)] : []), ...(waiting ? waitTexts(waiting) : [])];
  return oneLine([...about, ...(reason === null ? [] : [reason]), ...waits].join(' · '));
}

/** What an actor waits for, in words. */
function waitTexts({ sinceMs, dueAtMs, events, approvals = [], summary }: NonNullable<ActorSummary['waiting']>) {
  return [
    `since ${localTime(sinceMs)}`,
    ...(dueAtMs === null ? [] : [`until ${localTime(dueAtMs)}`]),
    ...(events.length > 0 ? [`for ${events.join(', ')}`] : []),
    ...approvals.map(({ id, question }) => `asks ${id}: ${valueText(question)}`),
    ...(summary === null ? [] : [valueText(summary)]),
  ];
}

function withTimes({ sinceMs, dueAtMs, ...others }: Waiting): Readonly<Record<string, unknown>> {
  return { since: localTime(sinceMs), ...(dueAtMs !== null && { due: localTime(dueAtMs) }), ...others };
}

function headerLines({ input, product, startedAt, forkedFrom }: Extract<JournalEntry, { type: 'start' }>) {
  const { runId, request, attachments = [], messages } = input;
  const { changes = [] } = product.fork ?? {};
  const fork =
    forkedFrom && `fork of ${forkedFrom.actorId} at ${forkedFrom.seq}: ${changes.join(', ') || 'no changes'}`;
  const about = [
    runId,
    localTime(startedAt),
    product.modelId,
    ...attachments.map(attachmentLabel),
    ...(messages.length > 0 ? [count(messages.length, 'earlier turn')] : []),
  ];
  return [oneLine(request), oneLine(about.join(' · ')), ...(fork ? [oneLine(fork)] : [])];
}

function createNumbering(screen: Screen) {
  let seq = 0;
  const mark = (): string => String(seq).padStart(5);
  return {
    at: (entry: StoredEntry) => {
      seq = entry.seq;
    },
    screen: {
      ...screen,
      line: (text: string) => screen.line(`${mark()} ${text}`),
      entry: (entry: Parameters<Screen['entry']>[0]) => screen.entry({ ...entry, mark: mark() }),
      status: () => {},
    },
  };
}

type Transition = Extract<JournalEntry | DurableEntry, { type: 'transition' }>;

/** What an attempt or a tool loop emits or notes in an actor is shown as it is in a run. */
function actorDetail(entry: DurableEntry): Entry {
  const fact = entry.type === 'emitted' ? callFact(entry.event) : entry.type === 'note' ? callFact(entry.note) : null;
  return fact === null
    ? detailOf(readableEntry(entry), actorEntryWords)
    : runDetail({ ...fact, seq: entry.seq, atMs: entry.atMs });
}

/** The members of entries that a journal stores in its own form of JSON. */
const VALUES: ReadonlySet<string> = new Set(['input', 'event', 'note', 'value', 'output', 'error']);

const readableEntry = (entry: DurableEntry): DurableEntry =>
  Object.fromEntries(
    Object.entries(entry).map(([name, value]) => [name, VALUES.has(name) ? readableValue(value) : value]),
  ) as unknown as DurableEntry;

const runDetail = (entry: JournalEntry): Entry =>
  detailOf(entry, (shown) =>
    entryWords(
      shown.type === 'closed' && shown.waiting
        ? ({ ...shown, waiting: withTimes(shown.waiting) } as unknown as JournalEntry)
        : shown,
    ),
  );

function detailOf<Shown extends JournalEntry | DurableEntry>(entry: Shown, words: (entry: Shown) => string): Entry {
  return {
    name: oneLine(entry.type),
    ms: entry.atMs,
    text: entry.type === 'transition' ? transitionText(entry) : oneLine(words(entry)),
    tone: entryTrouble(entry as JournalEntry) === 'failed' ? 'bad' : entry.type === 'transition' ? 'aside' : 'plain',
    cut: entry.type !== 'transition' && entry.type !== 'decision',
  };
}

function transitionText({ event, source, target, candidates }: Transition): string {
  const guards = candidates
    .filter(({ guard, result }) => guard !== null && result !== 'not-evaluated')
    .map(({ guard, result, inputs }) => `${unbroken(oneLine(`${guard} ${result === 'taken'}`))}${inputsText(inputs)}`);
  const transition = `${source}${event === '' ? '' : ` on ${event}`} → ${target.join(', ') || '(no target)'}`;
  return [oneLine(transition), ...guards].join('; ');
}

function inputsText(inputs: Transition['candidates'][number]['inputs']): string {
  const pairs = Object.entries(inputs ?? {}).map(([name, value]) =>
    unbroken(oneLine(`${name} ${Object(value) === value ? JSON.stringify(value) : value}`)),
  );
  return pairs.length === 0 ? '' : ` (${pairs.join(', ')})`;
}
