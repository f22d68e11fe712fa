import { describe, expect, test } from 'vitest';
import { createActor, fromCallback, fromPromise, SimulatedClock } from 'xstate';
import { createActionMachine } from '../../../machines/action/action.machine.ts';
import type { ReadReplyInput, ValidateReplyInput } from '../../../machines/attempt/actors.ts';
import { attemptMachine, createAttemptMachine } from '../../../machines/attempt/attempt.machine.ts';
import { chainMachine, createChainMachine } from '../../../machines/chain/chain.machine.ts';
import type { AttemptOutcome, ReplyEvent, Validation } from '../../../machines/contracts/attempt.ts';
import { createBareChain } from '../../../src/chain/runtime/bare-chain.ts';
import { flush, POLICY, reply } from '../../support/attempt-machine.ts';

const input = { id: 's1.yield', task: 'yield' as const, input: {}, policy: POLICY };
const readReply = fromCallback<ReplyEvent, ReadReplyInput>(() => {});
const validateReply = fromPromise<Validation, ValidateReplyInput>(async () => ({ ok: true, value: 1 }));

/** Returns the output of the attempt machine with these actors. */
async function outcomeOf(machine: typeof attemptMachine) {
  const actor = createActor(machine, { input, clock: new SimulatedClock() });
  actor.start();
  await flush();
  return actor.getSnapshot().output;
}

const replies = fromCallback<ReplyEvent, ReadReplyInput>(({ sendBack }) => {
  sendBack({ type: 'reply.ended', openedAtMs: 0, atMs: 0, chars: 2, reply: reply() });
});

describe('a missing actor', () => {
  test.each([
    ['readReply', attemptMachine],
    ['readReply', attemptMachine.provide({ actors: { validateReply } })],
    ['validateReply', attemptMachine.provide({ actors: { readReply: replies } })],
  ])('%s fails with port_missing, its name, and a hint when it is invoked', async (name, machine) => {
    expect(await outcomeOf(machine)).toMatchObject({
      ok: false,
      failure: { stage: 'unexpected', code: 'port_missing', retryable: false },
    });
    const { failure } = (await outcomeOf(machine)) as Extract<AttemptOutcome, { ok: false }>;
    expect(failure.message).toContain(`"${name}" is missing`);
    expect(failure.message).toContain('machine.provide');
  });

  test('ends the run with a degraded answer that names the actor', async () => {
    const actor = createActor(chainMachine, { input: createBareChain().createInput({ request: 'Is it?' }) }).start();
    await flush(200);
    const { status, output, context } = actor.getSnapshot();
    expect([status, output?.status]).toEqual(['done', 'degraded']);
    expect(context.failures[0]?.failure).toMatchObject({ code: 'port_missing' });
    expect(output?.reasons[0]?.message).toContain('is missing');
  });

  test('is a type error in the factories', () => {
    // @ts-expect-error: `validateReply` is missing
    createAttemptMachine({ readReply });
    // @ts-expect-error: all but `attempt` are missing
    createActionMachine({ attempt: attemptMachine });
    // @ts-expect-error: all are missing
    createChainMachine({});
  });
});
