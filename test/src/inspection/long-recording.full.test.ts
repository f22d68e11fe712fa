import { expect, it, vi } from 'vitest';
import { memoryJournals } from '../../../src/durable/journals/memory-journals.ts';
import { openPage, startInspector } from '../../support/inspection-server.ts';
import { scriptedChain } from '../../support/run-chain.ts';

vi.mock('../../../src/inspection/wire.ts', async (original) => ({
  ...(await original<typeof import('../../../src/inspection/wire.ts')>()),
  MAX_ENTRIES_WITH_STATES: 10,
}));

it('sends the states of a long recording only on request', async () => {
  const journals = memoryJournals();
  const { chain } = scriptedChain({}, { journals, newId: () => 'run-1' });
  await chain.run({ request: 'Is it long?' }).answer;
  const page = await openPage((await startInspector({ journals })).url);
  page.say({ type: 'open', runId: 'run-1', from: 0 });
  await page.end('run-1');
  const count = page.lines('run-1').length;
  expect(count).toBeGreaterThan(10);
  expect(page.all('states')).toEqual([]);
  page.say({ type: 'open', runId: 'run-1', from: count, states: true });
  await expect.poll(() => page.all('states').length).toBeGreaterThan(0);
  expect(page.lines('run-1')).toHaveLength(count);
});
