import { PGlite } from '@electric-sql/pglite';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { postgresJournals } from '../../../../src/durable/journals/postgres-journals.ts';
import { hasPostgres, type PostgresServer, startPostgres } from '../../../support/postgres.ts';
import '../../../support/fast-check-seed.ts';
import { checkQueue, queueArb } from '../../../support/queued-journals.ts';

it('a queue in PGlite begins what its limits allow, in order, whatever happens to its journals', async () => {
  const pglite = await PGlite.create();
  onTestFinished(() => pglite.close());
  const check = async (scenario: Parameters<typeof checkQueue>[1]): Promise<void> => {
    await pglite.exec('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
    await checkQueue(postgresJournals(pglite), scenario);
  };
  await fc.assert(fc.asyncProperty(queueArb, check));
  expect.assertions(expect.getState().assertionCalls);
});
