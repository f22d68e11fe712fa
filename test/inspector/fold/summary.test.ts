import { describe, expect, it } from 'vitest';
import { decisionReason } from '../../../inspector/fold/guard-words.ts';
import { confidenceCap, figuresOf, writerOf } from '../../../inspector/fold/summary.ts';
import { traceOf } from '../../../inspector/fold/trace.ts';
import type { TraceRow } from '../../../inspector/fold/trace-row.ts';
import type { RunStart } from '../../../machines/contracts/journal.ts';
import { thresholdsSchema } from '../../../machines/contracts/limits.ts';
import type { FinalAnswer } from '../../../machines/contracts/synthesis.ts';
import { memoryJournals } from '../../../src/durable/journals/memory-journals.ts';
import { FiguresFold } from '../../../src/inspection/run-figures.ts';
import { failingRun, folded, recordedEntries } from '../../support/inspector/inspected-runs.ts';
import { scriptedChain, unsureAnswer } from '../../support/run-chain.ts';

const entries = recordedEntries(await failingRun());
const { log, fold } = folded(entries);
const thresholds = thresholdsSchema.parse({});
const titlesIn = ({ title, children }: TraceRow): readonly string[] => [
  title,
  ...(children?.() ?? []).flatMap(titlesIn),
];

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

  it('count the calls that a fork has copied as reused', async () => {
    const ids = ['original', 'fork'];
    const { chain } = scriptedChain(
      { yield: unsureAnswer(1, {}) },
      { journals: memoryJournals(), newId: () => ids.shift() ?? '', limits: { maxCycles: 2 } },
    );
    const run = chain.run({ request: 'Is it so?' });
    await run.answer;
    const at = run.entries.find(({ type }) => type === 'decision')?.seq ?? 0;
    const calls = run.entries.filter(({ type, seq }) => type === 'attempt-start' && seq < at).length;
    const fork = await chain.fork(run.id, { at, set: { 'thresholds.confidence': 0.1 } });
    await fork.answer;
    const copy = folded(fork.entries);
    const figures = figuresOf(copy.log, copy.fold, fork.entries.length);
    // The fork writes its own answer.
    const written = fork.entries.findLast((entry) => entry.type === 'attempt-end')?.usage;
    const tokens = (written?.inputTokens ?? 0) + (written?.outputTokens ?? 0);
    const copied = fork.entries.flatMap((entry) => (entry.type === 'attempt-end' ? [entry.usage] : [])).slice(0, -1);
    const reusedTokens = copied.reduce((sum, { inputTokens, outputTokens }) => sum + inputTokens + outputTokens, 0);
    expect(figures).toMatchObject({ cycles: 1, calls: 1, reused: calls, tokens, reusedTokens });
    const rows = traceOf(copy.log, copy.fold, fork.entries.length, true);
    expect(rows.reduce((sum, { usage }) => sum + (usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0), 0)).toBe(
      tokens,
    );
    const { modelCalls } =
      fork.entries.flatMap((entry) => (entry.type === 'end' ? [entry.summary.usage] : []))[0] ?? {};
    expect(figuresOf(copy.log, copy.fold, fork.entries.length, null)).toMatchObject({ calls: modelCalls, reused: 0 });
    // In the list as in the head; unknown until all entries are read.
    const listed = [true, false].map((isWhole) => new FiguresFold(fork.entries[0] as RunStart, isWhole));
    for (const entry of fork.entries) for (const list of listed) list.take(entry);
    expect(listed.map((list) => list.figures().tokens)).toMatchObject([
      { input: written?.inputTokens, output: written?.outputTokens },
      null,
    ]);
  });

  it('are the same in the list, the phases and the trace, wherever the run was killed', () => {
    const list = new FiguresFold(entries[0] as RunStart, true);
    for (const [at, entry] of entries.entries()) {
      list.take(entry);
      if (at % 23 > 0) continue;
      const killed = folded(entries.slice(0, at + 1));
      const head = figuresOf(killed.log, killed.fold, at + 1);
      const titles = traceOf(killed.log, killed.fold, at + 1, true).flatMap(titlesIn);
      const { tokens } = list.figures();
      expect((tokens?.input ?? 0) + (tokens?.output ?? 0)).toBe(head.tokens);
      expect(new Set(titles.filter((title) => /^Call \d/u.test(title))).size).toBe(head.calls);
    }
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
