import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChainState } from '../../../../machines/contracts/chain-state.ts';
import type { ContextOperation } from '../../../../machines/contracts/context.ts';
import type { PhaseResults } from '../../../../machines/contracts/phase-io.ts';
import { explanationOf, type FinalAnswer, finalAnswerSchema } from '../../../../machines/contracts/synthesis.ts';
import { composedOutcome } from '../../../../machines/policies/synthesis/compose.ts';
import { answerOf } from '../../../../machines/policies/synthesis/value.ts';
import { finishWriting } from '../../../../machines/policies/synthesis/writing.ts';
import { addUsage, NO_USAGE } from '../../../../machines/policies/usage.ts';
import { chainStateArbitrary, synthesisReplyArbitrary } from '../../../support/arbitraries.ts';
import {
  aDecision,
  aMessage,
  anAssessment,
  aState,
  deepFreeze,
  failed,
  results,
  succeeded,
} from '../../../support/contract-samples.ts';

const NONE: PhaseResults = aState().results;
const source = { path: 'bridges.md', startLine: 3, endLine: 5 };
const cited = [aMessage({ id: 'p1', role: 'search', source }), aMessage({ id: 'p2', role: 'search', source: null })];
const done = aState({
  results,
  messages: cited,
  assessment: anAssessment({ confidence: 0.95 }),
  decision: aDecision(),
  recursion: { completedCycles: 1 },
});
const reply = {
  answerText: 'The year was 1932.',
  confidence: 0.7,
  usedMessageIds: ['p1'],
  usedStepIds: [] as string[],
  notes: 'Two sources.',
};
/** Returns the answer that a model wrote. */
const writtenWith = (changes: Partial<typeof reply>, state: Partial<ChainState> = {}) =>
  answerOf({
    ...done,
    ...state,
    written: { type: 'written', prose: false, reply: { ...reply, ...changes }, usage: NO_USAGE },
  });

describe('the final answer', () => {
  it('[E2] [E3] [E6] is valid and non-empty in any state, and does not mutate the state', () => {
    fc.assert(
      fc.property(chainStateArbitrary, (state) => {
        const before = structuredClone(state);
        const answer = answerOf(deepFreeze(state));
        expect(finalAnswerSchema.parse(JSON.parse(JSON.stringify(answer)))).toEqual(answer);
        expect(answer.answerText.trim()).not.toBe('');
        expect(state).toEqual(before);
      }),
    );
  });

  it('[E5] has flags that no model text can change', () => {
    // These are computed from the text itself.
    const ofText = new Set(['no_evidence', 'contradicted', 'not_grounded', 'low_confidence']);
    const known = ({
      metadata: { degraded: _, reason, synthesis, ...metadata },
      reasons,
      ttlExhausted,
    }: FinalAnswer) => ({
      metadata,
      reasons: reasons.filter(({ code }) => !ofText.has(code)),
      ttlExhausted,
    });
    fc.assert(
      fc.property(chainStateArbitrary, synthesisReplyArbitrary, (state, reply) => {
        const said = { type: 'written', prose: false, reply, usage: NO_USAGE } as const;
        const written = answerOf({ ...state, written: said });
        expect(known(written)).toEqual(known(answerOf({ ...state, written: composedOutcome('') })));
        expect(written.metadata.synthesis.writtenBy).toBe('model');
      }),
    );
  });

  it('[E2] [E5] [S1] is degraded exactly when it has a reason, explains it, and has steps and sentences that exist', () => {
    fc.assert(
      fc.property(chainStateArbitrary, (state) => {
        const { answerText, status, reasons, notes, metadata, usedStepIds, grounding } = answerOf(state);
        const codes = reasons.map(({ code }) => code);
        expect(codes).toEqual([...new Set(codes)]);
        expect(metadata.degraded).toBe(reasons.length > 0);
        expect(metadata.reason).toBe(reasons[0]?.code ?? null);
        expect(notes.endsWith(explanationOf({ reasons }))).toBe(true);
        expect(reasons.every(({ message }) => message !== '')).toBe(true);
        expect(status === 'completed').toBe(!metadata.degraded);
        expect(status === 'cancelled').toBe(state.interruption?.kind === 'cancelled');
        expect(metadata.failures).toEqual([...state.failures, ...state.failedRuns]);
        expect(metadata.usage).toEqual(addUsage(state.usage, state.written?.usage ?? NO_USAGE));
        const ids = new Set(state.steps.map(({ stepId }) => stepId));
        expect(usedStepIds).toEqual([...ids].filter((id) => usedStepIds.includes(id)));
        for (const { text, start, end } of grounding?.unsupported ?? [])
          expect(answerText.slice(start, end)).toBe(text);
      }),
    );
  });

  describe('the steps that contributed', () => {
    it('[E2] are those that the model cites, once each and in order, without invented ones', () => {
      expect(writtenWith({ usedStepIds: ['s6', 'nobody', 's2', 's6'] }).usedStepIds).toEqual(['s2', 's6']);
    });

    const added = (id: string, messageId: string): ContextOperation => {
      const reason = { code: 'search_result', reason: 'found', metadata: {} } as const;
      return { operation: 'ADD', id, target: messageId, data: { message: aMessage({ id: messageId }) }, ...reason };
    };
    const history = { ...done.history, operations: [added('s2.o1', 'a.md#L3-L3'), added('s1.o1', 's1.m1')] };
    const envelope = { ...done.envelope, operations: [added('s4.o1', 's4.m1'), added('s4.o2', 's3.md#L1-L1')] };

    it.each<[string, string[], string[]]>([
      ['a message of a step', ['s4.m1'], ['s4']],
      ['a passage: the step that found it', ['a.md#L3-L3'], ['s2']],
      ['a passage and a message', ['s1.m1', 'a.md#L3-L3'], ['s1', 's2']],
      ['a passage whose file has the name of a step', ['s3.md#L1-L1'], ['s4']],
    ])('[E2] are those that added what the model cites: %s', (_, usedMessageIds, steps) => {
      expect(writtenWith({ usedMessageIds }, { history, envelope }).usedStepIds).toEqual(steps);
    });

    it('[E2] are those that support the text if the model cites none', () => {
      const steps = [
        { stepId: 's1', phase: 'action', content: 'The weather was mild.' },
        { stepId: 's2', phase: 'experience', content: 'The papers say that the tram line opened in 1932.' },
      ];
      expect(writtenWith({ answerText: 'It opened in 1932.' }, { steps }).usedStepIds).toEqual(['s2']);
    });
  });

  it('[E2] cites only messages of the context with a source, once each', () => {
    const { sources } = writtenWith({ usedMessageIds: ['p1', 'p2', 'nobody', 'p1'] });
    expect(sources).toEqual([{ ...source, messageId: 'p1', quote: 'The bridge was opened in 1932.' }]);
  });

  it('[E2] of a complete run is the text of the model with its confidence, or the answer of Yield', () => {
    expect(writtenWith({})).toMatchObject({
      answerText: 'The year was 1932.',
      confidence: 0.7,
      notes: 'Two sources.',
      status: 'completed',
      metadata: {
        degraded: false,
        reason: null,
        synthesis: { writtenBy: 'model', fallback: null, error: null },
        missingFields: [],
        cycles: 1,
      },
    });
    expect(answerOf(done)).toMatchObject({
      answerText: 'In 1932.',
      confidence: 0.95,
      metadata: { synthesis: { writtenBy: 'engine', fallback: null, error: null } },
    });
  });

  it.each([
    ['yield', 'In 1932.'],
    ['understanding', 'Opened in 1932.'],
    ['experience', 'The papers say 1932.'],
    ['action', 'It was 1932.'],
  ] as const)('[E3] of a run that reached %s is the best available text', (phase, wanted) => {
    const order = ['action', 'experience', 'understanding', 'yield'] as const;
    const reached = order.slice(0, order.indexOf(phase) + 1);
    const some = Object.fromEntries(reached.map((name) => [name, results[name]]));
    expect(answerOf(aState({ results: { ...NONE, ...some } })).answerText).toBe(wanted);
  });

  it.each([
    [{ kind: 'cancelled', reason: 'changed my mind' }, 'cancelled', 'changed my mind'],
    [{ kind: 'interrupted', reason: 'shutdown' }, 'interrupted', 'shutdown'],
    [
      { kind: 'deadline' },
      'deadline_passed',
      'The phases reached their limit of 9 min; the rest of the run’s 10 min is reserved',
    ],
    [{ kind: 'budget' }, 'budget_exhausted', 'budget'],
    [{ kind: 'model_unavailable' }, 'model_unavailable', 'model'],
    [{ kind: 'phase_failed' }, 'incomplete_state', 'failed'],
  ] as const)('[E3] [E5] of a run without results that ended by %j says so', (interruption, reason, says) => {
    const answer = answerOf(aState({ interruption }));
    expect(answer.metadata).toMatchObject({ degraded: true, reason });
    expect(answer.reasons[0]?.message).toContain(says);
    expect(answer.answerText).toContain('No answer was reached');
    expect(answer).toMatchObject({ confidence: 0, notes: expect.stringContaining(says) });
  });

  it('[E4] is composed from existing results when the model text is invalid, and names the error', () => {
    const settled = { ...done, ...finishWriting(done, failed({ message: 'answerText is empty' })) };
    expect(answerOf(settled)).toMatchObject({
      answerText: 'In 1932.',
      status: 'degraded',
      metadata: {
        reason: 'synthesis_failed',
        synthesis: { writtenBy: 'engine', fallback: 'validation', error: 'answerText is empty' },
      },
      notes: expect.stringContaining('is empty'),
    });
    const well = { ...done, ...finishWriting(done, succeeded(reply)) };
    expect(answerOf(well).answerText).toBe(reply.answerText);
    expect(answerOf(well).metadata.usage.modelCalls).toBe(1);
    expect(well.usage).toEqual(done.usage);
  });
});
