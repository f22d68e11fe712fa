import { fileJournals } from '../../dist/node.js';

/** Opens a run when it is told to, at a given time, and tells whether it may write it. */
process.on('message', async ({ folder, runId, atMs }) => {
  while (Date.now() < atMs);
  const had = await fileJournals(folder)
    .open(runId)
    .then(
      () => 'written',
      ({ message }) => message,
    );
  process.send(had);
});
process.send('ready');
