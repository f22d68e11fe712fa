import { beforeAll, describe, expect, it } from 'vitest';
import { type ContextDocument, contextOperationSchema } from '../../../../machines/contracts/context.ts';
import { journalEntrySchema } from '../../../../machines/contracts/journal.ts';
import type { Message } from '../../../../machines/contracts/message.ts';
import { applyOperations, contextOf } from '../../../../machines/policies/context.ts';
import { addedTokens } from '../../../../machines/policies/message-parts.ts';
import { contextHistory } from '../../../../src/chain/journal/context-history.ts';
import type { Run } from '../../../../src/chain/runtime/run.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { aPassage } from '../../../support/contract-samples.ts';
import { assistantMessage, searchMessage, userMessage } from '../../../support/retention.ts';
import { entriesOf, sendAnswer, settle, startScripted, unsureAnswer } from '../../../support/run-chain.ts';

const CYCLES = 4;
const story = (of: string) => `Please look into the ${of}. ${`The ${of} is a long story. `.repeat(60)}`;
const link = (to: string) => ({ to, relation: 'belongs to', strength: 1 });

/** A run of several cycles with every kind of operation and a different choice of the user for each message. */
async function fullRun(): Promise<Run> {
  let passages = 0;
  const documents = {
    search: async (query: string) => {
      passages += 2;
      const texts = [`Report ${passages} on tide ${passages}.`, 'The tide is low in March, and high in May.'];
      return {
        query,
        passages: texts.map((text, at) => aPassage({ id: `p${passages + at}`, text, relevance: 0.6 })),
        widened: false,
      };
    },
  };
  const plan = {
    experience: () => ({ ...replies.experience, relevantPassageIds: [`p${passages}`] }),
    intention: {
      ...replies.intention,
      alignment: [
        { messageId: 'earlier.near', score: 0.9 },
        { messageId: 'earlier.far', score: 0.1 },
      ],
    },
    observation: {
      ...replies.observation,
      connections: [{ from: 'earlier.near', to: 'earlier.far', relation: 'follows', strength: 0.9 }],
      importance: [{ messageId: 'earlier.near', score: 0.9 }],
    },
    understanding: {
      integrated: 'So far.',
      assessments: [{ messageId: 'earlier.near', relevance: 0.6, reason: 'near' }],
    },
    summary: (call: number) => ({
      summaries: call === 1 ? [{ messageId: 'earlier.near', summary: 'It is near.' }] : [],
    }),
    yield: (call: number) => unsureAnswer(call, { informationSufficiency: 0.1, usedMessageIds: [`p${passages}`] }),
  };
  const messages = [
    userMessage('u1', story('cellar')),
    assistantMessage('near', 'The tide is near the cellar. '.repeat(8), {
      importance: 0.8,
      links: [link('a'), link('b')],
      references: ['u1'],
    }),
    userMessage('u2', story('attic')),
    assistantMessage('far', 'Nothing of it. '.repeat(20), { cycle: 1, importance: 0 }),
    userMessage('u3', story('garden')),
    searchMessage('old', 'An old passage on something else.'),
    assistantMessage('last', 'I will look.'),
  ];
  const { run } = startScripted(
    plan,
    { documents, limits: { maxCycles: CYCLES } },
    { request: 'When is the tide low?', messages },
  );
  await settle(100);
  sendAnswer(run, {
    type: 'consent.given',
    choice: 'keep',
    items: { 'earlier.u1': 'remove', 'earlier.u2': 'summarize' },
  });
  await run.answer;
  return run;
}

const stepOf = (id: string): number => Number(/^s(\d+)\./.exec(id)?.[1]);

describe('the context of a whole run', () => {
  let run: Run;
  let document: ContextDocument;
  /** The output of Understanding with the context before and after it, folded from the journal. */
  let evaluations: readonly {
    said: ReturnType<typeof entriesOf<'context-evaluated'>>[number];
    made: ContextDocument['operations'];
    before: readonly Message[];
    after: readonly Message[];
  }[];

  beforeAll(async () => {
    run = await fullRun();
    document = contextHistory(run.journal);
    evaluations = entriesOf(run, 'context-evaluated').map((evaluated) => {
      const made = document.operations.filter(({ id }) => stepOf(id) === evaluated.step);
      const before = applyOperations(
        document.initial,
        document.operations.filter(({ id }) => stepOf(id) < evaluated.step),
      );
      return { said: evaluated, made, before, after: applyOperations(before, made) };
    });
  });

  it('[C3] [U7] contains all six operations with reasons and unique ids', () => {
    const { operations } = document;
    expect(new Set(operations.map(({ operation }) => operation))).toEqual(
      new Set(['ADD', 'TAG', 'PRUNE', 'TRANSFORM', 'LINK', 'PRIORITIZE']),
    );
    expect(new Set(operations.map(({ id }) => id)).size).toBe(operations.length);
    for (const operation of operations) {
      expect(contextOperationSchema.parse(operation)).toEqual(operation);
      expect(operation.reason).not.toBe('');
    }
  });

  it('[U7] [C3] states a code of the closed list for every operation, and the original length of a summary', () => {
    const codes = (kind: string, role?: string) =>
      document.operations
        .filter(({ operation, metadata }) => operation === kind && (role === undefined || metadata['role'] === role))
        .map(({ code }) => code);
    expect(new Set(codes('ADD'))).toEqual(new Set(['phase_output', 'search_result']));
    expect(codes('LINK')).toContain('related');
    expect(codes('PRIORITIZE')).toContain('high_relevance');
    expect(codes('PRUNE', 'user')).toEqual(['user_consent']);
    expect(codes('TRANSFORM', 'user')).toEqual(['long_message']);
    expect(codes('TAG', 'user')).toEqual(['user_consent']);
    const originals = new Map(document.initial.map(({ id, content }) => [id, content.length]));
    for (const { operation, target, data } of document.operations)
      if (operation === 'TRANSFORM') expect(data.originalChars).toBe(originals.get(target));
    for (const { said } of evaluations)
      for (const { operationId, code } of said.pruningLog)
        expect(code).toBe(document.operations.find(({ id }) => id === operationId)?.code);
  });

  it('[U7] [U13] is journaled at each Understanding in valid entries with numbers for each loss', () => {
    expect(evaluations).toHaveLength(
      entriesOf(run, 'phase-start').filter(({ phase }) => phase === 'understanding').length,
    );
    expect(evaluations.length).toBeGreaterThan(1);
    for (const entry of run.journal) expect(journalEntrySchema.safeParse(entry).success).toBe(true);
    for (const { made } of evaluations)
      for (const { operation, metadata } of made)
        if (operation === 'PRUNE' || operation === 'TRANSFORM')
          expect(metadata).toMatchObject({
            relevance: expect.any(Number),
            tokens: expect.any(Number),
            role: expect.any(String),
          });
  });

  it('[U13] has one log entry for each pruned or summarized message and no other', () => {
    for (const { said: evaluated, made, before } of evaluations) {
      const losses = made.filter(({ operation }) => operation === 'PRUNE' || operation === 'TRANSFORM');
      expect(
        evaluated.pruningLog.map(({ operationId, operation, messageId, reason }) => [
          operationId,
          operation,
          messageId,
          reason,
        ]),
      ).toEqual(losses.map(({ id, operation, target, reason }) => [id, operation, target, reason]));
      for (const { messageId, role, preview } of evaluated.pruningLog) {
        const message = before.find(({ id }) => id === messageId);
        expect(role).toBe(message?.role);
        expect(message?.content.replace(/\s+/g, ' ').startsWith(preview.replace(/…$/, ''))).toBe(true);
      }
    }
    expect(evaluations.flatMap(({ said: { pruningLog } }) => pruningLog).length).toBeGreaterThan(4);
  });

  it('[U13] has statistics that follow from the applied operations', () => {
    const tokensOf = (messages: readonly Message[], before: readonly Message[]) => {
      const byId = new Map(before.map((message) => [message.id, message]));
      const sizes = messages.map((message) => {
        const evaluated = byId.get(message.id) ?? message;
        return Math.ceil(message.content.length / 4) + addedTokens(evaluated, 0.25);
      });
      return Math.round(sizes.reduce((sum, size) => sum + size, 0));
    };
    for (const {
      said: { statistics },
      made,
      before,
      after,
    } of evaluations) {
      const count = (kind: string) => made.filter(({ operation }) => operation === kind).length;
      expect(statistics).toMatchObject({
        messagesBefore: before.length,
        messagesAfter: after.length,
        tokensBefore: tokensOf(before, before),
        pruned: count('PRUNE'),
        summarized: count('TRANSFORM'),
      });
      expect(statistics.messagesBefore - statistics.messagesAfter).toBe(statistics.pruned);
      expect(Math.abs(statistics.tokensAfter - tokensOf(after, before))).toBeLessThanOrEqual(statistics.summarized);
    }
  });

  it('[U4] [U8] [U9] loses only the user messages that the user named', () => {
    const left = contextOf(document).filter(({ role }) => role === 'user');
    expect(left.map(({ id }) => id)).toEqual(['earlier.u2', 'earlier.u3', 'request']);
    expect(left[0]?.content.length).toBeLessThanOrEqual(200);
    expect(left[1]?.content).toBe(story('garden'));
  });

  it('[U2] [U6] keeps a passage while an answer refers to it and prunes it afterward', () => {
    const [, second] = evaluations;
    const gone = second?.said.pruningLog.map(({ messageId }) => messageId) ?? [];
    const rested = second?.before.flatMap(({ phase, references }) => (phase === 'yield' ? references : [])) ?? [];
    expect(rested.length).toBeGreaterThan(0);
    for (const id of rested) expect(gone).not.toContain(id);
    expect(evaluations[0]?.said.pruningLog.map(({ messageId }) => messageId)).not.toContain('p2');
  });
});
