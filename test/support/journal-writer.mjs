import { journalsAt } from './journals-at.mjs';

/**
 * Writes a journal at the commands of its parent: `node journal-writer.mjs file|sqlite|postgres PLACE`. `{ create: RUN }` and `{ open: RUN, force }`
 * take the journal, `{ write: ENTRIES }` appends to it, `{ close: true }` releases it. Each is answered with the failure, or null.
 */
const [, , kind, place] = process.argv;
const store = journalsAt(kind, place);
let writer = null;

async function handle({ create, open, force, write, close }) {
  if (create !== undefined) writer = store.create(create);
  if (open !== undefined) ({ writer } = await store.open(open, { force }));
  if (write !== undefined) await writer.write(write);
  if (close) await writer.close();
  return writer.failure;
}

process.on('disconnect', () => process.exit());
process.on('message', async (message) => {
  process.send(await handle(message).catch((error) => error.message));
});
process.send('ready');
// Keeps running without a message.
setInterval(() => {}, 60_000);
