import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChainState } from '../../../machines/contracts/chain-state.ts';
import { type Message, messageSchema } from '../../../machines/contracts/message.ts';
import type { ActionResult } from '../../../machines/contracts/phase-io.ts';
import { type SessionTurn, sessionTurnSchema } from '../../../machines/contracts/session.ts';
import { contextDocument } from '../../../machines/policies/context.ts';
import { finishPhase } from '../../../machines/policies/outcomes.ts';
import {
  assignSession,
  finishedTurn,
  hasSession,
  readTurns,
  recallMessages,
  recallWanted,
  storeProblem,
} from '../../../machines/policies/session.ts';
import {
  aCapabilityResult,
  aFinalAnswer,
  aMessage,
  aState,
  deepFreeze,
  failed,
  results,
  someLimits,
  succeeded,
} from '../../support/contract-samples.ts';
import { aTurn } from '../../support/sessions.ts';

const manyRuns = (count: number, summary = 'done'): SessionTurn['runs'] =>
  Array.from({ length: count }, (_, at) => ({ capability: `c${at}`, success: true, summary }));

/** An Action phase that ran these capabilities, with the user message and one entry per run as its memory. */
function anAction(changes: Parameters<typeof aCapabilityResult>[0][]): ActionResult {
  const ran = changes.map((change) => aCapabilityResult(change));
  const entries = ran.map(({ capability, success, output, error }) => {
    return { role: 'assistant' as const, capability, success, summary: success ? output : (error ?? '') };
  });
  return { ...results.action, results: ran, runs: ran.length, memory: [{ role: 'user', content: 'x' }, ...entries] };
}

describe('a session', () => {
  it.each([
    [null, 10, false, false],
    ['u42', 10, true, true],
    ['u42', 0, true, false],
    [null, 0, false, false],
  ])('with id %j and %i requested turns is enabled: %j, recalls %j', (sessionId, sessionTurns, has, recalls) => {
    const state = aState({ sessionId, limits: someLimits({ sessionTurns }) });
    expect([hasSession(state).holds, recallWanted(state).holds]).toEqual([has, recalls]);
    expect(JSON.stringify([hasSession(state), recallWanted(state)])).not.toContain('u42');
  });
});

describe('the memory of capability runs', () => {
  const stateAfter = (changes: Parameters<typeof anAction>[0]) =>
    aState({ results: { ...results, action: anAction(changes) } });
  const runsOf = (state: ChainState) => finishedTurn(state).runs;

  it('[R4] has one entry per run in order', () => {
    const ran = [{ capability: 'draft' }, { capability: 'review', success: false, error: 'too short' }];
    expect(runsOf(stateAfter(ran))).toEqual([
      { capability: 'draft', success: true, summary: 'a draft' },
      { capability: 'review', success: false, summary: 'too short' },
    ]);
  });

  it('[R4] is unchanged when Action fails or another phase completes', () => {
    const state = stateAfter([{ capability: 'c' }]);
    expect(runsOf({ ...state, ...finishPhase(state, 'action', failed()) })).toEqual(runsOf(state));
    expect(runsOf({ ...state, ...finishPhase(state, 'intention', succeeded(results.intention.reply)) })).toEqual(
      runsOf(state),
    );
  });

  it('[R4] is bounded: the newest 64 runs, the first 500 characters each, without split characters', () => {
    const output = `${'x'.repeat(498)}🦊${'y'.repeat(10_000)}`;
    const runs = runsOf(stateAfter(Array.from({ length: 100 }, (_, at) => ({ capability: `c${at}`, output }))));
    expect(runs.map(({ capability }) => capability)).toEqual(Array.from({ length: 64 }, (_, at) => `c${at + 36}`));
    for (const { summary } of runs) expect(summary).toBe(`${'x'.repeat(498)}…`);
    expect(runsOf(stateAfter([{ capability: 'c'.repeat(9_999) }]))[0]?.capability).toHaveLength(200);
  });

  it('[R4] becomes a turn with the request, the answer, and the status', () => {
    const state = aState({
      results: { ...results, action: anAction([{ capability: 'c', output: 's' }]) },
      answer: aFinalAnswer({ status: 'cancelled' }),
    });
    expect(sessionTurnSchema.parse(finishedTurn(state))).toMatchObject({
      runId: 'r1',
      request: 'When was the bridge opened?',
      runs: [{ capability: 'c', success: true, summary: 's' }],
      answer: 'In 1932.',
      status: 'cancelled',
      atMs: 1_700_000_000_000,
    });
  });
});

describe('what a turn keeps', () => {
  it('[U15] refers to messages of earlier turns by the same ids, whether they are recalled or not', () => {
    const links = ['earlier.1.gone', 'earlier.1.other', 'request'].map((to) => ({ to, relation: 'r', strength: 1 }));
    const note = aMessage({ id: 'earlier.1.note', tags: ['persist'], links });
    const other = aMessage({ id: 'earlier.1.other', content: 'Other.', tags: ['persist'] });
    const state = aState({ session: { turns: 1, messages: [note], omitted: [other], droppedMessages: 0 } });
    const messages = [note, ...state.messages];
    const { kept, number } = finishedTurn({ ...state, messages, history: contextDocument(messages) });
    expect(number).toBe(2);
    expect(kept?.map(({ id }) => id)).toEqual(['earlier.1.other', 'earlier.1.note', 'request']);
    expect(kept?.[1]?.links).toEqual(links);
  });
});

describe('a very long session', () => {
  const TURNS = 110;
  /** The turns of a session of short requests, each with an insight; a store returns the newest 11. */
  function sessionOf(
    changes: Partial<ChainState>,
    historyOf: (at: number) => readonly Message[] = () => [],
    count = TURNS,
  ) {
    let stored: readonly SessionTurn[] = [];
    let problem: string | null = null;
    let recalled: readonly Message[] = [];
    for (let at = 1; at <= count; at += 1) {
      const request = aMessage({
        id: 'request',
        role: 'user',
        content: `Fact ${at}: door ${at} is red.`,
        tags: ['request'],
      });
      const insight = aMessage({ id: 's4.m1', role: 'assistant', phase: 'observation', content: `Insight ${at}.` });
      const messages = [...historyOf(at), request, insight];
      const state = aState({ runId: `r${at}`, request: request.content, messages, contextWindowTokens: 100_000 });
      const begun = { ...state, ...changes, history: contextDocument(messages) };
      const run = { ...begun, ...assignSession(begun, readTurns(JSON.parse(JSON.stringify(stored)), 11, null)) };
      stored = [...stored, finishedTurn({ ...run, answer: aFinalAnswer() })].slice(-11);
      problem = run.sessionProblem;
      recalled = run.messages;
    }
    return { last: stored.at(-1), problem, recalled };
  }
  const facts = (messages: readonly Message[] = []) =>
    new Set(messages.filter(({ role }) => role === 'user').map(({ content }) => content));

  it('[U4] [U15] keeps and recalls every message of the user, and the newest of all others', () => {
    const { last, problem, recalled } = sessionOf({});
    expect(facts(last?.kept).size).toBe(TURNS);
    expect(facts(recalled).size).toBe(TURNS);
    expect(last?.kept?.filter(({ role }) => role !== 'user')).toHaveLength(100);
    expect(last?.droppedMessages).toBe(TURNS - 100);
    expect(problem).toBe(`the answers of ${TURNS - 11} of ${TURNS - 1} turns; ${TURNS - 101} kept messages`);
  });

  it('[U4] [U15] keeps what the context window has no space for, and reports it', () => {
    const { last, problem, recalled } = sessionOf({ contextWindowTokens: 2_000 });
    expect(facts(last?.kept).size).toBe(TURNS);
    expect(facts(recalled).size).toBeLessThan(TURNS / 2);
    expect(problem).toMatch(/^\d+ of 109 turns; the answers of \d+ of 109 turns; \d+ kept messages$/);
  });

  it('[U4] keeps all of them if it may keep no other messages', () => {
    const { last } = sessionOf({ limits: someLimits({ sessionMessages: 0 }) }, undefined, 30);
    expect(facts(last?.kept).size).toBe(30);
  });

  it('[U4] keeps a history that the caller passes with each request once', () => {
    const history = [aMessage({ id: 'earlier.h1', role: 'user', content: 'I am Ada.' })];
    const { last } = sessionOf({}, () => history, 30);
    expect(last?.kept?.filter(({ content }) => content === 'I am Ada.')).toHaveLength(1);
  });
});

describe('turns returned by a store', () => {
  it.each([[null], [undefined], [7], ['turns'], [{ turns: [] }], [{ length: 2 }], [new Map()], [true]])(
    'are empty when the store does not return a list: %j',
    (given) => {
      expect(readTurns(given, 10, null)).toEqual({ turns: [], problem: 'the session store returned no list of turns' });
    },
  );

  it.each([[[]], [[aTurn('r1'), aTurn('r2')]]])('are returned unchanged when all are valid', (turns) => {
    expect(readTurns(turns, 10, null)).toEqual({ turns, problem: null });
  });

  it('exclude invalid turns and report them', () => {
    const odd = [null, 7, 'r', [], {}, { ...aTurn(), answer: null }, { ...aTurn(), atMs: Number.NaN }];
    const { turns, problem } = readTurns([aTurn('r1'), ...odd, aTurn('r2')], 10, null);
    expect(turns.map(({ runId }) => runId)).toEqual(['r1', 'r2']);
    expect(problem).toBe('7 of 9 turns could not be read');
  });

  it('are limited to the newest ones up to the requested count', () => {
    const given = Array.from({ length: 10_000 }, (_, at) => (at < 9_990 ? null : aTurn(`r${at}`)));
    const { turns, problem } = readTurns(given, 10, null);
    expect(turns.map(({ runId }) => runId)).toEqual(Array.from({ length: 10 }, (_, at) => `r${9_990 + at}`));
    expect(problem).toBeNull();
    expect(readTurns(given, 0, null).turns).toEqual([]);
  });

  it('[R4] have at most the maximum number of runs per turn', () => {
    const { turns } = readTurns([aTurn('r1', { runs: manyRuns(1_000, 'x'.repeat(1_000)) })], 10, null);
    expect(turns[0]?.runs).toHaveLength(64);
    expect(turns[0]?.runs.at(-1)).toEqual({ capability: 'c999', success: true, summary: `${'x'.repeat(499)}…` });
  });

  it('report problems of the store in one line', () => {
    expect(readTurns([], 10, 'a bad\nrow\u001b[31m').problem).toBe('a bad row[31m');
    expect(readTurns([null], 10, 'a bad row').problem).toBe('a bad row; 1 of 1 turns could not be read');
    expect(readTurns([], 10, 'x'.repeat(9_999)).problem?.length).toBeLessThan(400);
  });

  it.each([
    [new Error('gone\nat line 1'), 'gone'],
    ['no', 'no'],
    [undefined, 'undefined'],
    [new Error('\u001b[2Jgone'), '[2Jgone'],
  ])('report an exception of the store in one line: %j', (thrown, said) => {
    expect(storeProblem(thrown)).toBe(said);
  });
});

/** The messages of turns that precede others in a context. */
const recalled = (turns: readonly SessionTurn[], messages: readonly Message[] = []) =>
  recallMessages(aState({ messages, contextWindowTokens: 1_000_000 }), { turns, problem: null }).messages;

describe('earlier turns in the context', () => {
  const turns: readonly SessionTurn[] = [
    aTurn('r1', { request: 'Draft it.', runs: [{ capability: 'draft', success: true, summary: 'a draft' }] }),
    aTurn('r2', {
      request: 'And now?',
      runs: [{ capability: 'review', success: false, summary: 'too short' }],
      answer: 'So far.',
      status: 'cancelled',
    }),
    aTurn('r3', { answer: 'Perhaps.', status: 'degraded' }),
  ];

  it('[R4] consist of the user message, one assistant entry per run, and the answer, before all other messages', () => {
    const state = aState();
    const { messages, sessionProblem } = { ...state, ...assignSession(deepFreeze(state), { turns, problem: 'so' }) };
    expect(messages.map(({ id, role, phase, content }) => [id, role, phase, content])).toEqual([
      ['earlier.1.request', 'user', null, 'Draft it.'],
      ['earlier.1.run1', 'assistant', 'action', 'draft: a draft'],
      ['earlier.1.answer', 'assistant', null, 'All is well with r1.'],
      ['earlier.2.request', 'user', null, 'And now?'],
      ['earlier.2.run1', 'assistant', 'action', 'review failed: too short'],
      ['earlier.2.answer', 'assistant', null, '(The user canceled this request.) So far.'],
      ['earlier.3.request', 'user', null, 'What of r3?'],
      ['earlier.3.answer', 'assistant', null, '(This answer may be wrong or incomplete.) Perhaps.'],
      ['request', 'user', null, 'When was the bridge opened?'],
    ]);
    expect(sessionProblem).toBe('so');
  });

  it('are tagged if an answer was incomplete, and never as kept by a user who was not asked', () => {
    const tags = recalled(turns).flatMap((message) =>
      message.tags.length === 0 ? [] : [[message.id, ...message.tags]],
    );
    expect(tags).toEqual([
      ['earlier.2.answer', 'cancelled'],
      ['earlier.3.answer', 'degraded'],
    ]);
  });

  it('are counted in tokens by script, runs included, and omitted if they do not fit', () => {
    const state = aState();
    const written = (runs: number) =>
      aTurn('r1', { request: '問', answer: '答', runs: manyRuns(runs, '橋'.repeat(200)) });
    expect(assignSession(state, { turns: [written(6)], problem: null }).tokensPerChar).toBeGreaterThan(0.9);
    const {
      turns: full,
      messages,
      problem,
    } = recallMessages(state, { turns: [written(20), aTurn('r2')], problem: null });
    expect(full).toBe(1);
    expect(messages.map(({ id }) => id)).toEqual(['earlier.1.request', 'earlier.2.request', 'earlier.2.answer']);
    expect(problem).toBe('the answers of 1 of 2 turns');
  });

  it('are valid messages with distinct ids for any turns and other messages', () => {
    const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('__proto__', '</message>', ''));
    const turn: fc.Arbitrary<SessionTurn> = fc.record({
      runId: text,
      request: text,
      runs: fc.array(fc.record({ capability: text, success: fc.boolean(), summary: text }), { maxLength: 5 }),
      answer: text,
      status: fc.constantFrom('completed', 'degraded', 'cancelled'),
      atMs: fc.double({ noNaN: true, noDefaultInfinity: true }),
    });
    const other = fc
      .constantFrom('request', 'earlier.1.request', 'earlier.1.request.2', 'earlier.2.answer', 'x')
      .map((id) => aMessage({ id }));
    fc.assert(
      fc.property(
        fc.array(turn, { maxLength: 12 }),
        fc.uniqueArray(other, { selector: ({ id }) => id }),
        (all, rest) => {
          const { turns: read } = readTurns(JSON.parse(JSON.stringify(all)), 10, null);
          const messages = recalled(read, deepFreeze(rest));
          for (const message of messages) messageSchema.parse(message);
          expect(new Set([...messages, ...rest].map(({ id }) => id)).size).toBe(messages.length + rest.length);
          expect(messages.filter(({ role }) => role === 'user').map(({ content }) => content)).toEqual(
            all.slice(-10).map(({ request }) => request),
          );
        },
      ),
    );
  });
});
