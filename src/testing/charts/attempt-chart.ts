import { attemptMachine } from '../../../machines/attempt/attempt.machine.ts';
import {
  type AttemptInput,
  attemptPolicySchema,
  type Reply,
  type Validation,
} from '../../../machines/contracts/attempt.ts';
import type { Failure } from '../../../machines/contracts/failure.ts';
import { failureOf } from '../../../machines/policies/failures.ts';
import type { ExploredChart } from '../exploration/explore.ts';
import { done, fails, sends } from '../exploration/occurrences.ts';

/** The failures of a call that the retry policy treats differently. */
const FAILURES = {
  'connection lost': failureOf('transport', 'connection_lost', 'The connection was lost.'),
  'rate limited for an hour': failureOf('transport', 'rate_limited', 'Too many requests.', {
    retryAfterMs: 3_600_000,
    status: 429,
  }),
  unauthorized: failureOf('transport', 'unauthorized', 'The key was rejected.', { retryable: false, status: 401 }),
  'no JSON': failureOf('extraction', 'no_json', 'The reply contains no JSON.'),
} as const satisfies Record<string, Failure>;

const INVALID: Validation = {
  ok: false,
  failure: failureOf('schema', 'schema_mismatch', 'The reply does not match the schema.'),
};
const VALID: Validation = { ok: true, value: { answer: 'It is so.' } };
const NOW = { openedAtMs: 0, atMs: 0, chars: 4 };

function replyWith(failure: Failure | null): Reply {
  const usage = { inputTokens: 1, outputTokens: 1, estimated: false };
  return { text: failure === null ? '{}' : '', value: failure === null ? {} : undefined, failure, usage };
}

const ended = (failure: Failure | null, name: string) =>
  sends({ type: 'reply.ended', ...NOW, reply: replyWith(failure) } as never, name);

function inputWith(policy: object): AttemptInput {
  return { id: 'explored', task: 'answer', input: 'Is it so?', policy: attemptPolicySchema.parse(policy) };
}

/** The attempt machine with every outcome of its model and schema. */
export const attemptChart = {
  machine: attemptMachine,
  inputs: { 'one model': inputWith({}), 'two models': inputWith({ maxFallbacks: 1 }) },
  outcomes: {
    readReply: [
      sends({ type: 'reply.started', ...NOW } as never, 'starts'),
      sends({ type: 'reply.progressed', ...NOW } as never, 'continues'),
      sends({ type: 'reply.lost' }, 'lost'),
      ended(null, 'complete'),
      ...Object.entries(FAILURES).map(([name, failure]) => ended(failure, name)),
      fails(),
    ],
    validateReply: [done(VALID, 'valid'), done(INVALID, 'invalid'), fails()],
  },
  /** What the retry policy reads, and the time spent waiting. A lost reply uses no budget. */
  abstraction: ({ context: { execution, failure, next, elapsedMs } }) => ({
    corrections: execution.corrections,
    transportRetries: execution.transportRetries,
    fallbacks: execution.fallbacks,
    failure: failure?.code,
    recorded: execution.attempts.at(-1)?.failure?.code,
    waitMs: next?.waitMs,
    elapsedMs,
  }),
} satisfies ExploredChart<typeof attemptMachine>;
