import { PostChainError } from '../../machines/contracts/error.ts';
import type { JournalEntry } from '../../machines/contracts/journal-entry.ts';
import { oneLine } from '../internal/printable.ts';
import { divergenceText } from './replay/divergence.ts';
import { replay } from './replay/replay.ts';
import { startOf } from './replay/run-of.ts';

export interface ToVitestOptions {
  /** Where the journal stands, seen from the test: a path. */
  readonly journalPath: string;
}

const MAX_TITLE_CHARS = 80;

/**
 * A Vitest test that a recorded run keeps its way through the charts: its phases, its decisions, and every entry. It needs the
 * recording and `postchain`, and no model.
 *
 * @throws PostChainError `invalid_journal` where the recording does not come out the same as it is.
 */
export function toVitest(recorded: readonly JournalEntry[], { journalPath }: ToVitestOptions): string {
  const { request, runId } = startOf(recorded);
  const { divergence } = replay(recorded);
  if (divergence !== null)
    throw new PostChainError('invalid_journal', `${runId}: ${divergenceText(divergence)}; record it anew first.`);
  const phases = recorded.flatMap((entry) => (entry.type === 'phase-start' ? [entry.phase] : []));
  const rules = recorded.flatMap((entry) => (entry.type === 'decision' ? [entry.decision.rule] : []));
  const { status } = recorded.findLast((entry) => entry.type === 'run-end') ?? { status: null };
  return `import { fileURLToPath } from 'node:url';
import { type JournalEntry, readJournal, replay } from 'postchain';
import { expect, it } from 'vitest';

it(${quoted(`goes its way: ${titleOf(request)}`)}, async () => {
  const recorded: JournalEntry[] = [];
  const path = fileURLToPath(new URL(${quoted(addressOf(journalPath))}, import.meta.url));
  for await (const entry of readJournal(path)) recorded.push(entry);
  const { journal, answer, divergence } = replay(recorded);
  expect(divergence).toBeNull();
  expect(journal.flatMap((entry) => (entry.type === 'phase-start' ? [entry.phase] : []))).toEqual(${listOf(phases)});
  expect(journal.flatMap((entry) => (entry.type === 'decision' ? [entry.decision.rule] : []))).toEqual(${listOf(rules)});
  expect(answer?.status ?? null).toBe(${status === null ? 'null' : quoted(status)});
});
`;
}

/** Model text is data: in a source it stands as a literal, on one line. */
function quoted(text: string): string {
  const inside = JSON.stringify(oneLine(text)).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'");
  return `'${inside.replace(/[\u2028\u2029]/gu, ' ')}'`;
}

/** A path may hold what means something else in an address. */
const addressOf = (path: string): string => path.split('/').map(encodeURIComponent).join('/');

const titleOf = (request: string): string => oneLine(request).slice(0, MAX_TITLE_CHARS);

function listOf(words: readonly string[]): string {
  const line = `[${words.map(quoted).join(', ')}]`;
  return line.length < 60 ? line : `[\n    ${words.map(quoted).join(',\n    ')},\n  ]`;
}
