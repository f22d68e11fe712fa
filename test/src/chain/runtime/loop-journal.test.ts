import { describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import { journalEntrySchema } from '../../../../machines/contracts/journal.ts';
import { createCapabilityLoop } from '../../../../src/chain/runtime/capability-loop.ts';
import { LOOP_HOSTS, type LoopScript, type StartedLoop, startLoop } from '../../../support/capability-loops.ts';
import { throwing } from '../../../support/errors.ts';
import { capabilityNamed, entriesOf } from '../../../support/run-chain.ts';

const step = (capability: string) => ({ done: false, next: { capability, arguments: {} } }) as const;
const continuation = (capability: string) => ({
  done: false,
  finalOutput: null,
  next: [{ capability, arguments: '{}' }],
});

/** Three runs of 40, 7, and 30 milliseconds: the second one throws, the third one times out. */
const threeRuns: LoopScript = {
  execute: { review: throwing('no pen'), summarize: () => new Promise(() => {}) },
  options: { limits: { capabilityMs: 30 } },
};

function timed(way: (typeof LOOP_HOSTS)[number], script: LoopScript): StartedLoop {
  const played: StartedLoop = startLoop(way, {
    ...script,
    execute: {
      ...threeRuns.execute,
      draft: () => {
        played.clock.increment(20);
        return 'a draft';
      },
    },
  });
  return played;
}

describe.each(LOOP_HOSTS)('[R8] the journal of a loop through %s', (way) => {
  it.each<[string, LoopScript]>([
    [
      'function',
      {
        options: {
          ...threeRuns.options,
          continuation: ({ results }) =>
            ([step('review'), step('summarize')] as const)[results.length - 1] ?? { done: true },
        },
      },
    ],
    [
      'model',
      {
        options: { ...threeRuns.options, continuation: 'model' },
        continuations: [continuation('review'), continuation('summarize'), { done: true, finalOutput: null, next: [] }],
      },
    ],
  ])('records each iteration with its kind, duration, and decider: a %s', async (decidedBy, script) => {
    const played = timed(way, script);
    await played.end();
    expect(entriesOf(played, 'capability-start')).toMatchObject([
      { capability: 'draft', index: 1 },
      { capability: 'review', index: 2 },
      { capability: 'summarize', index: 3 },
    ]);
    expect(entriesOf(played, 'capability-end')).toMatchObject([
      { index: 1, result: { success: true, code: null, durationMs: 20 } },
      { index: 2, result: { success: false, code: 'threw', error: 'no pen', durationMs: 0 } },
      { index: 3, result: { success: false, code: 'timed_out', durationMs: 30 } },
    ]);
    expect(entriesOf(played, 'continuation')).toMatchObject([
      { index: 1, decidedBy, done: false, next: ['review'], limitReached: false },
      { index: 2, decidedBy, done: false, next: ['summarize'], limitReached: false },
      { index: 3, decidedBy, done: true, next: [], limitReached: false },
    ]);
    expect(entriesOf(played, 'capability-stop')).toMatchObject([
      { reason: 'done', runs: 3, failed: 2, capabilityMs: 50, code: null, problem: null },
    ]);
  });

  it('has valid entries in order of occurrence', async () => {
    const decider = ({ results }: { results: readonly unknown[] }) =>
      results.length === 1 ? step('review') : ({ done: true } as const);
    const played = startLoop(way, { options: { continuation: decider } });
    await played.end();
    const recorded = played.entries.map(({ type }) => type).filter((type) => /capability|continuation/.test(type));
    const iteration = ['capability-start', 'capability-end', 'continuation'];
    expect(recorded).toEqual([...iteration, ...iteration, 'capability-stop']);
    for (const found of played.entries) expect(journalEntrySchema.parse(found)).toEqual(found);
  });

  it('[R5] records the final output of a decider', async () => {
    const played = startLoop(way, { options: { continuation: () => ({ done: true, finalOutput: 'the end' }) } });
    await played.end();
    expect(entriesOf(played, 'continuation')).toMatchObject([{ done: true, finalOutput: 'the end' }]);
  });

  it('records the iteration at which the limit was reached', async () => {
    const played = startLoop(way, { options: { continuation: () => step('review'), limits: { maxContinuations: 3 } } });
    await played.end();
    expect(entriesOf(played, 'continuation').map(({ limitReached }) => limitReached)).toEqual([false, false, true]);
    expect(entriesOf(played, 'capability-stop')).toMatchObject([{ reason: 'limit_reached', runs: 3 }]);
  });

  it('[R5] records what was wrong with a failed decider or a next step', async () => {
    const problems: unknown[] = [];
    for (const decider of [
      () => Promise.reject(new Error('no idea')),
      () => new Promise<never>(() => {}),
      () => step('publish'),
    ]) {
      const played = startLoop(way, { options: { continuation: decider, limits: { capabilityMs: 30 } } });
      await played.end();
      problems.push(entriesOf(played, 'capability-stop')[0]?.problem);
    }
    expect(problems).toEqual(['no idea', 'the decider did not reply within 30 ms', 'unknown capability "publish"']);
  });
});

it('[R8] the journal of a standalone loop records the abort and the outcome of the running capability', async () => {
  const {
    outcome,
    entries: journal,
    cancel,
  } = createCapabilityLoop({
    clock: new SimulatedClock(),
    capabilities: [capabilityNamed('draft', () => new Promise(() => {}))],
  }).run({ request: 'Draft a letter.', call: step('draft').next });
  for (let turns = 0; turns < 20; turns += 1) await new Promise((resolve) => setImmediate(resolve));
  cancel();
  expect(await outcome).toMatchObject({ stopReason: 'aborted', result: { code: 'aborted' } });
  expect(journal.slice(-2)).toMatchObject([
    { type: 'capability-end', index: 1, result: { capability: 'draft', code: 'aborted' } },
    { type: 'capability-stop', reason: 'aborted', runs: 1, failed: 1 },
  ]);
});
