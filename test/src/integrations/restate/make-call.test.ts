import { describe, expect, it } from 'vitest';
import type { CallEvent } from '../../../../machines/contracts/events.ts';
import type { Activity } from '../../../../src/engine/activities.ts';
import { makeCall } from '../../../../src/integrations/restate/restate-executor.ts';

const never = new AbortController().signal;
const reply = { text: '', value: null, failure: null, usage: { inputTokens: 0, outputTokens: 0, estimated: true } };
const ended: CallEvent = { type: 'reply.ended', openedAtMs: 1, atMs: 9, chars: 3, reply };

/** A call that tells all of these at once. */
const callOf = (perform: Activity['execute']): Activity => ({
  port: 'port',
  input: null,
  isWaiting: () => true,
  execute: perform,
  onEvent: () => {},
});
const telling = (...events: readonly CallEvent[]): Activity => callOf((tell) => events.forEach(tell));

describe('a call that is made to its end', () => {
  it('gives that its reply began and how it ended, and nothing between', async () => {
    const started: CallEvent = { type: 'reply.started', openedAtMs: 1, atMs: 2, chars: 0 };
    const progressed: CallEvent = { type: 'reply.progressed', openedAtMs: 1, atMs: 3, chars: 1 };
    expect(await makeCall(telling(started, progressed, ended), never)).toEqual([started, ended]);
    expect(await makeCall(telling(ended), never)).toEqual([ended]);
  });

  it('takes what breaks for an outcome, a call that throws included', async () => {
    const broken: CallEvent = { type: 'broken', error: { name: 'Error', message: 'no' } };
    expect(await makeCall(telling(broken), never)).toEqual([broken]);
    const throwing = callOf(() => {
      throw new TypeError('a bug');
    });
    expect(await makeCall(throwing, never)).toEqual([
      { type: 'broken', error: { name: 'TypeError', message: 'a bug' } },
    ]);
  });

  it.each([
    ['a circle', Object.assign([], { 0: [] as unknown[] })],
    ['a big number', 1n],
  ])('is broken where its answer cannot be written down: %s', async (_, output) => {
    if (Array.isArray(output)) output[0] = output;
    const events = await makeCall(telling({ type: 'settled', output }), never);
    expect(events).toMatchObject([{ type: 'broken', error: { name: 'TypeError' } }]);
  });

  it('ends with nothing when it is given up, whether its port listens or not', async () => {
    const controller = new AbortController();
    const made = makeCall(
      callOf(() => {}),
      controller.signal,
    );
    controller.abort();
    expect(await made).toEqual([]);
  });
});
