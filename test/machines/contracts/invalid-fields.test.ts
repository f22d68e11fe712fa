import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { consentRequestSchema, contextOperationSchema } from '../../../machines/contracts/context.ts';
import { messageSchema } from '../../../machines/contracts/message.ts';
import { replySchemas } from '../../../machines/contracts/phase-io.ts';
import { finalAnswerSchema, synthesisReplySchema } from '../../../machines/contracts/synthesis.ts';
import { aFinalAnswer, aMessage, operations, results } from '../../support/contract-samples.ts';

/** A copy with another value at a dotted path. */
function withValueAt(value: object, path: string, bad: unknown): object {
  const copy = structuredClone(value) as Record<string, unknown>;
  const keys = path.split('.');
  const last = keys.pop() ?? '';
  const parent = keys.reduce((at, key) => at[key] as Record<string, unknown>, copy);
  parent[last] = bad;
  return copy;
}

const written = { answerText: 'In 1932.', confidence: 0.9, usedMessageIds: ['p1'], usedStepIds: ['s1'], notes: '' };
const item = { operationId: 'o', messageId: 'm', role: 'user', preview: 'p', chars: 9, summary: 's', reason: 'r' };

describe('contracts with models, stores, and users', () => {
  it.each<[string, z.ZodMiniType, object, string, unknown]>([
    ['[C1] a reply to Action', replySchemas.action, results.action.reply, 'confidence', 1.2],
    ['[C1] a reply to Experience', replySchemas.experience, results.experience.reply, 'confidence', 'high'],
    ['[C1] a reply to Intention', replySchemas.intention, results.intention.reply, 'clarity', -1],
    ['[C1] a reply to Observation', replySchemas.observation, results.observation.reply, 'connections.0.strength', 7],
    [
      '[C1] a reply to Understanding',
      replySchemas.understanding,
      results.understanding.reply,
      'assessments.0.relevance',
      1.01,
    ],
    ['[C1] a reply to Yield', replySchemas.yield, results.yield.reply, 'informationSufficiency', 'much'],
    ['[E2] a written answer', synthesisReplySchema, written, 'answerText', '   '],
    ['[C2] a message', messageSchema, aMessage(), 'role', 'system'],
    ['[C3] an ADD operation', contextOperationSchema, operations.ADD, 'data.message.role', 'system'],
    ['[C3] a LINK operation', contextOperationSchema, operations.LINK, 'data.strength', 1.1],
    ['[U8] a consent request', consentRequestSchema, { items: [item] }, 'items.0.chars', 0.5],
    ['[E2] a final answer', finalAnswerSchema, aFinalAnswer(), 'metadata.budget.tokens.used', -1],
  ])('%s is valid after JSON, and an invalid field is named', (_, schema, value, path, bad) => {
    expect(z.parse(schema, JSON.parse(JSON.stringify(value)))).toEqual(value);
    const paths = schema.safeParse(withValueAt(value, path, bad)).error?.issues.map((issue) => issue.path.join('.'));
    expect(paths).toContain(path);
  });
});
