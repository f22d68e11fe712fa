import { describe, expect, it } from 'vitest';
import { decisionReason } from '../../../inspector/fold/decision-words.ts';
import { storyOf } from '../../../inspector/fold/story.ts';
import { confidenceCap, figuresOf, writerOf } from '../../../inspector/fold/summary.ts';
import { thresholdsSchema } from '../../../machines/contracts/limits.ts';
import type { FinalAnswer } from '../../../machines/contracts/synthesis.ts';
import { addUsage, NO_USAGE } from '../../../machines/policies/usage.ts';
import { failingRun, folded, recordedEntries } from '../../support/inspector/inspected-runs.ts';

const entries = recordedEntries(await failingRun());
const { log, fold } = folded(entries);
const cycles = storyOf(log, fold, entries.length);
const thresholds = thresholdsSchema.parse({});

const PRICES = { currency: 'EUR', prices: [{ inputPerMillion: 2, outputPerMillion: 10 }] };

describe('the story of a run', () => {
  it('has the phases of each cycle with their result, model calls, retries and tools', () => {
    const starts = entries.flatMap((entry) => (entry.type === 'phase-start' ? [`${entry.cycle} ${entry.phase}`] : []));
    const rows = cycles.flatMap((cycle) => cycle.phases().map((row) => ({ cycle: cycle.cycle, ...row })));
    expect(rows.map(({ cycle, phase }) => `${cycle} ${phase}`)).toEqual(starts);
    const [action] = rows;
    expect(action).toMatchObject({ status: 'done', calls: { first: 1, last: 3 }, finding: 'called work' });
    expect(action?.badges.map(({ text }) => text)).toEqual(['1 retry', 'work']);
    const failed = rows.find(({ phase }) => phase === 'observation');
    expect(failed).toMatchObject({ status: 'failed', finding: '' });
    expect(failed?.text).toContain('does not match');
  });

  it('counts every model call in exactly one phase, except the one that writes the answer', () => {
    const counted = cycles.flatMap((cycle) =>
      cycle.phases().flatMap(({ calls }) => (calls === null ? [] : [[calls.first, calls.last]])),
    );
    const numbers = counted.flatMap(([first = 0, last = 0]) =>
      Array.from({ length: last - first + 1 }, (_, index) => first + index),
    );
    const inPhases = fold.spans.attempts.filter(({ task }) => task !== 'synthesis').length;
    expect(numbers).toEqual(Array.from({ length: inPhases }, (_, index) => index + 1));
  });

  it('has the tokens and the cost of each phase, and their sums for each cycle', () => {
    const priced = folded(entries.map((entry) => (entry.type === 'run-start' ? { ...entry, ...PRICES } : entry)));
    const story = storyOf(priced.log, priced.fold, entries.length);
    expect(story[0]?.usage.inputTokens).toBeGreaterThan(0);
    for (const cycle of story) {
      const phases = cycle.phases().map(({ usage }) => usage);
      const total = phases.reduce(addUsage, NO_USAGE);
      expect(cycle.usage).toEqual({ ...total, cost: expect.closeTo(total.cost ?? 0) });
      expect(total.cost).toBeCloseTo((total.inputTokens * 2 + total.outputTokens * 10) / 1_000_000);
    }
    expect(cycles[0]?.usage).toMatchObject({ modelCalls: story[0]?.usage.modelCalls, cost: null });
  });

  it('ends each cycle with the decision, its reason and the next phase', () => {
    expect(cycles.map(({ decision }) => decision?.nextPhase)).toEqual(['action', 'action', null]);
    const last = cycles.at(-1);
    expect(last?.decision?.reason).toBe('Yield’s answer is confident enough (0.95, needs more than 0.9)');
    const decidedAt = entries.findLast(({ type }) => type === 'decision')?.atMs ?? 0;
    expect(last?.ms).toBe(decidedAt - (entries[last?.from ?? 0]?.atMs ?? 0));
  });

  it('shows a running phase with what is known so far', () => {
    const at = entries.find(({ type }) => type === 'text-delta')?.seq ?? 0;
    const early = folded(entries.slice(0, at + 1));
    const [cycle] = storyOf(early.log, early.fold, at + 1);
    expect(cycle?.phases()).toMatchObject([{ phase: 'action', status: 'running', text: '' }]);
    expect(cycle?.decision).toBe(null);
  });
});

describe('a decision in one sentence', () => {
  const decision = { cycle: 2, complete: true, nextPhase: null, rationale: 'because' } as const;

  it('names the number and what it was compared with, told apart by their decimals', () => {
    const continued = {
      ...decision,
      rule: 'nextPhaseChosen',
      rationale: 'continuing with experience: information sufficiency 0.699 is below 0.7',
      inputs: { informationSufficiency: 0.6994 },
    };
    expect(decisionReason(continued, thresholds)).toBe('Not enough information yet (0.699, needs 0.7)');
    expect(
      decisionReason({ ...decision, rule: 'cycleLimitReached', inputs: { completedCycles: 5, maxCycles: 5 } }, null),
    ).toBe('The cycle limit is reached (5 of 5)');
  });

  it('says who considers the task complete', () => {
    const complete = (inputs: Readonly<Record<string, boolean | number | null>>) =>
      decisionReason({ ...decision, rule: 'taskComplete', inputs }, thresholds);
    expect(complete({ claimsCompletion: true, claim: 0.8, satisfaction: 0.1 })).toBe(
      'The model says that the task is complete, and the evidence agrees',
    );
    expect(complete({ claimsCompletion: false, claim: null, satisfaction: 0.9 })).toBe('The user seems satisfied');
  });

  it('falls back to the recorded reason for a rule that it does not know', () => {
    expect(decisionReason({ ...decision, rule: 'toString', inputs: {} }, null)).toBe('Because');
  });
});

describe('the figures of a run', () => {
  it('count all cycles, calls and tokens', () => {
    const ends = entries.flatMap((entry) => (entry.type === 'attempt-end' ? [entry.usage] : []));
    expect(figuresOf(log, fold, entries.length)).toMatchObject({
      cycles: 3,
      calls: ends.length,
      tokens: ends.reduce((sum, { inputTokens, outputTokens }) => sum + inputTokens + outputTokens, 0),
      cost: null,
    });
  });
});

it('names the model that wrote the answer', () => {
  const answer = entries.flatMap((entry) => (entry.type === 'answer' ? [entry.answer] : []))[0] as FinalAnswer;
  expect(writerOf(log, fold, answer)).toBe('scripted');
  const byEngine = { ...answer.metadata.synthesis, writtenBy: 'engine' as const };
  expect(writerOf(log, fold, { ...answer, metadata: { ...answer.metadata, synthesis: byEngine } })).toBeNull();
});

describe('the confidence in an answer', () => {
  const answer = entries.flatMap((entry) => (entry.type === 'answer' ? [entry.answer] : []))[0] as FinalAnswer;
  const capOf = (reason: FinalAnswer['metadata']['reason']) =>
    confidenceCap(log, fold, { ...answer, confidence: 0.5, metadata: { ...answer.metadata, reason } });

  it('is explained if it is lower than the one that its writer stated', () => {
    expect(capOf(null)).toEqual({
      short: 'the evidence does not support the answer',
      full: expect.stringMatching(
        /^The model stated 0\.\d+\. The confidence is capped at 0\.5 .*thresholds\.grounding/u,
      ),
    });
    expect(capOf('no_evidence')?.short).toBe('the answer says that nothing was found');
    expect(confidenceCap(log, fold, { ...answer, confidence: 1 })).toBe(null);
  });
});
