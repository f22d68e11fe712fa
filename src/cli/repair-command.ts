import { existsSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { PostChainError } from '../../machines/contracts/error.ts';
import { linesOf } from '../journal/journal-lines.ts';
import { salvageRun } from '../journal/journal-store.ts';
import { findRun, type JournalFlags } from './find-run.ts';

export interface RepairFlags extends JournalFlags {
  readonly output?: string;
  readonly force?: boolean;
}

/**
 * `postchain journals repair`: writes the entries before a journal's damage to a file that can be resumed, and those after it to another.
 * Does not change the journal itself. Returns the text to print.
 */
export async function repairCommand(name: string, { output, force = false, ...flags }: RepairFlags): Promise<string> {
  const { store, runId, isFile } = await findRun(name, flags);
  const { before, after, problem } = await salvageRun(store, runId);
  if (problem === null) return `The journal is whole: ${before.length} entries.\n`;
  const stem = output ?? `${isFile ? basename(runId).replace(/\.jsonl$/u, '') : encodeURIComponent(runId)}.repaired`;
  const files = [
    { path: `${stem}.jsonl`, text: linesOf(before), isNeeded: before.length > 0 },
    {
      path: `${stem}.after.jsonl`,
      text: after.map((entry) => `${JSON.stringify(entry)}\n`).join(''),
      isNeeded: after.length > 0,
    },
  ].filter(({ isNeeded }) => isNeeded);
  const existing = files.find(({ path }) => existsSync(path));
  if (existing !== undefined && !force)
    throw new PostChainError('invalid_path', `${existing.path} already exists; use --force to overwrite it, or -o`);
  for (const { path, text } of files) writeFileSync(path, text, { mode: 0o600 });
  const last = before.at(-1);
  return [
    `Damaged: ${problem}`,
    before.length === 0
      ? 'No entry before the damage can be read.'
      : `Before the damage: ${before.length} entries, written to ${stem}.jsonl`,
    ...(last !== undefined && last.type !== 'run-end'
      ? [`To continue the run from there: postchain resume ${stem}.jsonl`]
      : []),
    after.length === 0
      ? 'No entry after the damage can be read.'
      : `After the damage: ${after.length} entries, written to ${stem}.after.jsonl (for reading only)`,
    '',
  ].join('\n');
}
