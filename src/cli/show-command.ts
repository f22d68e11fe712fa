import { PostChainError } from '../../machines/contracts/error.ts';
import type { JournalEntry } from '../../machines/contracts/journal-entry.ts';
import { count, oneLine, printableJson } from '../internal/printable.ts';
import { detailOf } from './entry-text.ts';
import { findRun, type JournalFlags } from './open-journals.ts';
import { createProgress } from './progress.ts';
import { rendererFor } from './render-answer.ts';
import { createScreen, type Screen } from './screen.ts';

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
