import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sqliteJournals } from '../../../../src/journal/stores/sqlite-journals.ts';
import { temporaryFolder } from '../../../support/cli.ts';
import { startScripted } from '../../../support/run-chain.ts';

describe('journals in SQLite', () => {
  it('whose file is closed end no run', async () => {
    const store = sqliteJournals(join(temporaryFolder(), 'runs.db'));
    const { run } = startScripted({}, { journals: store });
    store.close();
    expect((await run.answer).answerText).not.toBe('');
    for await (const _ of run.events);
    expect(run.journalFailure).toMatch(/not open/u);
  });

  it('in a file of another program are refused, and leave it as it is', () => {
    const path = join(temporaryFolder(), 'notes.txt');
    writeFileSync(path, 'These are my notes, and no database at all. '.repeat(30));
    const before = readFileSync(path);
    expect(() => sqliteJournals(path).create('a')).toThrow(expect.objectContaining({ code: 'invalid_path' }));
    expect(readFileSync(path)).toEqual(before);
    expect(() => sqliteJournals(':memory:')).toThrow(expect.objectContaining({ code: 'invalid_option' }));
  });
});
