import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JournalEntry } from '../../../machines/contracts/journal-entry.ts';
import { openJournalFile } from '../../../src/journal/jsonl-file.ts';
import { temporaryFolder } from '../../support/cli.ts';

const entry = (seq: number): JournalEntry => ({ seq, atMs: 1, type: 'text-delta', attemptId: 'a', text: 'one\ntwo' });

describe('a journal as a file', () => {
  it('has every entry on a line of its own as soon as it is written', () => {
    const path = join(temporaryFolder(), 'run.jsonl');
    const file = openJournalFile(path);
    for (const seq of [0, 1, 2]) {
      file.write(entry(seq));
      expect(
        readFileSync(path, 'utf8')
          .split('\n')
          .slice(0, -1)
          .map((line) => JSON.parse(line)),
      ).toHaveLength(seq + 1);
    }
    file.close();
    expect(file.failure).toBeNull();
  });

  it('in a folder that is not there is refused', () => {
    expect(() => openJournalFile(join(temporaryFolder(), 'none', 'run.jsonl'))).toThrow(
      expect.objectContaining({ code: 'invalid_path' }),
    );
  });

  it.skipIf(!existsSync('/dev/full'))('that is full says so, and throws nothing', () => {
    const file = openJournalFile('/dev/full');
    file.write(entry(0));
    file.write(entry(1));
    expect(file.failure).toContain('ENOSPC');
    file.close();
  });
});
