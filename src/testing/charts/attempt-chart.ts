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

/** How a call can go: each kind of failure that the retry policy tells from the others. */
const FAILURES = {
  'broken off': failureOf('transport', 'connection_lost', 'The connection broke.'),
  'wait an hour': failureOf('transport', 'rate_limited', 'Too many requests.', {
    retryAfterMs: 3_600_000,
    status: 429,
  }),
  refused: failureOf('transport', 'unauthorized', 'The key was refused.', { retryable: false, status: 401 }),
  'no JSON': failureOf('extraction', 'no_json', 'There is no JSON in the reply.'),
} as const satisfies Record<string, Failure>;

const MISFIT: Validation = { ok: false, failure: failureOf('schema', 'schema_mismatch', 'The reply does not fit.') };
const FITS: Validation = { ok: true, value: { answer: 'It is so.' } };
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

/** The attempt machine with everything that a model and a schema can do to it. */
export const attemptChart = {
  machine: attemptMachine,
  inputs: { 'one model': inputWith({}), 'two models': inputWith({ maxFallbacks: 1 }) },
  outcomes: {
    readReply: [
      sends({ type: 'reply.started', ...NOW } as never, 'begins'),
      sends({ type: 'reply.progressed', ...NOW } as never, 'goes on'),
      sends({ type: 'reply.lost' }, 'is lost'),
      ended(null, 'ends well'),
      ...Object.entries(FAILURES).map(([name, failure]) => ended(failure, name)),
      fails(),
    ],
    validateReply: [done(FITS, 'fits'), done(MISFIT, 'does not fit'), fails()],
  },
  /** What the policy of retries goes by; of times, all that was waited for. A reply that is lost is charged to no budget. */
  abstraction: ({ context: { execution, failure, next, elapsedMs } }) => ({
    ...{
      corrections: execution.corrections,
      transportRetries: execution.transportRetries,
      fallbacks: execution.fallbacks,
    },
    ...{ failure: failure?.code, recorded: execution.attempts.at(-1)?.failure?.code, waitMs: next?.waitMs, elapsedMs },
  }),
} satisfies ExploredChart<typeof attemptMachine>;
