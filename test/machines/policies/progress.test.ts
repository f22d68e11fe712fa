import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PHASES } from '../../../machines/contracts/phase.ts';
import { phaseInputSchema } from '../../../machines/contracts/phase-io.ts';
import { applyEvaluation, finishPhase, recordEvaluation } from '../../../machines/policies/outcomes.ts';
import { executionId, phaseAttempt } from '../../../machines/policies/phase-calls.ts';
import { enterPhase, initialState, visibleMessages } from '../../../machines/policies/progress.ts';
import { searchToStart } from '../../../machines/policies/search.ts';
import { tokensAllowed } from '../../../machines/policies/usage.ts';
import { chainStateArbitrary } from '../../support/arbitraries.ts';
import {
  aChainInput,
  aMessage,
  aState,
  deepFreeze,
  results,
  someThresholds,
  succeeded,
} from '../../support/contract-samples.ts';

const entered = aState({ recursion: { step: 1 } });
const LONG = 'The user wrote this. '.repeat(100);
const contents = (state: Parameters<typeof visibleMessages>[0]) => visibleMessages(state).map(({ content }) => content);
const acted = (state = entered) => ({
  ...state,
  ...finishPhase(deepFreeze(state), 'action', succeeded(results.action)),
});

describe('a new run', () => {
  it('[C2] starts with the earlier messages and the request as a user message', () => {
    const earlier = aMessage({ id: 'earlier' });
    const { messages, recursion } = initialState(aChainInput({ messages: [earlier] }));
    expect(messages[0]).toEqual({ ...earlier, id: 'earlier.earlier', cycle: 0 });
    expect(messages[1]).toMatchObject({
      role: 'user',
      content: 'When was the bridge opened?',
      cycle: 1,
      importance: 1,
    });
    expect(recursion).toMatchObject({ cycle: 1, completedCycles: 0, step: 0, origin: 'action', history: [] });
  });

  it('[C3] based on an earlier run adds its own messages', () => {
    const earlier = aMessage({ id: 's1.m1', content: 'from the earlier run' });
    const state = acted({ ...entered, messages: initialState(aChainInput({ messages: [earlier] })).messages });
    expect(contents(state)).toEqual(expect.arrayContaining(['It was 1932.', 'draft: a draft', 'from the earlier run']));
  });
});

describe('transitions between phases', () => {
  it('[C3] apply the operations of a phase before the next phase starts', () => {
    const first = acted();
    expect(first.messages).toEqual(entered.messages);
    expect(first.envelope).toMatchObject({ phase: 'action', content: 'It was 1932.\n\ndraft: a draft' });
    expect(contents(first)).toContain('It was 1932.');
    const second = { ...first, ...enterPhase(first, 'intention') };
    const third = { ...second, ...finishPhase(second, 'intention', succeeded(results.intention.reply)) };
    expect(third.messages).toEqual(visibleMessages(first));
    expect(third.applied).toEqual(first.envelope.operations);
  });

  it('[C1] [C2] give every phase an input that matches its contract, in any state', () => {
    fc.assert(
      fc.property(chainStateArbitrary, fc.constantFrom(...PHASES), (state, phase) => {
        const { input } = phaseAttempt(deepFreeze({ ...state, ...enterPhase(state, phase) }));
        expect(phaseInputSchema.parse(input)).toEqual(input);
      }),
    );
  });

  it('[C4] [Y6] prompt with the request first and with the continuation later', () => {
    expect(phaseAttempt(entered).input).toMatchObject({ prompt: entered.request });
    const continued = aState({ recursion: { continuationPrompt: 'more' } });
    expect(phaseAttempt(continued).input).toMatchObject({ prompt: 'more' });
    expect(executionId(entered, 'action')).toBe('s1.action');
  });

  it('[C6] set flags for Yield: unclear intent, undigested insights, failed source', () => {
    const intention = { ...results.intention, reply: { ...results.intention.reply, unclearIntent: true } };
    const observation = { ...results.observation, reply: { ...results.observation.reply, undigested: true } };
    const experience = { ...results.experience, sourceFailure: 'gone' };
    const inputAfter = (changes: object) =>
      phaseAttempt(aState({ phase: 'yield', results: { ...results, ...changes } })).input;
    const flags = ['unclear_intent', 'undigested_insights', 'source_failed'];
    expect(inputAfter({ intention, observation, experience })).toMatchObject({ flags });
    expect(inputAfter({})).toMatchObject({ flags: [] });
  });

  it('[C5] search for the request and for what the last search did not find', () => {
    const state = aState({ hasDocuments: true, results });
    expect(searchToStart(state)?.input.query).toBe('When was the bridge opened? the day');
  });

  it('[A5] keep every state JSON-serializable', () => {
    fc.assert(
      fc.property(chainStateArbitrary, (state) => {
        expect(JSON.parse(JSON.stringify(state))).toEqual(state);
      }),
    );
  });
});

describe('Understanding', () => {
  const long = { ...entered, messages: [aMessage({ id: 'u1', role: 'user', content: LONG }), aMessage()] };

  it('[U8] does not change the context before consent is settled', () => {
    const evaluated = { ...long, ...recordEvaluation(deepFreeze(long), succeeded(results.understanding.reply)) };
    expect(evaluated.evaluation?.operations[0]).toMatchObject({ target: 'u1', metadata: { requiresConsent: true } });
    expect(visibleMessages(evaluated)).toEqual(long.messages);
  });

  it('[U10] limits the context to 70 % of the model window or to the configured share', () => {
    expect(tokensAllowed(aState({ contextWindowTokens: 1_000 }))).toBe(700);
    expect(tokensAllowed(aState({ contextWindowTokens: 999, thresholds: someThresholds({ windowShare: 0.5 }) }))).toBe(
      499,
    );
  });

  it('[U13] reports the context size before and after and passes on its operations', () => {
    const evaluated = { ...long, ...recordEvaluation(long, succeeded(results.understanding.reply)) };
    const { results: after, envelope } = { ...evaluated, ...applyEvaluation(evaluated) };
    expect(after.understanding?.statistics).toMatchObject({ messagesBefore: 2, tokensAllowed: 5_600 });
    expect(envelope).toMatchObject({ phase: 'understanding', operations: evaluated.evaluation?.operations });
  });
});
