import { describe, expect, it } from 'vitest';
import { replay } from '../../../../src/chain/journal/replay.ts';
import { readRun, runSummary } from '../../../../src/chain/journal/run-journal.ts';
import type { PostChainOptions } from '../../../../src/chain/runtime/options.ts';
import type { Run } from '../../../../src/chain/runtime/run.ts';
import type { JournalStore } from '../../../../src/durable/journals/journal-store.ts';
import { memoryJournals } from '../../../../src/durable/journals/memory-journals.ts';
import { createPostChain } from '../../../../src/entries/index.ts';
import { fileJournals } from '../../../../src/entries/node.ts';
import { temporaryFolder } from '../../../support/cli.ts';
import { JOURNAL_STORES, killedAfter, withWriters } from '../../../support/journal-files.ts';
import { entriesOf, plannedModel, scriptedChain, settle } from '../../../support/run-chain.ts';
import { TestClock } from '../../../support/simulated-clock.ts';

const history = [{ role: 'user' as const, content: `Please look into this. ${'It is a long story. '.repeat(80)}` }];
const limits = { totalMs: 10_000, consentMs: 60_000 };

/** A chain whose runs ask for consent, and others with the same journals and clock. */
function setUp({ journals = memoryJournals(), ...options }: Omit<PostChainOptions, 'model' | 'clock'> = {}) {
  const clock = new TestClock();
  clock.set(Date.parse('2026-01-01T00:00:00Z'));
  const model = plannedModel({});
  const create = (store = journals) =>
    createPostChain({ consent: 'ask', newId: () => 'run-1', ...options, limits, journals: store, model, clock });
  const start = async (chain = create()) => {
    const run = chain.run({ request: 'Is it so?', history });
    await settle();
    return { chain, run };
  };
  return { clock, create, start, journals, model };
}

const runsIn = async (journals: JournalStore) => (await journals.list()).map(runSummary);
const questionOf = (run: Run): string => entriesOf(run, 'consent-asked')[0]?.questionId ?? '';
const keep = (questionId: string) => ({ type: 'consent.given', choice: 'keep', questionId }) as const;

describe.each(JOURNAL_STORES)('a run that waits for consent, with its journal in %s', (_, store) => {
  it('parks, is listed with its question, and continues in another chain', async () => {
    const { clock, create, start, journals, model } = setUp({ journals: store() });
    const { run } = await start();
    clock.increment(1_000);
    expect(await run.park()).toBe(true);
    expect(clock.openTimers).toBe(0);
    const types: string[] = [];
    for await (const { type } of run.events) types.push(type);
    expect(types.at(-1)).toBe('closed');
    const questionId = questionOf(run);
    expect(await runsIn(journals)).toMatchObject([
      {
        status: 'waiting',
        waiting: {
          for: 'consent',
          questionIds: [questionId],
          since: '2026-01-01T00:00:00.000Z',
          due: '2026-01-01T00:01:00.000Z',
        },
      },
    ]);
    const calls = model.calls.length;
    // The limit of the whole run does not count the time outside memory.
    clock.increment(30_000);
    const resumed = await create().send('run-1', keep(questionId));
    expect(await resumed.answer).toMatchObject({ status: 'completed' });
    expect(resumed.entries.at(-1)?.atMs).toBe(1_000);
    expect(entriesOf(resumed, 'consent-resolved')).toMatchObject([{ by: 'user' }]);
    expect(model.calls).toHaveLength(calls);
    const stored = await readRun(journals.read('run-1'));
    expect(stored).toEqual(JSON.parse(JSON.stringify(resumed.entries)));
    expect(replay(stored).divergence).toBeNull();
    expect(await runsIn(journals)).toMatchObject([{ status: 'completed', waiting: null }]);
  });
});

describe('a parked run', () => {
  it('keeps everything when the time for consent is over, also that outside memory', async () => {
    const { clock, create, start } = setUp();
    const { run } = await start();
    await run.park();
    clock.increment(59_000);
    const chain = create();
    expect(await chain.due()).toEqual([]);
    clock.increment(1_000);
    expect(await chain.due()).toEqual([{ id: 'run-1', crashes: 0 }]);
    const resumed = await chain.resume('run-1');
    expect(await resumed.answer).toMatchObject({ status: 'completed' });
    expect(entriesOf(resumed, 'consent-resolved')).toMatchObject([{ by: 'time-out' }]);
  });

  it('leaves the time in the queue out of the time for consent, also after a kill', async () => {
    let ids = 0;
    const { clock, start, journals, create } = setUp({ maxConcurrentRuns: 1, newId: () => `run-${++ids}` });
    const { chain, run: first } = await start();
    const { run } = await start(chain);
    clock.increment(30_000);
    first.cancel();
    await settle();
    expect(entriesOf(run, 'resumed')).toMatchObject([{ resumedAt: '2026-01-01T00:00:30.000Z', wasPaused: true }]);
    const left = killedAfter(await readRun(journals.read('run-2')), 'run-2');
    clock.increment(20_000);
    const resumed = await create(left).resume('run-2');
    await resumed.park();
    expect(await runsIn(left)).toMatchObject([{ waiting: { due: '2026-01-01T00:01:30.000Z' } }]);
    expect(replay(resumed.entries).divergence).toBeNull();
  });

  it('frees its slot, and parks by itself', async () => {
    let ids = 0;
    const { clock, start } = setUp({ maxConcurrentRuns: 1, parkAfterMs: 5_000, newId: () => `run-${++ids}` });
    const { chain } = await start();
    const second = chain.run({ request: 'And then?' });
    await settle();
    expect(second.entries.some(({ type }) => type === 'activity-start')).toBe(false);
    clock.increment(5_000);
    expect(await second.answer).toMatchObject({ status: 'completed' });
  });

  it('frees its slot if it was resumed again while it was in memory', async () => {
    let ids = 0;
    const { start } = setUp({ maxConcurrentRuns: 1, newId: () => `run-${++ids}` });
    const { chain, run } = await start();
    expect(await chain.resume(run.id)).toMatchObject({ id: run.id });
    expect(await run.park()).toBe(true);
    const second = chain.run({ request: 'And then?' });
    await settle();
    expect(second.entries.map(({ type }) => type)).toContain('activity-start');
  });

  it('is not parked without a journal, or after its journal has failed', async () => {
    const bare = scriptedChain().chain.run({ request: 'Is it so?', history });
    await settle();
    expect(await bare.park()).toBe(false);
    const full = withWriters(memoryJournals(), (writer) => ({
      ...writer,
      write(entries) {
        if (JSON.stringify(entries).includes('consent-asked')) throw new Error('disk full');
        return writer.write(entries);
      },
    }));
    const { clock, start } = setUp({ journals: full, parkAfterMs: 1 });
    const { run } = await start();
    expect([await run.park(), run.journalFailure]).toEqual([false, 'disk full']);
    clock.increment(100);
    run.cancel();
    expect((await run.answer).status).toBe('cancelled');
  });

  it('receives an event that arrives while it parks', async () => {
    const { start } = setUp();
    const { chain, run } = await start();
    const questionId = questionOf(run);
    const [isParked, resumed] = await Promise.all([run.park(), chain.send('run-1', keep(questionId))]);
    expect(isParked).toBe(true);
    expect(await resumed.answer).toMatchObject({ status: 'completed' });
    expect(entriesOf(resumed, 'consent-resolved')).toMatchObject([{ by: 'user' }]);
    await expect(chain.send('run-1', { type: 'nonsense' } as never)).resolves.toMatchObject({ id: 'run-1' });
  });

  it('receives an event that another part of the program sends while it starts', async () => {
    const chain = createPostChain({ model: plannedModel({}), journals: fileJournals(temporaryFolder()) });
    const runs = ['Is it so?', 'And why?'].map((request) => chain.run({ request }));
    await Promise.all(runs.map(({ id: runId }) => chain.send(runId, { type: 'run.cancelled' })));
    const answers = await Promise.all(runs.map(({ answer }) => answer));
    expect(answers.map(({ status }) => status)).toEqual(['cancelled', 'cancelled']);
  });

  it('continues from a kill at each entry around parking', async () => {
    const { start, journals } = setUp();
    const { run, chain } = await start();
    await run.park();
    const questionId = questionOf(run);
    await (await chain.send('run-1', keep(questionId))).answer;
    const whole = await readRun(journals.read('run-1'));
    const from = whole.findIndex(({ type }) => type === 'consent-asked');
    for (let length = from + 1; length < whole.length; length += 1) {
      const left = killedAfter(whole.slice(0, length));
      const last = whole[length - 1]?.type;
      expect((await left.list())[0]?.status).toBe(last === 'closed' ? 'waiting' : 'interrupted');
      const { create: other } = setUp({ journals: left });
      const resumed = await other().send('run-1', keep(questionId));
      expect((await resumed.answer).status, `killed at ${length} (${last})`).toBe('completed');
      expect(entriesOf(resumed, 'consent-resolved'), `killed at ${length}`).toMatchObject([{ by: 'user' }]);
    }
  });
});
