import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChainEvent } from '../../../../machines/contracts/events.ts';
import type { JournalEntry } from '../../../../machines/contracts/journal.ts';
import type { ChatModel } from '../../../../machines/contracts/model.ts';
import { PHASES } from '../../../../machines/contracts/phase.ts';
import { replay } from '../../../../src/chain/journal/replay.ts';
import { scriptedModel } from '../../../../src/models/scripted.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { runOnFakeCluster } from '../../../support/fake-restate.ts';
import { limitsOf, planOf, type RandomRun, randomRunArbitrary } from '../../../support/random-runs.ts';
import { everyTask, ONE_CALL_PER_PHASE, plannedModel, startScripted } from '../../../support/run-chain.ts';
import { sampleSize } from '../../../support/soak.ts';

const userEvents: Record<RandomRun['words'][number]['word'], ChainEvent> = {
  cancel: { type: 'run.cancelled' },
  finish: { type: 'run.finished' },
  direct: { type: 'run.directed', phase: 'experience' },
  nonsense: { type: 'run.directed', phase: 'nonsense' },
  consent: { type: 'consent.given', questionId: 's5.consent', choice: 'remove' },
  overrule: { type: 'context.overruled', messageId: 'earlier.long', choice: 'keep' },
  undo: { type: 'context.undone', operationId: 's1.o1' },
};

const NOTHING_FOUND = { query: '', passages: [], widened: false };

async function playRandom(random: RandomRun, kills: readonly number[]) {
  const { words, startAt, mode } = random;
  const model = plannedModel(planOf(random));
  const options = { ...everyTask.options, model, consent: 'ask' as const, limits: limitsOf(random) };
  const run = { startAt, mode, sessionId: 'chat' };
  return {
    model,
    ...(await runOnFakeCluster({ options, run, kills: kills, userEvents: words.map(({ word }) => userEvents[word]) })),
  };
}

const toJson = (journal: readonly JournalEntry[]): string[] => journal.map((entry) => JSON.stringify(entry));
const isCall = (name: string): boolean => name.startsWith('readReply');

describe('runOnCluster', () => {
  it('continues with the files of the request after a kill', async () => {
    const model = scriptedModel({}, { otherwise: replies, accepts: ['image/*'] });
    const run = { request: [{ type: 'image' as const, image: 'iVBORw0KGgo=' }] };
    const { answer, journals } = await runOnFakeCluster({ options: { model, profile: 'thorough' }, run, kills: [2] });
    expect(answer.status).toBe('completed');
    expect(journals.at(-1)?.filter(({ type }) => type === 'attachment')).toMatchObject([{ data: 'iVBORw0KGgo=' }]);
    const seen = model.calls.filter(({ turns }) => turns.some(({ files = [] }) => files.length > 0));
    expect(new Set(seen.map(({ task }) => task))).toEqual(new Set(PHASES));
  });

  it('[promise 6] continues after each kill to one answer and one journal, and calls models only in steps', async () => {
    let killed = 0;
    await fc.assert(
      fc.asyncProperty(
        randomRunArbitrary,
        fc.array(fc.integer({ min: 0, max: 8 }), { maxLength: 6 }),
        async (random, kills) => {
          const { answer, journals, cluster, model } = await playRandom(random, kills);
          const whole = journals.at(-1) ?? [];
          expect(whole.at(-1)?.type).toBe('end');
          expect(answer.answerText).not.toBe('');
          for (const journal of journals) expect(toJson(journal)).toEqual(toJson(whole.slice(0, journal.length)));
          const times = whole.map(({ atMs }) => atMs);
          expect(times).toEqual([...times].sort((one, other) => one - other));

          const replayed = replay(toJson(whole).map((entry) => JSON.parse(entry)));
          expect(replayed.divergence).toBeNull();
          expect(replayed.answer).toEqual(answer);

          expect(model.calls).toHaveLength(cluster.begun.filter(isCall).length);
          killed += journals.length - 1;
        },
      ),
      { numRuns: sampleSize('hosted runs', 80, 500) },
    );
    expect(killed).toBeGreaterThan(100);
  });

  it('takes the same path to the same answer as a live run', async () => {
    const live = startScripted(everyTask.plan, everyTask.options, everyTask.run);
    const options = { profile: ONE_CALL_PER_PHASE, ...everyTask.options, model: plannedModel(everyTask.plan) };
    const { journals, answer } = await runOnFakeCluster({ options, run: everyTask.run });
    const path = (journal: readonly JournalEntry[]) =>
      journal.flatMap((entry) => {
        if (entry.type === 'phase-start') return [entry.phase];
        return entry.type === 'decision' ? [entry.decision.rule] : [];
      });
    const { metadata: _, ...expected } = await live.run.answer;
    const { metadata: __, ...received } = answer;
    expect(received).toEqual(expected);
    expect(path(journals[0] ?? [])).toEqual(path(live.run.entries));
  });

  it('keeps retrievals in the journal, but no text deltas', async () => {
    const options = { model: plannedModel({}), documents: { search: async () => NOTHING_FOUND } };
    const { journals } = await runOnFakeCluster({ options, kills: [4, 1] });
    const types = (journals.at(-1) ?? []).map(({ type }) => type);
    expect(types.filter((type) => type === 'retrieval')).toHaveLength(1);
    expect(types).not.toContain('text-delta');
  });

  it('answers when its host interrupts it', async () => {
    const { answer, journals } = await runOnFakeCluster({
      options: { model: plannedModel({ yield: { hang: true } }) },
      isInterrupted: true,
    });
    expect(answer.status).toBe('degraded');
    expect(journals[0]?.filter(({ type }) => type === 'delivery')).toMatchObject([
      { event: { type: 'run.interrupted' } },
    ]);
  });

  it('aborts the calls of a process that no longer executes the run', async () => {
    let calls = 0;
    const aborted: number[] = [];
    const model: ChatModel = {
      ...plannedModel({}),
      async *stream(_, { signal }) {
        const call = calls;
        calls += 1;
        if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
        aborted.push(call);
      },
    };
    await runOnFakeCluster({ options: { model, limits: { phaseMs: 1000, totalMs: 2000 } }, kills: [0] });
    // Call 0 belongs to the killed process, whose deadline never fires.
    expect(aborted[0]).toBe(0);
    expect(aborted).toContain(1);
  });
});
