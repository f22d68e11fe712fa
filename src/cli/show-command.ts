import { PostChainError } from '../../machines/contracts/error.ts';
import type { JournalEntry } from '../../machines/contracts/journal.ts';
import { count, oneLine, printableJson } from '../internal/printable.ts';
import { findRun, type JournalFlags } from './open-journals.ts';
import { createProgress } from './progress.ts';
import { rendererFor } from './render-answer.ts';
import { createScreen, type Entry, type Screen } from './screen.ts';

export interface ShowFlags extends JournalFlags {
  readonly all?: boolean;
  readonly json?: boolean;
}

/** `postchain show`: the story of a run, each line with the number of its entry; with `all`, a line for every entry. */
export async function showCommand(name: string, flags: ShowFlags, stdout = process.stdout): Promise<void> {
  const { store, runId } = await findRun(name, flags);
  const screen = createScreen(stdout);
  const numbered = numbering(screen);
  const progress = createProgress(numbered.screen);
  let answer: Extract<JournalEntry, { type: 'answer' }> | null = null;
  let isEmpty = true;
  for await (const entry of store.read(runId)) {
    isEmpty = false;
    if (flags.json) {
      stdout.write(`${printableJson(JSON.stringify(entry))}\n`);
      continue;
    }
    numbered.at(entry);
    if (entry.type === 'run-start') for (const line of beginning(entry)) screen.line(line);
    if (entry.type === 'answer') answer = entry;
    if (flags.all) numbered.screen.entry(detailOf(entry));
    else progress(entry);
  }
  if (isEmpty) throw new PostChainError('invalid_journal', `${name}: no run begins in it; nothing of it was written.`);
  if (flags.json) return;
  if (answer === null) return screen.line('\nIt has not come to its answer: postchain resume goes on with it.');
  screen.line('');
  stdout.write((await rendererFor('text', stdout))(answer.answer));
}

function beginning({
  runId,
  request,
  startedAt,
  modelId,
  messages,
  forkedFrom,
}: Extract<JournalEntry, { type: 'run-start' }>) {
  const fork =
    forkedFrom &&
    `a fork of ${forkedFrom.runId} at ${forkedFrom.seq}: ${forkedFrom.changes.join(', ') || 'nothing changed'}`;
  const about = [runId, startedAt, modelId, ...(messages.length > 0 ? [count(messages.length, 'earlier turn')] : [])];
  return [oneLine(request), oneLine(about.join(' · ')), ...(fork ? [oneLine(fork)] : [])];
}

/** Puts the number of the entry in front of its line. */
function numbering(screen: Screen) {
  let seq = 0;
  const mark = (): string => String(seq).padStart(5);
  return {
    at: (entry: JournalEntry) => {
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

type Transition = Extract<JournalEntry, { type: 'transition' }>;

/** Any entry of a journal in one line. */
function detailOf(entry: JournalEntry): Entry {
  const { seq: _, atMs, type, ...facts } = entry;
  const text = entry.type === 'transition' ? transitionText(entry) : factsText(facts);
  const { failure } = facts as { readonly failure?: unknown };
  return { name: type, ms: atMs, text, tone: failure ? 'bad' : entry.type === 'transition' ? 'aside' : 'plain' };
}

/** From where to where, and of each guard that was asked what it said and saw. */
function transitionText({ event, source, target, candidates }: Transition): string {
  const asked = candidates
    .filter(({ guard, verdict }) => guard !== null && verdict !== 'not-evaluated')
    .map(({ guard, verdict, inputs }) => `${guard} ${verdict === 'taken' ? 'yes' : 'no'}${inputsText(inputs)}`);
  const way = `${source}${event === '' ? '' : ` on ${event}`} → ${target.join(', ') || 'itself'}`;
  return oneLine([way, ...asked].join('; '));
}

function inputsText(inputs: Transition['candidates'][number]['inputs']): string {
  const pairs = Object.entries(inputs ?? {}).map(([name, value]) => `${name} ${value}`);
  return pairs.length === 0 ? '' : ` (${pairs.join(', ')})`;
}

const MAX_FACT_CHARS = 200;

function factsText(facts: Readonly<Record<string, unknown>>): string {
  const pairs = Object.entries(facts).map(([name, value]) => `${name} ${shortly(value)}`);
  return oneLine(pairs.join(', '));
}

function shortly(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return text.length <= MAX_FACT_CHARS ? text : `${text.slice(0, MAX_FACT_CHARS - 1)}…`;
}
