import { describe, expect, it } from 'vitest';
import { emittedEventSchema } from '../../../machines/contracts/events.ts';
import { JOURNAL_VERSION, type JournalEvent, journalEntrySchema } from '../../../machines/contracts/journal.ts';
import {
  aCapabilityResult,
  aChainInput,
  aDecision,
  aFailure,
  aFinalAnswer,
  aMessage,
  operations,
  results,
} from '../../support/contract-samples.ts';

const usage = { inputTokens: 1, outputTokens: 2, estimated: false };
const item = {
  operationId: 'o',
  messageId: 'm',
  role: 'user' as const,
  preview: 'p',
  chars: 2_000,
  summary: 's',
  reason: 'r',
};

/** One of each kind of entry; the type keeps the list complete. */
const facts: { readonly [T in JournalEvent['type']]: Extract<JournalEvent, { type: T }> } = {
  attachment: {
    type: 'attachment',
    digest: 'd1',
    mediaType: 'image/png',
    name: null,
    bytes: 3,
    data: 'AAAA',
  },
  'phase-start': { type: 'phase-start', phase: 'action', cycle: 1, step: 1 },
  'phase-end': { type: 'phase-end', phase: 'action', cycle: 1, step: 1, summary: 's', failure: aFailure() },
  operations: { type: 'operations', phase: 'action', step: 1, applied: Object.values(operations) },
  recovery: { type: 'recovery', phase: 'action', action: 'repeat', failure: aFailure() },
  'consent-asked': { type: 'consent-asked', questionId: 's5.consent', request: { items: [item] } },
  'approval-asked': {
    type: 'approval-asked',
    questionId: 's1.action.approval1',
    digest: 'd1',
    capability: 'draft',
    arguments: { words: 3 },
    index: 1,
    problem: null,
  },
  'approval-resolved': {
    type: 'approval-resolved',
    questionId: 's1.action.approval1',
    digest: 'd2',
    capability: 'draft',
    arguments: { words: 4 },
    original: { words: 3 },
    index: 1,
    decision: 'edited',
    by: 'user',
    reason: '',
  },
  'answer-refused': {
    type: 'answer-refused',
    event: 'consent.given',
    questionId: 's5.consent',
    question: 's11.consent',
    reason: 'other_question',
  },
  'consent-resolved': { type: 'consent-resolved', kept: 1, summarized: 0, removed: 0, by: 'time-out' },
  'context-overruled': {
    type: 'context-overruled',
    messageId: 'm1',
    choice: 'keep',
    undone: ['s1.o3'],
    problem: null,
  },
  'direction-asked': {
    type: 'direction-asked',
    questionId: 's6.direction',
    cycle: 1,
    proposal: 'experience',
    answer: 'a',
    confidence: 0.5,
    recommendation: null,
  },
  'context-evaluated': {
    type: 'context-evaluated',
    step: 5,
    statistics: results.understanding.statistics,
    pruningLog: [...results.understanding.pruningLog],
    problem: null,
  },
  'direction-refused': { type: 'direction-refused', received: 'nowhere', reason: 'unknown_phase' },
  decision: { type: 'decision', decision: aDecision(), continuationPrompt: null },
  answer: { type: 'answer', answer: aFinalAnswer() },
  'session-recalled': { type: 'session-recalled', sessionId: 'u', turns: 1, messages: [aMessage()], problem: null },
  'session-stored': { type: 'session-stored', sessionId: 'u', problem: 'a full disk' },
  'attempt-start': { type: 'attempt-start', model: 0, attemptId: 'a', task: 'synthesis', attempt: 1 },
  'model-status': { type: 'model-status', attemptId: 'a', task: 'yield', model: 0, change: 'prose' },
  'attempt-end': { type: 'attempt-end', attemptId: 'a', task: 'yield', attempt: 1, failure: null, usage },
  'attempt-retry': { type: 'attempt-retry', attemptId: 'a', attempt: 2, model: 0, delayMs: 500 },
  'retry-rule': { type: 'retry-rule', attemptId: 'a', rule: 'shouldRetry', result: false, error: null },
  'capability-start': { type: 'capability-start', id: 's1.action.1', capability: 'draft', index: 1 },
  continuation: {
    type: 'continuation',
    index: 1,
    decidedBy: 'model',
    done: false,
    finalOutput: null,
    next: ['review'],
    limitReached: false,
  },
  'capability-stop': {
    type: 'capability-stop',
    reason: 'invalid_next_step',
    runs: 2,
    failed: 1,
    capabilityMs: 12,
    code: 'unknown_capability',
    problem: 'there is none',
  },
  'capability-end': { type: 'capability-end', index: 1, result: aCapabilityResult() },
  'run-start': {
    type: 'run-start',
    version: JOURNAL_VERSION,
    chart: { id: 'postChain', digest: '0123abcd' },
    ...aChainInput({ messages: [aMessage()] }),
    modelId: 'm',
    fallbackModelIds: ['n'],
    instructionsDigest: null,
    prompts: { action: { name: 'action', version: 1 } },
    startedAt: '2025-01-27T10:00:00Z',
    host: { flags: ['--docs', 'docs'] },
    seed: 1,
    node: '20.20.2',
    icu: '78.2',
    redacted: false,
    forkedFrom: {
      runId: 'q',
      seq: 7,
      changes: ['thresholds.confidence=0.5'],
      forkedAt: '2025-01-27T10:00:00Z',
      clockStartMs: 1,
    },
  },
  'call-start': {
    type: 'call-start',
    call: 0,
    actor: 'readReply',
    path: '/attempt/readReply',
    inputDigest: '0123456789abcdef',
    request: '0123456789abcdef',
  },
  'call-event': {
    type: 'call-event',
    call: 0,
    actor: 'measureContext',
    to: '/measureContext',
    event: { type: 'done', output: [1] },
  },
  'timer-start': { type: 'timer-start', timer: 0, event: 'xstate.after.100.chain', dueMs: 100 },
  ignored: { type: 'ignored', machine: 'postChain', event: 'run.finished', candidates: [] },
  timer: { type: 'timer', timer: 0 },
  failed: { type: 'failed', actor: '/attempt/readReply', error: { name: 'DurableError', message: 'm' } },
  'run-stopped': { type: 'run-stopped' },
  resumed: { type: 'resumed', resumedAt: '2025-01-27T10:00:00Z' },
  closed: { type: 'closed', closedAt: '2025-01-27T10:00:00Z', waiting: { sinceMs: 0, dueAtMs: null, events: [] } },
  delivery: {
    type: 'delivery',
    event: { type: 'consent.given', questionId: 's5.consent', choice: 'keep', items: { m: 'remove' } },
  },
  transition: {
    type: 'transition',
    machine: 'postChain',
    event: 'x',
    source: 'a',
    target: ['b'],
    candidates: [{ guard: 'g', target: ['b'], result: 'taken', inputs: { confidence: 0.9, phase: null } }],
  },
  retrieval: { type: 'retrieval', query: 'q', passages: 3, widened: false, failure: null },
  prompt: {
    type: 'prompt',
    attemptId: 's1',
    digest: '01234567',
    turns: [{ role: 'user', parts: [0] }],
    schema: 1,
    tools: [],
    parts: { 0: 'Is it so?', 1: '{}' },
  },
  'text-delta': { type: 'text-delta', attemptId: 'a', text: 't' },
  'run-end': { type: 'run-end', status: 'degraded', usage: { modelCalls: 1, cost: null, ...usage } },
};

describe('a journal entry', () => {
  it.each(Object.values(facts))('of type $type survives JSON with its position', (fact) => {
    const entry = { seq: 3, atMs: 12.5, ...fact };
    expect(journalEntrySchema.parse(JSON.parse(JSON.stringify(entry)))).toEqual(entry);
  });

  it('is rejected with a negative position, an unknown type, or another version', () => {
    const start = { seq: 0, atMs: 0, ...facts['run-start'] };
    expect(journalEntrySchema.safeParse({ ...start, seq: -1 }).error?.issues[0]?.path).toEqual(['seq']);
    expect(journalEntrySchema.safeParse({ ...start, type: 'gossip' }).success).toBe(false);
    expect(JSON.stringify(journalEntrySchema.safeParse({ ...start, version: 2 }).error?.issues)).toContain('version');
  });

  it('reports the invalid field in a chart entry', () => {
    const bad = { ...facts.decision, decision: aDecision({ cycle: 0 }) };
    expect(emittedEventSchema.safeParse(bad).error?.issues.map(({ path }) => path.join('.'))).toEqual([
      'decision.cycle',
    ]);
  });
});
