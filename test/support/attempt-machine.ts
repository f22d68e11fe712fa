import { createActor, fromCallback, fromPromise, SimulatedClock } from 'xstate';
import type { ReadReplyInput, ValidateReplyInput } from '../../machines/attempt/actors.ts';
import { attemptMachine } from '../../machines/attempt/attempt.machine.ts';
import type { AttemptState } from '../../machines/attempt/state.ts';
import {
  type AttemptPolicy,
  DEFAULT_POLICY,
  type Reply,
  type ReplyEvent,
  type Validation,
} from '../../machines/contracts/attempt.ts';
import type { EmittedEvent } from '../../machines/contracts/events.ts';
import type { Failure } from '../../machines/contracts/failure.ts';
import type { TokenUsage } from '../../machines/contracts/usage.ts';
import { failureOf } from '../../machines/policies/failures.ts';

export const POLICY: AttemptPolicy = {
  ...DEFAULT_POLICY,
  maxCorrections: 2,
  maxTransportRetries: 3,
  maxCalls: 100,
  firstChunkMs: 1_000,
  chunkMs: 800,
  backoffBaseMs: 100,
  backoffMaxMs: 1_000,
  maxReplyChars: 10_000,
};

export const USAGE: TokenUsage = { inputTokens: 10, outputTokens: 5, estimated: false };

/** A reply with a value that the rig's validator takes. */
export function reply(changes: Partial<Reply> = {}): Reply {
  return { text: '{"good":true}', value: { good: true }, prose: false, failure: null, usage: USAGE, ...changes };
}

/** A reply that the rig's validator refuses. */
export function invalidReply(text = '{"good":false}'): Reply {
  return reply({ text, value: { good: false } });
}

/** A reply that broke on its way. */
export function failedReply(changes: Partial<Failure> = {}): Reply {
  const failure = { ...failureOf('transport', 'stream_cut', 'The connection broke.'), ...changes };
  return reply({ text: '', value: null, failure });
}

export const SCHEMA_FAILURE = failureOf('schema', 'invalid_reply', 'The reply does not fit in one place.', {
  issues: [{ path: 'good', message: 'expected true' }],
});

/** One call of the scripted reader, to be played by the test. */
interface Call {
  readonly input: ReadReplyInput;
  readonly stopped: boolean;
  readonly send: (event: ReplyEvent) => void;
  readonly started: () => void;
  readonly progressed: () => void;
  readonly ended: (reply: Reply) => void;
}

interface StartAttemptOptions {
  readonly policy?: Partial<AttemptPolicy>;
  readonly validate?: (input: ValidateReplyInput) => Promise<Validation>;
  /** Runs as a reader starts; what it throws, the reader throws. */
  readonly onRead?: (attempt: number) => void;
  readonly machine?: typeof attemptMachine;
}

/** The attempt machine, started, with a reader that the test plays, a validator, and a clock that the test moves. */
export function startAttempt({
  policy = {},
  validate = validateGood,
  onRead,
  machine = attemptMachine,
}: StartAttemptOptions = {}) {
  const clock = new SimulatedClock();
  const calls: Call[] = [];
  const facts: EmittedEvent[] = [];
  const contexts: AttemptState[] = [];
  const readReply = fromCallback<ReplyEvent, ReadReplyInput>(({ input, sendBack }) => {
    onRead?.(input.attempt);
    let stopped = false;
    const openedAtMs = clock.now();
    const now = () => ({ openedAtMs, atMs: clock.now() });
    calls.push({
      input,
      get stopped() {
        return stopped;
      },
      send: sendBack,
      started: () => sendBack({ type: 'reply.started', ...now(), chars: 4 }),
      progressed: () => sendBack({ type: 'reply.progressed', ...now(), chars: 8 }),
      ended: (whole) => sendBack({ type: 'reply.ended', ...now(), chars: 8, reply: whole }),
    });
    return () => {
      stopped = true;
    };
  });
  const validateReply = fromPromise<Validation, ValidateReplyInput>(({ input }) => validate(input));
  const actor = createActor(machine.provide({ actors: { readReply, validateReply } }), {
    input: { id: 's1.yield', task: 'yield', input: { question: 'why' }, policy: { ...POLICY, ...policy } },
    clock,
  });
  actor.on('*', (fact) => facts.push(fact));
  actor.subscribe({ next: ({ context }) => contexts.push(context), error: () => {} });
  actor.start();

  return {
    actor,
    clock,
    calls,
    facts,
    contexts,
    /** The call under way. */
    call(): Call {
      const last = calls.at(-1);
      if (last === undefined) throw new Error('nothing was called');
      return last;
    },
    /** Ends the call under way and lets validation come to its end. */
    async end(whole: Reply): Promise<void> {
      this.call().ended(whole);
      await flush();
    },
    state: () => actor.getSnapshot().value,
    outcome() {
      const { output } = actor.getSnapshot();
      if (output === undefined) throw new Error(`not ended, but in ${JSON.stringify(actor.getSnapshot().value)}`);
      return output;
    },
  };
}

async function validateGood({ value }: ValidateReplyInput): Promise<Validation> {
  const { good } = value as { good: boolean };
  return good ? { ok: true, value: { good, checked: true } } : { ok: false, failure: SCHEMA_FAILURE };
}

/** Lets every promise that can settle do so. */
export async function flush(turns = 50): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
}
