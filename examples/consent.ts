import { contextHistory, contextOf, createPostChain, undo } from 'postchain';

const run = createPostChain({ consent: 'ask' }).run({
  request: 'Why is the cellar damp?',
  history: [
    { role: 'user', content: `The cellar is damp. ${'It was dug in winter, beside the old well. '.repeat(30)}` },
    { role: 'user', content: `Never mind the attic. ${'It is dry up there. '.repeat(60)}` },
  ],
});

for await (const event of run.events) {
  if (event.type === 'consent-asked') {
    const choices = event.request.items.map(
      ({ messageId, preview }) => [messageId, preview.startsWith('Never mind') ? 'remove' : 'summarize'] as const,
    );
    const { questionId } = event;
    run.send({ type: 'consent.given', questionId, choice: 'keep', items: Object.fromEntries(choices) });
  }
  if (event.type === 'context-evaluated')
    for (const { operationId, messageId, reason } of event.pruningLog) console.log(operationId, messageId, reason);
}

const history = contextHistory(run.entries);
const removal = history.operations.find(({ operation, target }) => operation === 'PRUNE' && target === 'earlier.h2');
const restored = undo(history, removal?.id ?? '');
console.log(contextOf(history).map(({ id }) => id));
console.log(contextOf(restored).map(({ id, content }) => `${id}: ${content.slice(0, 21)}`));
