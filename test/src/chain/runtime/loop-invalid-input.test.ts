import { describe, expect, it } from 'vitest';
import type { CapabilityResult } from '../../../../machines/contracts/capability.ts';
import { createCapabilityLoop, type LoopOptions } from '../../../../src/chain/runtime/capability-loop.ts';
import { scriptedModel } from '../../../../src/models/scripted.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { LOOP_HOSTS, REQUEST, type StartedLoop, startLoop } from '../../../support/capability-loops.ts';
import { capabilityNamed, entriesOf } from '../../../support/run-chain.ts';
import { TestClock } from '../../../support/simulated-clock.ts';

const ended = async (played: StartedLoop): Promise<CapabilityResult | undefined> => {
  await played.end();
  if (played.answer !== null) expect((await played.answer).answerText.trim()).not.toBe('');
  expect(played.clock.openTimers).toBe(0);
  return entriesOf(played, 'capability-end')[0]?.result;
};

const circular: { self?: object } = {};
circular.self = circular;

describe.each(LOOP_HOSTS)('[R7] a misbehaving capability through %s', (way) => {
  it('that returns at the moment of its abort is still late', async () => {
    const draft = (_: unknown, { signal }: { signal: AbortSignal }) =>
      new Promise((resolve) => signal.addEventListener('abort', () => resolve('just in time')));
    const played = startLoop(way, { execute: { draft }, options: { limits: { capabilityMs: 500 } } });
    expect(await ended(played)).toMatchObject({ success: false, code: 'timed_out', output: '' });
  });
});

describe('a loop with invalid input', () => {
  const loop = createCapabilityLoop({
    model: scriptedModel({}, { otherwise: replies }),
    clock: new TestClock(),
    capabilities: [capabilityNamed('draft')],
  });
  const asked = (options: unknown) => loop.run(options as LoopOptions).outcome;

  it.each([[{ request: '' }], [{ request: 5 }], [{}], [undefined], [null]])(
    'throws invalid_request for %j before the start',
    (options) => {
      expect(() => asked(options)).toThrow(expect.objectContaining({ code: 'invalid_request' }));
    },
  );

  const call = (given: unknown) => ({ request: REQUEST, call: given });

  it.each<[string, unknown]>([
    ['a text', 'draft'],
    ['an object without a name', { arguments: {} }],
    ['a non-string name', { capability: 5, arguments: {} }],
    ['non-JSON arguments', { capability: 'draft', arguments: circular }],
    ['a list of arguments', { capability: 'draft', arguments: [] }],
    ['a bigint among the arguments', { capability: 'draft', arguments: { big: 1n } }],
  ])('throws invalid_option for a first step that is %s', (_, given) => {
    expect(() => asked(call(given))).toThrow(expect.objectContaining({ code: 'invalid_option' }));
  });
});

describe('an unknown loop option', () => {
  it.each([{ mode: 'manual' }, { startAt: 'yield' }, { host: {} }, { reqest: 'x' }])('is rejected: %j', (options) => {
    const [name] = Object.keys(options);
    expect(() => createCapabilityLoop().run({ request: 'Is it so?', ...options } as LoopOptions)).toThrow(
      expect.objectContaining({
        code: 'invalid_option',
        message: `${name}: unknown option; expected one of request, history, messages, sessionId, instructions, clientTools, signal, call.`,
      }),
    );
  });
});
