import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JournalEntry } from '../../../../machines/contracts/journal.ts';
import type { ForkChanges } from '../../../../src/chain/journal/fork.ts';
import { replay } from '../../../../src/chain/journal/replay.ts';
import type { ProfileOption } from '../../../../src/chain/runtime/profile.ts';
import { memoryJournals } from '../../../../src/durable/journals/memory-journals.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { randomChain, randomRunArbitrary, runUntilEnded } from '../../../support/random-runs.ts';
import {
  entriesOf,
  ONE_CALL_PER_PHASE,
  type Plan,
  rulesOf,
  scriptedChain,
  sendAnswer,
  settle,
} from '../../../support/run-chain.ts';
import { sampleSize } from '../../../support/soak.ts';

const isTimer = ({ type }: JournalEntry): boolean => type === 'timer';

/** A chain with a journal store; its first run is `first`, the second one `fork`. */
function forkableChain(plan: Plan, profile: ProfileOption = ONE_CALL_PER_PHASE) {
  const ids = ['first', 'fork', 'second fork'].values();
  return scriptedChain(plan, { profile, journals: memoryJournals(), newId: () => ids.next().value ?? '' });
}

/** A run with low confidence in the first cycle and high confidence in the second. */
async function recordRun() {
  const scripted = forkableChain({
    yield: (call: number) =>
      call === 1 ? { ...replies.yield, confidence: 0.5, informationSufficiency: 0.5 } : replies.yield,
  });
  const run = scripted.chain.run({ request: 'Is it so?' });
  await run.answer;
  return { ...scripted, run, asked: scripted.model.calls.length };
}

const atDecision = (journal: readonly JournalEntry[]): number =>
  journal.find(({ type }) => type === 'decision')?.seq ?? 0;

/** Returns the number of the entry with the reply that has a field. */
const seqOfReply = (journal: readonly JournalEntry[], field: string): number =>
  journal.find(
    (entry) =>
      entry.type === 'activity-event' &&
      entry.event.type === 'reply.ended' &&
      JSON.stringify(entry.event.reply.value).includes(`"${field}"`),
  )?.seq ?? 0;

describe('a fork', () => {
  it('without changes gives the same answer and makes no model call, wherever it starts', async () => {
    await fc.assert(
      fc.asyncProperty(randomRunArbitrary, fc.double({ min: 0, max: 1, noNaN: true }), async (random, share) => {
        const ids = ['first', 'fork'].values();
        const journals = memoryJournals();
        const { chain, model, clock } = randomChain(random, { journals, newId: () => ids.next().value ?? '' });
        const run = chain.run({ request: 'Is it so?', startAt: random.startAt });
        await runUntilEnded(run, clock);
        const answer = await run.answer;
        // A call without a recorded result would be made live.
        fc.pre(!run.entries.some((entry) => isTimer(entry) && !waitsForRetry(run.entries, entry)));
        const asked = model.calls.length;
        const fork = await chain.fork('first', { at: 1 + Math.floor(share * (run.entries.length - 2)) });
        await runUntilEnded(fork, clock);
        const answerOfFork = await fork.answer;
        expect(model.calls.length).toBe(asked);
        expect(answerOfFork.answerText).toBe(answer.answerText);
        expect(rulesOf(fork)).toEqual(rulesOf(run));
        expect(answerOfFork.metadata.usage).toEqual(answer.metadata.usage);
        const start = entriesOf(fork, 'start')[0];
        expect(start).toMatchObject({
          input: { runId: 'fork' },
          product: { fork: { changes: [] } },
          forkedFrom: { actorId: 'first' },
        });
        expect(replay(JSON.parse(JSON.stringify(fork.entries))).divergence).toBeNull();
        expect(clock.openTimers).toBe(0);
      }),
      { numRuns: sampleSize('forked runs', 25, 500) },
    );
  });

  it('applies a changed threshold, and makes only calls that were not recorded', async () => {
    const { chain, run, model, asked } = await recordRun();
    expect(rulesOf(run)).toEqual(['nextPhaseChosen', 'confidenceReached']);
    const fork = await chain.fork('first', { at: atDecision(run.entries), set: { 'thresholds.confidence': 0.4 } });
    await fork.answer;
    expect(rulesOf(fork)).toEqual(['confidenceReached']);
    expect(entriesOf(fork, 'decision')[0]?.decision.inputs).toMatchObject({ above: 0.4 });
    expect(model.calls.slice(asked).map(({ task }) => task)).toEqual(['synthesis']);
    expect(entriesOf(fork, 'start')[0]?.product.fork?.changes).toEqual(['thresholds.confidence=0.4']);
  });

  it('changes the next reply', async () => {
    const { chain, run } = await recordRun();
    const fork = await chain.fork('first', { at: atDecision(run.entries), set: { 'reply.confidence': 0.99 } });
    await fork.answer;
    expect(rulesOf(fork)).toEqual(['confidenceReached']);
    expect(fork.ref.getSnapshot().context.results.yield).toMatchObject({ reply: { confidence: 0.99 } });
  });

  describe('of a run with a call of Yield that started early', () => {
    const history = [
      { role: 'user', content: `Please look into the cellar. ${'The cellar is a long story. '.repeat(60)}` },
      { role: 'assistant', content: 'I will look.' },
    ] as const;

    async function recordEarly(choice: 'keep' | 'remove') {
      const { chain } = forkableChain({}, 'balanced');
      const run = chain.run({ request: 'Is it so?', history });
      await settle();
      sendAnswer(run, { type: 'consent.given', choice });
      await run.answer;
      const [reply] = run.entries.filter((entry) => entry.type === 'activity-event' && entry.source === 'callAhead');
      return async (set: ForkChanges) => {
        const fork = await chain.fork('first', { at: reply?.seq ?? 0, set });
        await settle();
        sendAnswer(fork, { type: 'consent.given', choice });
        await fork.answer;
        return fork.ref.getSnapshot().context.results.yield?.reply;
      };
    }

    it('changes its reply if that was used', async () => {
      const forkWith = await recordEarly('keep');
      expect(await forkWith({ 'reply.notes': 'Changed.' })).toMatchObject({ notes: 'Changed.' });
    });

    it('changes the reply that was used instead if it was discarded', async () => {
      const forkWith = await recordEarly('remove');
      expect(await forkWith({ 'reply.confidence': 0.97 })).toMatchObject({ confidence: 0.97 });
    });

    it('rejects an invalid reply', async () => {
      const forkWith = await recordEarly('keep');
      const message = 'reply.confidence: expected a number of at most 1; received 7.';
      await expect(forkWith({ 'reply.confidence': 7 })).rejects.toMatchObject({ code: 'invalid_option', message });
    });
  });

  it('changes the reply at the entry, even if an earlier call ended later', async () => {
    const { chain } = forkableChain({}, 'thorough');
    const run = chain.run({ request: 'Is it so?' });
    await run.answer;
    const at = seqOfReply(run.entries, 'goal');
    const fork = await chain.fork('first', { at, set: { 'reply.goal': 'Changed.' } });
    await fork.answer;
    const { intention, observation } = fork.ref.getSnapshot().context.results;
    expect(intention?.reply.goal).toBe('Changed.');
    expect(observation?.reply).not.toHaveProperty('goal');
  });

  it('changes a field inside the only member of the next reply', async () => {
    const { chain } = forkableChain({ intention: { reply: { intention: replies.intention } } });
    const run = chain.run({ request: 'Is it so?' });
    await run.answer;
    const at = seqOfReply(run.entries, 'goal');
    const fork = await chain.fork('first', { at, set: { 'reply.goal': 'Changed.' } });
    await fork.answer;
    expect(fork.ref.getSnapshot().context.results.intention?.reply.goal).toBe('Changed.');
  });

  it('continues with another phase', async () => {
    const { chain, run } = await recordRun();
    const at = run.entries.find((entry) => entry.type === 'phase-start' && entry.phase === 'intention')?.seq ?? 0;
    const fork = await chain.fork('first', { at, set: { phase: 'yield' } });
    await fork.answer;
    expect(
      entriesOf(fork, 'phase-start')
        .map(({ phase }) => phase)
        .slice(0, 3),
    ).toEqual(['action', 'experience', 'yield']);
  });

  it.each([
    [{ 'thresholds.confidense': 1 }, /^"thresholds\.confidense" does not exist; expected one of confidence/u],
    [{ 'limits.maxCycles': 'two' }, /^limits\.maxCycles: .*expected number.*; received "two"/u],
    [{ 'limits.maxCycles': 0 }, /^limits\.maxCycles: too small.*; received 0/u],
    [{ 'thresholds.confidence': 7 }, /^thresholds\.confidence: too big.*; received 7/u],
    [
      { 'reply.confidense': 0.1 },
      /^"reply\.confidense" does not exist in the next reply; expected one of .*confidence/u,
    ],
    [{ phase: 'sleep' }, /^"phase" must be one of action.*; received "sleep"/u],
    [{ results: 1 }, /^"results" cannot be changed; expected limits/u],
    [{ reply: 1 }, /^"reply" cannot be changed; expected/u],
    [{ 'reply.response.length': 1 }, /^"reply" has no field "length" in ".*"; expected a path to an existing field/u],
    [{ 'reply.confidence.x.y': 1 }, /^"reply" has no field "x" in 0\./u],
  ])('rejects %j', async (set, message) => {
    const { chain } = await recordRun();
    await expect(chain.fork('first', { at: 5, set })).rejects.toMatchObject({ code: 'invalid_option', message });
  });

  it.each([
    [{ 'reply.insights.1': 'x' }, /has a list without an item "1"; expected an index below 1/u],
    [{ 'reply.insights.first': 'x' }, /has a list without an item "first"/u],
    [{ 'reply.insights.0.length': 9 }, /has no field "length" in "It is so"/u],
    [{ 'reply.insights.0': 'x' }, null],
    [{ 'reply.__proto__.polluted': 1 }, /does not exist in the next reply/u],
  ])('changes an existing field of a reply, or rejects the path: %j', async (set, message) => {
    const { chain, run } = await recordRun();
    const at = run.entries.find((entry) => entry.type === 'attempt-end' && entry.task === 'observation')?.seq ?? 0;
    const fork = chain.fork('first', { at, set });
    if (message === null) await (await fork).answer;
    else await expect(fork).rejects.toMatchObject({ code: 'invalid_option', message });
    expect({}).not.toHaveProperty('polluted');
  });

  it('rejects a changed reply if no reply follows', async () => {
    const { chain } = await recordRun();
    const run = chain.run({ request: 'Is it so?', sessionId: 'so that the run ends by storing its turn' });
    await run.answer;
    const fork = chain.fork(run.entries, { at: run.entries.length - 1, set: { 'reply.confidence': 1 } });
    await expect(fork).rejects.toThrow(/^"reply" cannot be changed: no reply follows this entry/u);
  });

  it.each([0, -1, 1.5, 100_000])('rejects the entry number %j', async (at) => {
    const { chain } = await recordRun();
    await expect(chain.fork('first', { at })).rejects.toThrow(
      /^"at" must be the number of an entry, from 1 to \d+; received/u,
    );
  });
});

/** Whether a timer was a retry delay rather than a call timeout. */
function waitsForRetry(journal: readonly JournalEntry[], timer: JournalEntry): boolean {
  const next = journal[timer.seq + 1];
  return next?.type === 'transition' && /backingOff/u.test(next.source);
}
