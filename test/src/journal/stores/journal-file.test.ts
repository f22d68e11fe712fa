import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JournalEntry } from '../../../../machines/contracts/journal-entry.ts';
import { fileJournals, journalFile } from '../../../../src/journal/stores/file-journals.ts';
import { temporaryFolder } from '../../../support/cli.ts';

const entry = (seq: number): JournalEntry => ({ seq, atMs: 1, type: 'text-delta', attemptId: 'a', text: 'one\ntwo' });

describe('journals in a folder', () => {
  it('leave alone what is none of theirs', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, '50%.jsonl'), 'x');
    mkdirSync(join(folder, 'old.jsonl'));
    expect(await fileJournals(folder).list()).toEqual([]);
  });

  it('are refused where the folder is a file', async () => {
    const path = join(temporaryFolder(), 'journals');
    writeFileSync(path, 'x');
    await expect(fileJournals(path).list()).rejects.toThrow(
      expect.objectContaining({ code: 'invalid_path', message: expect.stringContaining('no folder') }),
    );
  });
});

describe('a journal as one file', () => {
  it('has every entry on a line of its own as soon as it is written', () => {
    const path = join(temporaryFolder(), 'run.jsonl');
    const writer = journalFile(path).create('a');
    for (const seq of [0, 1, 2]) {
      writer.write(entry(seq));
      expect(
        readFileSync(path, 'utf8')
          .split('\n')
          .slice(0, -1)
          .map((line) => JSON.parse(line)),
      ).toHaveLength(seq + 1);
    }
    writer.close();
    expect(writer.failure).toBeNull();
  });

  it('takes the place of the one that stood there, unless that is being written', () => {
    const path = join(temporaryFolder(), 'run.jsonl');
    const first = journalFile(path).create('a');
    first.write(entry(0));
    expect(() => journalFile(path).create('b')).toThrow(/under way in the process/u);
    first.close();
    journalFile(path).create('b').close();
    expect(readFileSync(path, 'utf8')).toBe('');
  });

  it('in a folder that is not there is refused', () => {
    expect(() => journalFile(join(temporaryFolder(), 'none', 'run.jsonl')).create('a')).toThrow(
      expect.objectContaining({ code: 'invalid_path' }),
    );
  });

  it.skipIf(!existsSync('/dev/full'))('that is full says so, and throws nothing', () => {
    const writer = journalFile('/dev/full').create('a');
    writer.write(entry(0));
    writer.write(entry(1));
    expect(writer.failure).toContain('ENOSPC');
    writer.close();
    expect(existsSync('/dev/full.lock')).toBe(false);
  });
});
