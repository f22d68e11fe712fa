import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contextOperationSchema } from '../../../machines/contracts/context.ts';
import { PHASES, type Phase } from '../../../machines/contracts/phase.ts';
import { phaseResultSchema } from '../../../machines/contracts/phase-io.ts';
import { phaseOutput } from '../../../machines/policies/phase-output.ts';
import { chainStateArbitrary, replyArbitraries } from '../../support/arbitraries.ts';
import { aCapabilityResult, aMessage, aPassage, aState, deepFreeze, results } from '../../support/contract-samples.ts';

const state = deepFreeze(
  aState({
    messages: [aMessage({ id: 'a' }), aMessage({ id: 'b', links: [{ to: 'a', relation: 'supports', strength: 1 }] })],
    recursion: { step: 9, cycle: 2 },
  }),
);
const made = (phase: Phase, value: object) => phaseOutput(state, phase, value).operations;
const brief = (phase: Phase, value: object) =>
  made(phase, value).map(
    (one) => `${one.operation} ${one.target}${one.operation === 'TAG' ? ` ${one.data.tags}` : ''}`,
  );
const intention = (score: number, messageId = 'a') => ({
  ...results.intention.reply,
  goal: '',
  alignment: [{ messageId, score }],
});
const connected = (...connections: readonly object[]) => ({
  insights: [],
  undigested: false,
  entities: [],
  importance: [],
  connections,
});
const connection = { from: 'a', to: 'b', relation: 'supports', strength: 0.9 };
const important = (score: number) => ({ ...connected(), importance: [{ messageId: 'a', score }] });

describe('Intention', () => {
  it.each([
    [0, ['TAG a low_relevance']],
    [0.2999, ['TAG a low_relevance']],
    [0.3, []],
    [0.7, []],
    [0.7001, ['PRIORITIZE a']],
    [1, ['PRIORITIZE a']],
  ])('[C6] with an alignment of %d, prioritizes above 0.7 and tags low relevance below 0.3', (score, wanted) => {
    expect(brief('intention', intention(score))).toEqual(wanted);
  });

  it('[C6] keeps the goal as a message and reports the numbers', () => {
    const [priority, goal] = made('intention', { ...intention(0.8), goal: 'the year' });
    expect(priority).toMatchObject({ data: { importance: 0.8 }, metadata: { alignment: 0.8 } });
    expect(goal).toMatchObject({
      operation: 'ADD',
      data: { message: { role: 'assistant', content: 'Goal: the year' } },
    });
  });

  it('[C3] [C6] emits no invalid operation for an empty id from the model', () => {
    for (const operation of made('intention', intention(0.9, '')))
      expect(contextOperationSchema.safeParse(operation).success).toBe(true);
  });
});

describe('Observation', () => {
  it.each([
    [0.7, []],
    [0.7001, ['LINK a']],
  ])('[C7] at connection strength %d, links above 0.7', (strength, wanted) => {
    expect(brief('observation', connected({ ...connection, strength }))).toEqual(wanted);
  });

  it.each([
    [0.65, []],
    [0.6501, ['TAG a important,persist']],
  ])('[C7] at importance %d, tags above 0.65', (score, wanted) => {
    expect(brief('observation', important(score))).toEqual(wanted);
  });

  it.each([
    ['with an unknown source', { from: 'nobody' }],
    ['with an unknown target', { to: 'nobody' }],
    ['to itself', { to: 'a' }],
    ['that is already linked', { from: 'b', to: 'a' }],
  ])('[C7] does not link a connection %s', (_, changes) => {
    expect(brief('observation', connected({ ...connection, ...changes }))).toEqual([]);
  });

  it('[C7] reports a connection that contradicts a link and does not overwrite the link', () => {
    const { result, operations } = phaseOutput(
      state,
      'observation',
      connected({ ...connection, from: 'b', to: 'a', relation: 'contradicts' }),
    );
    expect(operations).toEqual([]);
    expect(result).toMatchObject({ conflicts: ['b → a: existing relation "supports", proposed "contradicts"'] });
  });

  it('[C7] reports two contradicting connections of one reply instead of linking both', () => {
    const twice = connected(connection, { ...connection, relation: 'contradicts' });
    const { result, operations } = phaseOutput(state, 'observation', twice);
    expect(operations.map(({ operation }) => operation)).toEqual(['LINK']);
    expect(result.phase === 'observation' && result.conflicts.length).toBe(1);
  });
});

describe('Experience and Action', () => {
  it('[C5] add each new passage with its own id and source, and tag the relevant ones', () => {
    const found = [aPassage({ id: 'a' }), aPassage({ id: 'p2' })];
    const searching = {
      ...state,
      retrieval: { found: { query: 'q', passages: found, widened: false }, failure: null },
    };
    const reply = { summary: '', relevantPassageIds: ['p2', 'nobody'], missing: [], confidence: 0.5 };
    const { operations } = phaseOutput(searching, 'experience', reply);
    expect(operations.map(({ operation, target }) => `${operation} ${target}`)).toEqual(['ADD p2', 'TAG p2']);
    expect(operations[0]).toMatchObject({ data: { message: { role: 'search', source: aPassage().source } } });
  });

  it('[C4] [U2] add capability results and the response based on them', () => {
    const broken = aCapabilityResult({ success: false, output: '', error: 'no key' });
    const all = made('action', { ...results.action, results: [aCapabilityResult(), broken] });
    const messages = all.flatMap((one) => (one.operation === 'ADD' ? [one.data.message] : []));
    expect(messages.map(({ role, content }) => [role, content])).toEqual([
      ['search', 'draft: a draft'],
      ['search', 'draft failed: no key'],
      ['assistant', 'It was 1932.'],
    ]);
    expect(messages[2]?.references).toEqual(messages.slice(0, 2).map(({ id }) => id));
  });

  it('[U2] let the answer of Yield reference only existing messages that it used', () => {
    const [answer] = made('yield', { ...results.yield.reply, usedMessageIds: ['b', 'nobody'] });
    expect(answer).toMatchObject({ data: { message: { phase: 'yield', cycle: 2, references: ['b'] } } });
  });
});

it.each(PHASES)(
  '[C1] [C3] the phase %s builds a valid result and valid operations from any valid reply, in any state',
  (phase) => {
    fc.assert(
      fc.property(chainStateArbitrary, replyArbitraries[phase], (given, value) => {
        const entered = { ...given, recursion: { ...given.recursion, step: given.recursion.step + 1 } };
        const { result, operations } = phaseOutput(deepFreeze(entered), phase, deepFreeze(value));
        expect(phaseResultSchema.parse(result)).toEqual(result);
        expect(new Set(operations.map(({ id }) => id)).size).toBe(operations.length);
        for (const operation of operations) expect(contextOperationSchema.parse(operation)).toEqual(operation);
      }),
    );
  },
);
