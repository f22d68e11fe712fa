import { PostChainError } from '../../../machines/contracts/error.ts';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { firstChars } from '../../../machines/text/clip.ts';
import { jsString } from '../../../machines/text/quoting.ts';
import { oneLine } from '../../internal/printable.ts';
import { requireKnownOptions } from '../../internal/require-known.ts';
import { divergenceText, replay } from './replay.ts';
import { runStartOf } from './run-start.ts';

export interface ToVitestOptions {
  /** The path of the journal, relative to the test. */
  readonly journalPath: string;
}

const MAX_TITLE_CHARS = 80;

/**
 * Returns the source of a Vitest test that replays a recorded run and checks its phases, its decisions and every entry. The test needs the
 * recording and `postchain`, but no model.
 *
 * @throws PostChainError `invalid_journal` if the recording does not replay identically.
 */
export function toVitest(recorded: readonly JournalEntry[], options: ToVitestOptions): string {
  requireKnownOptions('toVitest', options, 'journalPath');
  const { journalPath } = options;
  const { request, runId } = runStartOf(recorded).input;
  const { divergence } = replay(recorded);
  if (divergence !== null)
    throw new PostChainError(
      'invalid_journal',
      `${runId}: ${divergenceText(divergence)}; record the run again, or update the recording`,
    );
  const phases = recorded.flatMap((entry) => (entry.type === 'phase-start' ? [entry.phase] : []));
  const rules = recorded.flatMap((entry) => (entry.type === 'decision' ? [entry.decision.rule] : []));
  const status = recorded.findLast((entry) => entry.type === 'end')?.summary.status ?? null;
  return `import { fileURLToPath } from 'node:url';
import { readRun, replay } from 'postchain';
import { readJournal } from 'postchain/node';
import { expect, it } from 'vitest';

it(${jsString(`replays: ${titleOf(request)}`)}, async () => {
  const path = fileURLToPath(new URL(${jsString(urlOf(journalPath))}, import.meta.url));
  const recorded = await readRun(readJournal(path));
  const { answer, divergence } = replay(recorded);
  expect(divergence).toBeNull();
  expect(recorded.flatMap((entry) => (entry.type === 'phase-start' ? [entry.phase] : []))).toEqual(${listOf(phases)});
  expect(recorded.flatMap((entry) => (entry.type === 'decision' ? [entry.decision.rule] : []))).toEqual(${listOf(rules)});
  expect(answer?.status ?? null).toBe(${status === null ? 'null' : jsString(status)});
});
`;
}

/** Escapes characters of a path that mean something else in a URL. */
const urlOf = (path: string): string => path.split('/').map(encodeURIComponent).join('/');

const titleOf = (request: string): string => firstChars(oneLine(request), MAX_TITLE_CHARS);

function listOf(words: readonly string[]): string {
  const line = `[${words.map(jsString).join(', ')}]`;
  return line.length < 60 ? line : `[\n    ${words.map(jsString).join(',\n    ')},\n  ]`;
}
