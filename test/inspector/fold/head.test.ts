import { describe, expect, it } from 'vitest';
import { answerOf as listedAnswerOf, statusWords } from '../../../inspector/fold/run-list.ts';
import { selectionOf } from '../../../inspector/fold/selection.ts';
import { stepTitle } from '../../../inspector/fold/step-title.ts';
import {
  activityOf,
  endingOf,
  failedCallOf,
  lastPhaseInWords,
  noAnswerText,
  verdictOf,
} from '../../../inspector/fold/summary.ts';
import { numbersAt } from '../../../inspector/fold/what-if.ts';
import { why } from '../../../inspector/fold/why.ts';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import type { FinalAnswer } from '../../../machines/contracts/synthesis.ts';
import { runStartOf } from '../../../src/chain/journal/run-start.ts';
import { FiguresFold } from '../../../src/inspection/run-figures.ts';
import {
  failingRun,
  folded,
  manualRun,
  ownCharts,
  recordedEntries,
  runToAnswer,
} from '../../support/inspector/inspected-runs.ts';
import { unsureAnswer } from '../../support/run-chain.ts';

const entries = recordedEntries(await failingRun());
const { log, fold } = folded(entries);
const answerOf = (all: readonly JournalEntry[]): FinalAnswer => {
  const entry = all.find(({ type }) => type === 'answer');
  if (entry?.type !== 'answer') throw new Error('no answer');
  return entry.answer;
};
const answer = answerOf(entries);
const withAnswer = (changes: Partial<FinalAnswer>) =>
  folded(
    entries.map((entry) => (entry.type === 'answer' ? { ...entry, answer: { ...entry.answer, ...changes } } : entry)),
  );

describe('how far an answer can be trusted', () => {
  const verdict = (changes: Partial<FinalAnswer>) => verdictOf(log, fold, { ...answer, ...changes });
  const grounding = { score: 0.8, threshold: 0.5, unsupported: [] };
  const sources = [{ path: 'a.md', messageId: 'm', quote: '' }] as unknown as FinalAnswer['sources'];

  it('is one line: the status with its first reason, the confidence, and the support', () => {
    const good = { status: 'completed', reasons: [], confidence: 1, grounding, sources } as const;
    expect(verdict(good)).toMatchObject({
      word: 'Completed',
      trust: ['confidence 1', 'supported by its sources'],
    });
    expect(verdict({ ...good, confidence: 0.95, grounding: null }).trust).toEqual([
      'confidence 0.95',
      'not checked against sources',
    ]);
    const unsupported = [{ text: 'So.', start: 0, end: 3 }];
    expect(verdict({ ...good, sources: [], grounding: { ...grounding, unsupported } }).trust[1]).toBe(
      'partly unsupported: all but 1 sentence supported by the results of the run',
    );
    const failed = [{ code: 'capability_failed', message: 'It failed.', capability: 'work' }] as const;
    expect(verdict({ ...good, status: 'degraded', reasons: failed }).word).toBe('Degraded: tool failed');
    expect(verdict({ ...good, status: 'cancelled', reasons: failed }).word).toBe('Cancelled');
  });

  it('says what a low confidence needed, once, and does not praise the support', () => {
    const low = {
      code: 'low_confidence',
      message: 'The confidence is low.',
      confidence: 0.243,
      threshold: 0.5,
    } as const;
    // The engine wrote it: no model has stated another confidence.
    const metadata = { ...answer.metadata, synthesis: { ...answer.metadata.synthesis, writtenBy: 'engine' } } as const;
    const degraded = { status: 'degraded', reasons: [low], confidence: 0.243, grounding, sources, metadata } as const;
    expect(verdict(degraded)).toMatchObject({
      word: 'Degraded: low confidence',
      trust: ['confidence 0.24, needs more than 0.5'],
    });
    const shown = withAnswer(degraded);
    expect(endingOf(shown.log, shown.fold, entries.length)?.because).toBe('');
    const at = shown.fold.entries.of('answer').at(-1) ?? 0;
    const [reason] = why({ ...shown, run: { live: false }, charts: ownCharts, at, end: {} }).degraded;
    expect(reason).toMatchObject({ text: 'Low confidence', compared: [{ share: { value: 0.243, limit: 0.5 } }] });
  });

  it('names the cap of the confidence once', () => {
    const reasons = [{ code: 'not_grounded', message: 'No.', score: 0.1, threshold: 0.5 }] as const;
    expect(verdict({ status: 'degraded', reasons, confidence: 0.5, grounding })).toMatchObject({
      word: 'Degraded: unsupported',
      trust: ['confidence 0.5, capped: the evidence does not support the answer'],
    });
  });
});

describe('how a run ended', () => {
  it('is the rule with the numbers it compared, then the reasons of the answer', () => {
    const decision = answer.metadata.decision;
    expect(decision?.rule).toBe('confidenceReached');
    expect(endingOf(log, fold, entries.length)).toEqual({
      because: expect.stringMatching(/observation/u),
      where: 'Ended in cycle 3',
      why: 'The draft’s confidence 0.95 was above 0.9.',
      seq: fold.entries.of('decision').at(-1) ?? null,
    });
    const capped = withAnswer({ status: 'completed', reasons: [], confidence: 0.5 });
    expect(endingOf(capped.log, capped.fold, entries.length)).toMatchObject({
      because: '',
      why: 'The draft’s confidence 0.95 was above 0.9.',
    });
    const inputs = { completedCycles: 3, maxCycles: 3 };
    const atLimit = { ...(decision as NonNullable<typeof decision>), rule: 'cycleLimitReached', inputs } as const;
    const settled = withAnswer({
      status: 'completed',
      reasons: [],
      metadata: { ...answer.metadata, decision: atLimit },
    });
    expect(endingOf(settled.log, settled.fold, entries.length)?.why).toBe(
      'The cycle limit is reached (3 of 3). Another rule would have completed the run, so the limit does not degrade the answer.',
    );
  });

  it('reports a missing answer only in the answer, not again in the ending', () => {
    const message = 'The model was unavailable: action: No reply began within 30000 ms.';
    const [text, reasons] = [`No answer was reached. ${message}`, [{ code: 'model_unavailable', message }] as const];
    const none = { status: 'degraded', reasons, confidence: 0, answerText: text, grounding: null } as const;
    const metadata = { ...answer.metadata, decision: null };
    const failed = withAnswer({ ...none, metadata });
    expect(endingOf(failed.log, failed.fold, entries.length)).toEqual({
      because: '',
      where: 'Ended in Yield, cycle 3',
      why: '',
      seq: null,
    });
    expect(verdictOf(log, fold, { ...answer, ...none })).toMatchObject({
      word: 'Degraded: no answer',
      trust: [],
    });
    expect(noAnswerText({ ...answer, ...none, metadata })).toBe(
      'The model was unavailable: action: No reply began within 30 s.',
    );
    const run = { status: 'degraded', summary: { ...none, answer: text, reason: 'model_unavailable' } };
    expect(statusWords(run as never)).toMatchObject({ text: 'degraded: model unavailable', tone: 'warn' });
  });

  it('names an error that ended the phases and the answer once, and the failed call to retry', async () => {
    const error = 'model offline: connection refused';
    const [text, confidence] = [`No answer was reached. A phase failed: yield: ${error}. No cycle was completed.`, 0];
    const metadata = {
      ...answer.metadata,
      decision: null,
      cycles: 0,
      synthesis: { ...answer.metadata.synthesis, error },
    };
    const none = { ...answer, confidence, metadata };
    const unwritten = `The model could not write the final answer because its call failed: ${error}.`;
    expect(noAnswerText({ ...none, answerText: `${text} ${unwritten}` })).toBe(
      `Yield failed: ${error}. No cycle was completed. The model could not write the final answer for the same reason.`,
    );
    const ended = withAnswer({ confidence, answerText: text, metadata });
    expect(endingOf(ended.log, ended.fold, entries.length)).toBeNull();
    const refused = () => {
      throw new Error('connection refused');
    };
    const offline = recordedEntries(await runToAnswer({ yield: refused }, { limits: { maxPhaseRetries: 0 } }));
    expect(failedCallOf(folded(offline).fold.spans, answerOf(offline))).toMatchObject({ task: 'yield' });
    expect(failedCallOf(fold.spans, { ...answer, status: 'completed' })).toBeUndefined();
  });

  it('names the phase that failed, as the list of runs does', () => {
    const failures = [{ phase: 'yield', cycle: 1, failure: { code: 'model_threw', message: 'connection refused' } }];
    const degraded = { status: 'degraded', reasons: [{ code: 'incomplete_state', message: '' }] } as const;
    const metadata = { ...answer.metadata, failures } as never;
    expect(verdictOf(log, fold, { ...answer, ...degraded, metadata }).word).toBe(
      'Degraded: Yield failed (connection refused)',
    );
    const figures = new FiguresFold(runStartOf(entries), false);
    figures.take({ type: 'answer', answer: { ...answer, ...degraded, metadata } });
    const run = { status: 'degraded', summary: figures.figures() };
    expect(statusWords(run as never).text).toBe('degraded: Yield failed (connection refused)');
    const none = { ...run.summary, answer: 'No answer was reached. A phase failed.', confidence: 0 };
    expect(listedAnswerOf({ ...run, summary: none } as never)).toBe('No answer was reached.');
  });

  it('is unknown before the answer; until then, the run says where it is', () => {
    const at = entries.find(({ type }) => type === 'text-delta')?.seq ?? 0;
    const early = folded(entries.slice(0, at + 1));
    expect(endingOf(early.log, early.fold, at + 1)).toBeNull();
    expect(lastPhaseInWords(early.fold)).toBe('in Action, cycle 1');
    const call = early.fold.spans.attempts.at(-1);
    if (call === undefined) throw new Error('no call');
    const view = { ...early, at, selection: selectionOf('attempt', call, at + 1) };
    // While it runs, only the trace has its time.
    for (const live of [true, false]) {
      const { facts } = stepTitle({ ...view, run: { kind: 'run', live, status: live ? 'running' : 'interrupted' } });
      expect(facts.some((fact) => /\d m?s$/u.test(fact))).toBe(!live);
    }
    expect(activityOf(early.fold)).toBe('Action, cycle 1: the model is replying');
    expect(lastPhaseInWords(folded(entries.slice(0, 1)).fold)).toBe('before its first phase');
  });
});

describe('a run that its user finished', () => {
  it('ends with the reason that its user finished it', async () => {
    const manual = recordedEntries(await manualRun());
    const run = folded(manual);
    expect(endingOf(run.log, run.fold, manual.length)).toMatchObject({
      where: 'Ended in Yield, cycle 2',
      why: 'The user finished the run.',
    });
  });

  it('has no what-if at the last direction, which compared no numbers', async () => {
    const manual = recordedEntries(await manualRun());
    const shared = { run: { kind: 'run', live: false }, charts: ownCharts, stateCount: 1, end: null } as const;
    const numbersOf = (all: readonly JournalEntry[]) =>
      numbersAt(
        { ...shared, ...folded(all), at: 0, count: all.length },
        folded(all).fold.entries.of('decision').at(-1) ?? 0,
      );
    expect(numbersOf(manual)).toEqual([]);
    expect(numbersOf(entries).map(({ path }) => path)).toContain('thresholds.confidence');
    // A limit ended it; the decision before compared a confidence.
    const limited = recordedEntries(
      await runToAnswer({ yield: (call: number) => unsureAnswer(call) }, { limits: { maxCycles: 2 } }),
    );
    expect(numbersOf(limited).map(({ path }) => path)).toEqual(
      expect.arrayContaining(['limits.maxCycles', 'thresholds.confidence']),
    );
  });
});
