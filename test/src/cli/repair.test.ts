import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { replay } from '../../../src/chain/journal/replay.ts';
import { repairCommand } from '../../../src/cli/repair-command.ts';
import { fileJournals, readJournal } from '../../../src/journal/file-journals.ts';
import { entriesOf, linesOf } from '../../../src/journal/journal-lines.ts';
import { temporaryFolder } from '../../support/cli.ts';
import { startScripted } from '../../support/run-chain.ts';

/** A run recorded in a directory, and its file. */
async function recorded() {
  const folder = temporaryFolder();
  const { run } = startScripted({}, { journals: fileJournals(folder) });
  await run.answer;
  return {
    folder,
    path: join(folder, 'run-1.jsonl'),
    journal: JSON.parse(JSON.stringify(run.journal)) as JournalEntry[],
  };
}

describe('postchain journals repair', () => {
  it('changes nothing of a whole journal', async () => {
    const { folder, journal } = await recorded();
    expect(await repairCommand('run-1', { journals: folder, output: join(folder, 'out') })).toBe(
      `The journal is whole: ${journal.length} entries.\n`,
    );
    expect(existsSync(join(folder, 'out.jsonl'))).toBe(false);
  });

  it('recovers the entries before and after the damage, and leaves the journal as it is', async () => {
    const { folder, path, journal } = await recorded();
    const lines = readFileSync(path, 'utf8').split('\n');
    const at = Math.floor(lines.length / 2);
    const damaged = lines.with(at, (lines[at] ?? '').replace(/"deflate":"..../u, '"deflate":"AAAA')).join('\n');
    writeFileSync(path, damaged);
    const output = join(folder, 'out');
    const text = await repairCommand('run-1', { journals: folder, output });
    expect(text).toMatch(/^Damaged: run run-1: cannot read entry \d+: /u);
    expect(text).toContain(`postchain resume ${output}.jsonl`);
    const before = await entriesOf(readJournal(`${output}.jsonl`));
    expect(before.length).toBeGreaterThan(10);
    expect(before).toEqual(journal.slice(0, before.length));
    expect(replay(before).divergence).toBeNull();
    const after = readFileSync(`${output}.after.jsonl`, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(after.at(-1)).toEqual(journal.at(-1));
    for (const entry of after) expect(entry).toEqual(journal[entry.seq]);
    expect(readFileSync(path, 'utf8')).toBe(damaged);
  });

  it('recovers every entry but the damaged one of a journal with one entry per line', async () => {
    const { folder, path, journal } = await recorded();
    const plain = join(folder, 'plain.jsonl');
    writeFileSync(plain, linesOf(await entriesOf(readJournal(path))));
    const lines = readFileSync(plain, 'utf8').split('\n');
    writeFileSync(plain, lines.with(20, '{"seq":20,"atMs"').join('\n'));
    await repairCommand(plain, { output: join(folder, 'out') });
    expect(await entriesOf(readJournal(join(folder, 'out.jsonl')))).toEqual(journal.slice(0, 20));
    const after = readFileSync(join(folder, 'out.after.jsonl'), 'utf8').trim().split('\n');
    expect(after.map((line) => JSON.parse(line))).toEqual(journal.slice(21));
  });

  it('does not overwrite a file unless forced', async () => {
    const { folder, path } = await recorded();
    writeFileSync(path, readFileSync(path, 'utf8').replace(/"deflate":"..../u, '"deflate":"AAAA'));
    writeFileSync(join(folder, 'out.after.jsonl'), 'mine');
    const flags = { journals: folder, output: join(folder, 'out') };
    await expect(repairCommand('run-1', flags)).rejects.toThrow('already exists; use --force to overwrite it, or -o');
    expect(await repairCommand('run-1', { ...flags, force: true })).toContain('No entry before the damage');
  });
});
