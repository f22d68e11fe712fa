import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Journals } from '../../../../src/durable/journals/journal-store.ts';
import { memoryJournals } from '../../../../src/durable/journals/memory-journals.ts';
import { sqliteJournals } from '../../../../src/durable/journals/sqlite-journals.ts';
import { temporaryFolder } from '../../../support/cli.ts';
import '../../../support/fast-check-seed.ts';
import { checkQueue, queueArb } from '../../../support/queued-journals.ts';

const STORES: readonly (readonly [string, () => Journals])[] = [
  ['memory', () => memoryJournals()],
  ['SQLite', () => sqliteJournals(join(temporaryFolder(), 'actors.db'))],
];

describe.each(STORES)('a queue in %s', (_, open) => {
  it('begins what its limits allow, in order, whatever happens to its journals', async () => {
    await fc.assert(fc.asyncProperty(queueArb, (scenario) => checkQueue(open(), scenario)));
    expect.assertions(expect.getState().assertionCalls);
  });
});
