import { attemptExecutionSchema, feedbackSchema, replySchema } from '../../../machines/contracts/attempt.ts';
import {
  capabilityCallSchema,
  capabilityDescriptorSchema,
  capabilityResultSchema,
} from '../../../machines/contracts/capability.ts';
import { consentRequestSchema } from '../../../machines/contracts/context.ts';
import { phaseFailureSchema } from '../../../machines/contracts/failure.ts';
import { retrievalSchema } from '../../../machines/contracts/passage.ts';
import { tokenUsageSchema, usageSchema } from '../../../machines/contracts/usage.ts';
import { type ContractCase, contractCase } from './contract-case.ts';
import { aCapabilityResult, anExecution, aPassage, aPhaseFailure } from './samples.ts';

/** What goes between the chain and the world. */
export const attemptCases: readonly ContractCase[] = [
  contractCase(
    '[A5]',
    'an attempt execution',
    attemptExecutionSchema,
    anExecution(),
    ['task', 7],
    ['attempts.0.attempt', 0],
    ['corrections', -1],
    ['usage.modelCalls', -1],
  ),
  contractCase('[A9]', 'feedback', feedbackSchema, { previousReply: '{', problem: 'cut off' }, ['problem', null]),
  contractCase(
    '[A11]',
    'a reply',
    replySchema,
    { text: '{}', value: {}, failure: null, usage: { inputTokens: 1, outputTokens: 1, estimated: true } },
    ['text', null],
  ),
  contractCase(
    '[A11]',
    'usage',
    usageSchema,
    { modelCalls: 1, inputTokens: 2, outputTokens: 3, estimated: false, cost: 0.5 },
    ['cost', -1],
    ['modelCalls', -1],
    ['inputTokens', 1.5],
  ),
  contractCase('[A11]', 'token usage', tokenUsageSchema, { inputTokens: 2, outputTokens: 3, estimated: true }, [
    'outputTokens',
    -1,
  ]),
  contractCase(
    '[A10]',
    'a failure of a phase',
    phaseFailureSchema,
    aPhaseFailure('action', { retryAfterMs: 1000, status: 429 }),
    ['failure.stage', 'luck'],
    ['failure.retryAfterMs', -1],
  ),
  contractCase(
    '[R10]',
    'a capability descriptor',
    capabilityDescriptorSchema,
    { name: 'draft', description: 'Drafts.', arguments: { type: 'object' }, timeoutMs: 5_000 },
    ['name', ''],
    ['timeoutMs', 0],
    ['arguments', 'none'],
  ),
  contractCase('[R2]', 'a capability call', capabilityCallSchema, { capability: 'draft', arguments: '{}' }, [
    'arguments',
    {},
  ]),
  contractCase(
    '[R2]',
    'a capability result',
    capabilityResultSchema,
    aCapabilityResult({ success: false, error: 'no' }),
    ['success', 'yes'],
    ['durationMs', -1],
  ),
  contractCase(
    '[C5]',
    'a retrieval',
    retrievalSchema,
    { query: 'q', passages: [aPassage()], widened: true },
    ['passages.0.text', ''],
    ['passages.0.relevance', 1.5],
  ),
  contractCase(
    '[U8]',
    'a consent request',
    consentRequestSchema,
    { items: [{ operationId: 'o', messageId: 'm', preview: 'p', chars: 1200, summary: 's' }] },
    ['items.0.chars', 0.5],
  ),
];
