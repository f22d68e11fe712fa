import { describe, expect, it, test } from 'vitest';
import { createActor, fromCallback, fromPromise, SimulatedClock } from 'xstate';
import { actionMachine } from '../../../machines/action/action.machine.ts';
import { attemptMachine } from '../../../machines/attempt/attempt.machine.ts';
import type { ReadReplyInput, ValidateReplyInput } from '../../../machines/attempt/ports.ts';
import { chainMachine } from '../../../machines/chain/chain.machine.ts';
import type { ReplyEvent, Validation } from '../../../machines/contracts/attempt.ts';

import { actionInput } from '../action/action-rig.ts';
import { attemptRig, flush, POLICY, reply } from './attempt-rig.ts';

const input = { id: 's1.yield', task: 'yield' as const, input: {}, policy: POLICY };
const readReply = fromCallback<ReplyEvent, ReadReplyInput>(() => {});
const validateReply = fromPromise<Validation, ValidateReplyInput>(async () => ({ ok: true, value: 1 }));

/** The error that a machine comes to when it is started with this input. */
function errorAtStart(machine: typeof attemptMachine) {
  const errors: unknown[] = [];
  const actor = createActor(machine, { input, clock: new SimulatedClock() });
  actor.subscribe({ error: (error) => errors.push(error) });
  actor.start();
  return { errors, status: actor.getSnapshot().status };
}

describe('a port that nobody provided', () => {
  test.each([
    ['readReply', attemptMachine.provide({ actors: { validateReply } })],
    ['validateReply', attemptMachine.provide({ actors: { readReply } })],
  ])('%s is refused at start, by name and with what to do', (name, machine) => {
    const { errors, status } = errorAtStart(machine);
    expect(status).toBe('error');
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatchObject({ code: 'port_missing', message: expect.stringContaining(`"${name}"`) });
    expect((errors[0] as Error).message).toContain('machine.provide');
  });

  test('the first of several is named', () => {
    expect(errorAtStart(attemptMachine).errors[0]).toMatchObject({ code: 'port_missing' });
  });

  test('with all of them provided the machine starts', () => {
    expect(errorAtStart(attemptMachine.provide({ actors: { readReply, validateReply } }))).toEqual({
      errors: [],
      status: 'active',
    });
  });

  test.each([
    ['the action machine', actionMachine, ['attempt', 'validateArguments', 'executeCapability', 'decideContinuation']],
    ['the chain', chainMachine, ['attempt', 'action', 'retrievePassages']],
  ])('%s names one of its own', (_, machine, names) => {
    const actor = createActor(machine, { input: { limits: {}, policy: POLICY } as never });
    const errors: { readonly message?: string }[] = [];
    actor.subscribe({ error: (error) => errors.push(error as Error) });
    actor.start();
    expect(names.some((name) => errors[0]?.message?.includes(`"${name}"`))).toBe(true);
  });

  it('is refused at start, by name, also in a machine that fills a port of another', () => {
    const filled = fromPromise(() => new Promise(() => {})) as never;
    const actors = {
      attempt: attemptMachine,
      validateArguments: filled,
      executeCapability: filled,
      decideContinuation: filled,
    };
    const actor = createActor(actionMachine.provide({ actors }), { input: actionInput([]) });
    expect(actor.getSnapshot()).toMatchObject({
      status: 'error',
      error: { code: 'port_missing', message: expect.stringContaining('"readReply"') },
    });
  });

  test('the actor is in error before it is started, and asking it for a snapshot does not throw', () => {
    const actor = createActor(attemptMachine, { input });
    expect(actor.getSnapshot()).toMatchObject({ status: 'error', error: { code: 'port_missing' } });
  });
});

describe('a port that breaks', () => {
  const validator = (thrown: unknown) => attemptRig({ validate: () => Promise.reject(thrown) });

  test.each([
    ['an error', new Error('schema gone\nat line 1'), 'schema gone'],
    ['an error without a message', new Error(''), 'an error without a message'],
    ['a string', 'no', 'no'],
    ['undefined', undefined, 'undefined'],
    ['a symbol', Symbol('no'), 'Symbol(no)'],
  ])(
    'a validator that rejects with %s is an unexpected failure: told in one line, not tried again',
    async (_, thrown, message) => {
      const rig = validator(thrown);
      await rig.end(reply());
      expect(rig.outcome()).toMatchObject({
        ok: false,
        failure: { stage: 'unexpected', message, retryable: false },
        execution: { attempts: [{ text: '{"good":true}' }], usage: { modelCalls: 1, outputTokens: 5 } },
      });
    },
  );

  it.each([
    ['an object without a prototype', Object.create(null)],
    ['an error whose message is no text', Object.assign(new Error('x'), { message: 5 })],
  ])('a validator that rejects with %s does not crash the machine', async (_, thrown) => {
    const rig = validator(thrown);
    await rig.end(reply());
    expect(rig.actor.getSnapshot().status).toBe('done');
    expect(rig.outcome()).toMatchObject({ ok: false, failure: { stage: 'unexpected' } });
  });

  test('a reader that throws as it starts is an unexpected failure of that attempt', async () => {
    const rig = attemptRig({
      onRead: () => {
        throw new Error('no reader');
      },
    });
    await flush();
    expect(rig.outcome()).toMatchObject({
      ok: false,
      failure: { stage: 'unexpected', message: 'no reader' },
      execution: { attempts: [{ attempt: 1, text: '' }] },
    });
    expect(rig.facts.map(({ type }) => type)).toEqual(['attempt-start', 'attempt-end']);
  });

  test('stopped in mid-attempt, the reader is stopped with the machine', () => {
    const rig = attemptRig();
    rig.call().started();
    rig.actor.stop();
    expect(rig.call().stopped).toBe(true);
    rig.clock.increment(1_000_000);
    expect(rig.calls).toHaveLength(1);
    expect(rig.facts.map(({ type }) => type)).toEqual(['attempt-start']);
  });
});
