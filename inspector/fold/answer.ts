import type { RunStart } from '../../machines/contracts/journal.ts';
import type { FinalAnswer } from '../../machines/contracts/synthesis.ts';
import { isStored } from '../../src/chain/journal/run-start.ts';
import type { RunLog } from '../wire/run-log.ts';
import { entryAt } from './entry-index.ts';
import type { RunFold } from './run-fold.ts';
import { lastUpTo } from './sorted.ts';

/** The first entry; null for the systems of other programs. */
export function runStart(log: RunLog): RunStart | null {
  const start = log.count > 0 ? log.entry(0) : null;
  return start?.type === 'start' && !isStored(start) ? start : null;
}

export function answerUpTo(
  log: RunLog,
  { entries }: RunFold,
  seq: number,
): { readonly seq: number; readonly answer: FinalAnswer } | null {
  return entryAt(log, lastUpTo(entries.of('answer'), seq), 'answer');
}
