import { expect, it, onTestFinished } from 'vitest';
import { runClient, startRestate, startService } from '../support/restate-cluster.ts';

it('the example serves a chain over the documents of the repository without a language model', async () => {
  const restate = await startRestate();
  onTestFinished(restate.stop);
  const service = await startService('example');
  onTestFinished(service.kill);
  await restate.register(service.uri);
  const run = runClient(restate, 'example', 'postchain');
  await run.workflowSubmit({ request: 'What does Yield decide?' });
  const { answerText, sources } = await run.workflowAttach();
  expect(answerText).not.toBe('');
  expect(sources.length).toBeGreaterThan(0);
});
