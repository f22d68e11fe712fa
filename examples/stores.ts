import { PGlite } from '@electric-sql/pglite';
import { createPostChain } from 'postchain';
import { postgresJournals } from 'postchain/postgres';

// PGlite is PostgreSQL in this process. A server needs a connection string.
const journals = postgresJournals(new PGlite());
const chain = createPostChain({ journals });

const run = chain.run({ request: 'What does the Yield phase decide?' });
// In any process: every entry once, in order, as it is written.
for await (const { seq, type } of journals.follow(run.id)) console.log(seq, type);

const page = await journals.list({ status: 'done', where: { status: 'degraded' }, limit: 50 });
console.log(page.length); // 1
await journals.prune({ olderThanMs: 30 * 24 * 60 * 60 * 1_000 });
await journals.close();
