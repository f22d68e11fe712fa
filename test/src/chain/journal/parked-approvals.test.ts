import { expect, it } from 'vitest';
import * as z from 'zod';
import { pendingApprovals } from '../../../../machines/policies/questions.ts';
import { readRun, runSummary } from '../../../../src/chain/journal/run-journal.ts';
import { entriesOf } from '../../../../src/durable/journals/journal-store.ts';
import { memoryJournals } from '../../../../src/durable/journals/memory-journals.ts';
import { createWorker } from '../../../../src/entries/durable.ts';
import { createPostChain } from '../../../../src/entries/index.ts';
import { always, scriptedModel } from '../../../../src/models/scripted.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { settle } from '../../../../src/testing/settle.ts';
import { capabilityNamed } from '../../../support/run-chain.ts';
import { TestClock } from '../../../support/simulated-clock.ts';

const HOUR = 3_600_000;

function setUp() {
  const clock = new TestClock();
  clock.set(Date.parse('2026-01-01T00:00:00Z'));
  const journals = memoryJournals();
  const paid: unknown[] = [];
  const payAs = (schema: z.ZodType<object>) =>
    capabilityNamed('pay', (args) => void paid.push(args), { arguments: schema, approval: 'always' });
  const calls = [{ capability: 'pay', arguments: '{"euros":5}' }];
  const model = scriptedModel({ action: always({ reply: { ...replies.action, calls } }) }, { otherwise: replies });
  const limits = { totalMs: 60_000, approvalMs: 2 * HOUR };
  const create = (schema: z.ZodType<object> = z.object({ euros: z.number() })) =>
    createPostChain({ model, clock, journals, capabilities: [payAs(schema)], limits, newId: () => 'run-1' });
  return { clock, journals, paid, create };
}

async function parked() {
  const setup = setUp();
  const run = setup.create().run({ request: 'Pay.' });
  await settle();
  const [asked] = pendingApprovals(run.entries);
  if (asked === undefined) throw new Error('no approval was asked for');
  expect(await run.park()).toBe(true);
  expect(setup.clock.openTimers).toBe(0);
  return { ...setup, asked };
}

it('a run that waits for approval parks, and the approval continues it in another chain', async () => {
  const { clock, journals, paid, create, asked } = await parked();
  const { questionId, digest } = asked;
  expect((await journals.list()).map(runSummary)).toMatchObject([
    {
      status: 'waiting',
      waiting: {
        for: 'approval',
        questionIds: [questionId],
        since: '2026-01-01T00:00:00.000Z',
        due: '2026-01-01T02:00:00.000Z',
      },
    },
  ]);
  clock.increment(HOUR);
  const run = await create().send('run-1', { type: 'approval.given', questionId, digest, decision: 'approve' });
  expect((await run.answer).status).toBe('completed');
  expect(paid).toEqual([{ euros: 5 }]);
});

it('a chain without the tools of a run leaves it to one that has them', async () => {
  const { clock, journals, paid, create, asked } = await parked();
  const { questionId, digest } = asked;
  const before = await entriesOf(journals.read('run-1'));
  const other = createPostChain({ clock, journals, capabilities: [capabilityNamed('ship')] });
  const answer = { type: 'approval.given', questionId, digest, decision: 'approve' } as const;
  const missing = {
    code: 'invalid_option',
    message: expect.stringMatching(/^Run run-1 needs the tools pay; [^\n]+$/u),
  };
  await expect(other.resume('run-1', { force: true })).rejects.toMatchObject(missing);
  await expect(other.send('run-1', answer)).rejects.toMatchObject(missing);
  await expect(other.advance('run-1')).rejects.toMatchObject(missing);
  expect(await entriesOf(journals.read('run-1'))).toEqual(before);
  const run = await create().send('run-1', answer);
  expect([(await run.answer).status, paid]).toEqual(['completed', [{ euros: 5 }]]);
  // A run that has ended needs none.
  expect((await (await other.resume('run-1')).answer).status).toBe('completed');
});

it('two answers at once continue one run, which counts the first, and refuses the second', async () => {
  const { journals, paid, create, asked } = await parked();
  const { questionId, digest } = asked;
  const chain = create();
  const worker = createWorker({ hosts: [chain] });
  const answer = { type: 'approval.given', questionId, digest, decision: 'approve' } as const;
  const [one, other] = await Promise.all([chain.send('run-1', answer), chain.send('run-1', answer), worker.poll()]);
  expect(other).toBe(one);
  expect((await one.answer).status).toBe('completed');
  expect(paid).toEqual([{ euros: 5 }]);
  expect(one.entries).toEqual(await readRun(journals.read('run-1')));
  const types = one.entries.map(({ type }) => type);
  expect([types.filter((type) => type === 'answer'), types.filter((type) => type === 'answer-refused')]).toEqual([
    ['answer'],
    ['answer-refused'],
  ]);
  await worker.stop();
});

it.each<[string, z.ZodType<object>]>([
  ['another limit', z.object({ euros: z.number().max(4) })],
  ['another key', z.object({ dollars: z.number().optional() })],
])('[Q2] an approved call whose schema has %s since is validated again, and does not run', async (_, schema) => {
  const { paid, create, asked } = await parked();
  const { questionId, digest } = asked;
  const run = await create(schema).send('run-1', { type: 'approval.given', questionId, digest, decision: 'approve' });
  await run.answer;
  expect(paid).toEqual([]);
  expect(run.entries).toContainEqual(
    expect.objectContaining({
      type: 'capability-end',
      result: expect.objectContaining({ success: false, code: 'arguments_misfit' }),
    }),
  );
});

it('the time for an approval passes while its run is parked', async () => {
  const { clock, paid, create } = await parked();
  clock.increment(2 * HOUR);
  const chain = create();
  expect(await chain.due()).toEqual([{ id: 'run-1', crashes: 0 }]);
  expect((await (await chain.resume('run-1')).answer).answerText).not.toBe('');
  expect(paid).toEqual([]);
});
