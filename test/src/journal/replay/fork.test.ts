import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JournalEntry } from '../../../../machines/contracts/journal-entry.ts';
import { replay } from '../../../../src/journal/replay/replay.ts';
import { memoryJournals } from '../../../../src/journal/stores/memory-journals.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { aRandomRun, playToEnd, randomChain } from '../../../support/random-runs.ts';
import { entriesOf, rulesOf, scriptedChain } from '../../../support/run-chain.ts';

const isTimer = ({ type }: JournalEntry): boolean => type === 'timer';

/** A run whose first cycle is unsure and whose second is sure, in a chain that keeps it. */
async function aRun() {
  const ids = ['first', 'fork'].values();
  const plan = {
    yield: (call: number) =>
      call === 1 ? { ...replies.yield, confidence: 0.5, informationSufficiency: 0.5 } : replies.yield,
  };
  const journals = memoryJournals();
  const scripted = scriptedChain(plan, { journals, newId: () => ids.next().value ?? '' });
  const run = scripted.chain.run({ request: 'Is it so?' });
  await run.answer;
  return { ...scripted, run, asked: scripted.model.calls.length };
}

const atDecision = (journal: readonly JournalEntry[]): number =>
  journal.find(({ type }) => type === 'decision')?.seq ?? 0;

describe('a fork', () => {
  it('with nothing changed comes to the same answer, and asks nobody, wherever it leaves its run', async () => {
    await fc.assert(
      fc.asyncProperty(aRandomRun, fc.double({ min: 0, max: 1, noNaN: true }), async (random, share) => {
        const ids = ['first', 'fork'].values();
        const journals = memoryJournals();
        const { chain, model, clock } = randomChain(random, { journals, newId: () => ids.next().value ?? '' });
        const run = chain.run({ request: 'Is it so?', startAt: random.startAt });
        await playToEnd(run, clock);
        const answer = await run.answer;
        // A call that was never answered would be made.
        fc.pre(!run.journal.some((entry) => isTimer(entry) && !waitsForRetry(run.journal, entry)));
        const asked = model.calls.length;
        const fork = await chain.fork('first', { at: 1 + Math.floor(share * (run.journal.length - 2)) });
        await playToEnd(fork, clock);
        const again = await fork.answer;
        expect(model.calls.length).toBe(asked);
        expect(again.answerText).toBe(answer.answerText);
        expect(rulesOf(fork)).toEqual(rulesOf(run));
        expect(again.metadata.usage).toEqual(answer.metadata.usage);
        const kept = entriesOf(fork, 'run-start')[0];
        expect(kept).toMatchObject({ runId: 'fork', forkedFrom: { runId: 'first', changes: [] } });
        expect(replay(JSON.parse(JSON.stringify(fork.journal))).divergence).toBeNull();
        expect(clock.waiting.size).toBe(0);
      }),
      { numRuns: 150 },
    );
  });

  it('goes by another threshold from the entry on, and asks only what was not asked before', async () => {
    const { chain, run, model, asked } = await aRun();
    expect(rulesOf(run)).toEqual(['nextPhaseChosen', 'confidenceReached']);
    const fork = await chain.fork('first', { at: atDecision(run.journal), set: { 'thresholds.confidence': 0.4 } });
    await fork.answer;
    expect(rulesOf(fork)).toEqual(['confidenceReached']);
    expect(entriesOf(fork, 'decision')[0]?.decision.inputs).toMatchObject({ above: 0.4 });
    expect(model.calls.slice(asked).map(({ task }) => task)).toEqual(['synthesis']);
    expect(entriesOf(fork, 'run-start')[0]?.forkedFrom?.changes).toEqual(['thresholds.confidence=0.4']);
  });

  it('takes another reply in place of the one that came', async () => {
    const { chain, run } = await aRun();
    const fork = await chain.fork('first', { at: atDecision(run.journal), set: { 'reply.confidence': 0.99 } });
    await fork.answer;
    expect(rulesOf(fork)).toEqual(['confidenceReached']);
    expect(fork.actor.getSnapshot().context.results.yield).toMatchObject({ reply: { confidence: 0.99 } });
  });

  it('goes to another phase', async () => {
    const { chain, run } = await aRun();
    const at = run.journal.find((entry) => entry.type === 'phase-start' && entry.phase === 'intention')?.seq ?? 0;
    const fork = await chain.fork('first', { at, set: { phase: 'yield' } });
    await fork.answer;
    expect(
      entriesOf(fork, 'phase-start')
        .map(({ phase }) => phase)
        .slice(0, 3),
    ).toEqual(['action', 'experience', 'yield']);
  });

  it.each([
    [{ 'thresholds.confidense': 1 }, /^thresholds\.confidense: there is no such number; wanted one of confidence/u],
    [{ 'limits.maxCycles': 'two' }, /^limits\.maxCycles: got "two"; .*expected number/u],
    [{ 'limits.maxCycles': 0 }, /^limits\.maxCycles: got 0; too small/u],
    [{ 'thresholds.confidence': 7 }, /^thresholds\.confidence: got 7; too big/u],
    [
      { 'reply.confidense': 0.1 },
      /^reply\.confidense: the reply that comes next has no such member; wanted one of .*confidence/u,
    ],
    [{ phase: 'sleep' }, /^phase: got "sleep"; wanted one of action/u],
    [{ results: 1 }, /^results: there is no such thing to change; wanted limits/u],
    [{ reply: 1 }, /^reply: there is no such thing to change/u],
    [{ 'reply.response.length': 1 }, /^reply: nothing is in ".*", so no "length"; wanted a path in it\./u],
    [{ 'reply.confidence.x.y': 1 }, /^reply: nothing is in 0\..*, so no "x"/u],
  ])('refuses %j', async (set, message) => {
    const { chain } = await aRun();
    await expect(chain.fork('first', { at: 5, set })).rejects.toMatchObject({ code: 'invalid_option', message });
  });

  it.each([
    [{ 'reply.insights.1': 'x' }, /its list has no item "1"; wanted one below 1/u],
    [{ 'reply.insights.first': 'x' }, /its list has no item "first"/u],
    [{ 'reply.insights.0.length': 9 }, /nothing is in "It is so", so no "length"/u],
    [{ 'reply.insights.0': 'x' }, null],
    [{ 'reply.__proto__.polluted': 1 }, /has no such member/u],
  ])('finds the places of a reply, or says that there is none: %j', async (set, message) => {
    const { chain, run } = await aRun();
    const at = run.journal.find((entry) => entry.type === 'attempt-end' && entry.task === 'observation')?.seq ?? 0;
    const fork = chain.fork('first', { at, set });
    if (message === null) await (await fork).answer;
    else await expect(fork).rejects.toMatchObject({ code: 'invalid_option', message });
    expect({}).not.toHaveProperty('polluted');
  });

  it('refuses another reply where none is to come', async () => {
    const { chain } = await aRun();
    const run = chain.run({ request: 'Is it so?', sessionId: 'its end is that its turn is stored' });
    await run.answer;
    const fork = chain.fork(run.journal, { at: run.journal.length - 1, set: { 'reply.confidence': 1 } });
    await expect(fork).rejects.toThrow(/^reply: no reply was recorded behind the entry/u);
  });

  it.each([0, -1, 1.5, 100_000])('refuses to leave at %j', async (at) => {
    const { chain } = await aRun();
    await expect(chain.fork('first', { at })).rejects.toThrow(/^at: got .*; wanted an entry of the run, from 1 to/u);
  });
});

/** A back-off was waited for, not an answer. */
function waitsForRetry(journal: readonly JournalEntry[], timer: JournalEntry): boolean {
  const next = journal[timer.seq + 1];
  return next?.type === 'transition' && /backingOff/u.test(next.source);
}
