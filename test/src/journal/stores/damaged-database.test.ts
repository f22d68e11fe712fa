import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { JournalEntry } from '../../../../machines/contracts/journal-entry.ts';
import { sqliteJournals } from '../../../../src/journal/stores/sqlite-journals.ts';
import { temporaryFolder } from '../../../support/cli.ts';
import { startScripted } from '../../../support/run-chain.ts';

it('[promise 6] of which a bit was flipped gives an error or the journal, and leaves the process alive', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'runs.db');
  const store = sqliteJournals(path);
  const { run } = startScripted({}, { journals: store });
  await run.answer;
  store.close();
  const [whole, lines] = [readFileSync(path), run.journal.map((entry) => JSON.stringify(entry))];
  const places = 60;
  for (let place = 0; place < places; place += 1) {
    const bytes = Buffer.from(whole);
    const at = Math.floor((place * bytes.length) / places);
    // The highest bit of a letter makes a byte that no text has.
    bytes[at] = (bytes[at] ?? 0) ^ 0x80;
    const damaged = sqliteJournals(join(folder, `${place}.db`));
    writeFileSync(join(folder, `${place}.db`), bytes);
    const read: JournalEntry[] = [];
    try {
      for await (const entry of damaged.read('run-1')) read.push(entry);
    } catch (error) {
      expect(error).toMatchObject({ code: expect.stringMatching(/^invalid_(?:journal|path)$/u) });
    }
    expect(read.map((entry) => JSON.stringify(entry))).toEqual(lines.slice(0, read.length));
    await damaged.list().catch((error) => expect(error).toMatchObject({ code: 'invalid_path' }));
    damaged.close();
  }
});
