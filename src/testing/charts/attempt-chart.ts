import { assign } from 'xstate';
import type { ReadReplyInput } from '../../../machines/attempt/actors.ts';
import { attemptMachine } from '../../../machines/attempt/attempt.machine.ts';
import { finalize } from '../../../machines/attempt/setup.ts';
import type { AttemptState } from '../../../machines/attempt/state.ts';
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
  return { text: failure === null ? '{}' : '', value: failure === null ? {} : undefined, prose: false, failure, usage };
}

interface EndOptions {
  readonly prose?: boolean;
  /** If omitted, the schema is asynchronous. */
  readonly validation?: Validation;
}

const ended = (failure: Failure | null, name: string, { prose = false, ...validated }: EndOptions = {}) =>
  sends({ type: 'reply.ended', ...NOW, reply: { ...replyWith(failure), prose }, ...validated } as never, name);

function inputWith(policy: object, changes: Partial<AttemptInput> = {}): AttemptInput {
  return { id: 'explored', task: 'yield', input: 'Is it so?', policy: attemptPolicySchema.parse(policy), ...changes };
}

/** The id of an execution whose policy gives a value at the end. */
const FINALIZED = 'finalized';

const machine = attemptMachine.provide({
  actions: {
    finalize: assign(({ context }) =>
      finalize(context, {
        finalizeOrThrow: (_, { id }) => (id === FINALIZED ? { answer: 'It may be so.' } : undefined),
      }),
    ),
  },
});

/** As in a chain: the reply forms are tried, and a model that hangs is given up. */
const IN_CHAIN = { triesReplyForms: true, maxHungCalls: 2, maxTransportRetries: 1, backoffBaseMs: 0 };

/** A token costs 1. A prompt is expected to have 3 tokens and has 1, unless the call is lost; a reply has 1. */
const COSTS = {
  prices: [1, 1].map(() => ({ inputPerMillion: 1e6, cacheWritePerMillion: 1e6, outputPerMillion: 1e6 })),
  maxOutputTokens: [1, 1],
  backoffBaseMs: 0,
};

/** The attempt machine with every outcome of its model and schema. */
export const attemptChart = {
  machine,
  inputs: {
    'one model': inputWith({}),
    'a policy with a value': inputWith({ maxTransportRetries: 1, maxCorrections: 0 }, { id: FINALIZED }),
    'two models': inputWith({ maxFallbacks: 1 }),
    'in a chain': inputWith(IN_CHAIN),
    'in a chain, two models': inputWith({ ...IN_CHAIN, maxFallbacks: 1, maxHungCalls: 1, maxTransportRetries: 0 }),
    'with a cost limit': inputWith({ ...COSTS, maxCost: 8, maxCorrections: 3, maxFallbacks: 1 }),
    'a decision in a chain': inputWith(IN_CHAIN, { task: 'continuation' }),
  },
  outcomes: {
    readReply: (input) => [
      sends({ type: 'reply.started', ...NOW } as never, 'starts'),
      sends({ type: 'reply.progressed', ...NOW } as never, 'continues'),
      sends({ type: 'reply.lost' }, 'lost'),
      ended(null, 'valid', { validation: VALID }),
      ended(null, 'invalid', { validation: INVALID }),
      ended(null, 'unvalidated'),
      ...((input as ReadReplyInput).mayBeProse
        ? [
            ended(null, 'valid prose', { prose: true, validation: VALID }),
            ended(null, 'unvalidated prose', { prose: true }),
          ]
        : []),
      ...Object.entries(FAILURES).map(([name, failure]) => ended(failure, name)),
      fails(),
    ],
    validateReply: [done(VALID, 'valid'), done(INVALID, 'invalid'), fails()],
  },
  events: [],
  /** What the retry policy reads, and the time spent waiting. A lost reply uses no budget. */
  abstraction: ({ status, context }) => ({
    failure: context.failure?.code,
    recorded: context.execution.attempts.at(-1)?.failure?.code,
    ...(status === 'active' && decidingContext(context)),
  }),
} satisfies ExploredChart<typeof attemptMachine>;

function decidingContext({
  id,
  task,
  reply,
  execution,
  next,
  elapsedMs,
  policy,
  models,
  model,
  gaveUp,
  final,
}: AttemptState): object {
  return {
    id,
    task,
    final,
    // Without a chain, nothing is learned about the models.
    ...(policy.triesReplyForms && { models, isProse: reply?.prose }),
    model,
    gaveUp,
    ...(policy.maxCost !== null && { cost: execution.usage.cost }),
    corrections: execution.corrections,
    transportRetries: execution.transportRetries,
    fallbacks: execution.fallbacks,
    waitMs: next?.waitMs,
    // In a chain, the model is given up long before the time is.
    elapsedMs: policy.triesReplyForms ? 0 : elapsedMs,
  };
}
