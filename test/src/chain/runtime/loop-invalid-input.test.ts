import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { CapabilityResult } from '../../../../machines/contracts/capability.ts';
import { createCapabilityLoop, type LoopOptions } from '../../../../src/chain/runtime/capability-loop.ts';
import { scriptedModel } from '../../../../src/models/scripted.ts';
import { replies } from '../../../../src/testing/replies.ts';
import {
  entriesOfType,
  LOOP_HOSTS,
  type LoopScript,
  loopCapability,
  loopSummary,
  REQUEST,
  type StartedLoop,
  startLoop,
} from '../../../support/capability-loops.ts';
import { nextTurn, TestClock } from '../../../support/simulated-clock.ts';

const ended = async (played: StartedLoop): Promise<CapabilityResult | undefined> => {
  await played.end();
  if (played.answer !== null) expect((await played.answer).answerText.trim()).not.toBe('');
  expect(played.clock.openTimers).toBe(0);
  return entriesOfType(played, 'capability-end')[0]?.result;
};

const circular: { self?: object } = {};
circular.self = circular;
const untold = Object.create(null) as object;

describe.each(LOOP_HOSTS)('[R7] a misbehaving capability through %s', (way) => {
  it.each<[string, unknown, string]>([
    ['an error', new Error('disk full\n    at write'), 'disk full'],
    ['an error without a message', new Error(''), 'an error without a message'],
    ['a text', 'disk full', 'disk full'],
    ['nothing', undefined, 'undefined'],
    ['null', null, 'null'],
    ['a number', 5, '5'],
    ['a symbol', Symbol('odd'), 'Symbol(odd)'],
    ['an object', { code: 7 }, '[object Object]'],
    ['an object that cannot be converted to text', untold, 'an error without readable text'],
  ])(
    'that throws %s, synchronously or not, is a recorded failure, and the loop continues',
    async (_, thrown, error) => {
      const now = () => {
        throw thrown;
      };
      for (const draft of [now, () => Promise.reject(thrown)]) {
        const decider: LoopScript['options'] = {
          decider: ({ results }) =>
            results.length === 1 ? { done: false, next: { capability: 'review', arguments: {} } } : { done: true },
        };
        const played = startLoop(way, { execute: { draft }, options: decider });
        expect(await ended(played)).toMatchObject({ success: false, code: 'threw', output: '', error });
        expect(loopSummary(played)).toMatchObject({ reason: 'done', results: ['draft: threw', 'review: review ran'] });
      }
    },
  );

  it.each<[string, unknown]>([
    ['a circle', circular],
    ['a bigint', 1n],
    [
      'an object that cannot be serialized',
      {
        toJSON: () => {
          throw new Error('no');
        },
      },
    ],
    [
      'a getter that throws',
      {
        get text() {
          throw new Error('no');
        },
      },
    ],
  ])('that returns %s is a recorded failure', async (_, value) => {
    const played = startLoop(way, { execute: { draft: () => value } });
    expect(await ended(played)).toMatchObject({ success: false, code: 'threw', error: expect.stringMatching(/\S/) });
    expect(loopSummary(played).reason).toBe('done');
  });

  it('that never returns is a recorded failure after its timeout, and a late result is ignored', async () => {
    const late: (() => void)[] = [];
    const draft = () => new Promise((resolve) => late.push(() => resolve('too late')));
    const played = startLoop(way, { execute: { draft }, options: { limits: { capabilityMs: 500 } } });
    expect(await ended(played)).toMatchObject({ success: false, code: 'timed_out', durationMs: 500 });
    const entries = played.journal.length;
    for (const answer of late) answer();
    await nextTurn();
    expect(played.journal).toHaveLength(entries);
  });

  it('that returns at the moment of its abort is still late', async () => {
    const draft = (_: unknown, { signal }: { signal: AbortSignal }) =>
      new Promise((resolve) => signal.addEventListener('abort', () => resolve('just in time')));
    const played = startLoop(way, { execute: { draft }, options: { limits: { capabilityMs: 500 } } });
    expect(await ended(played)).toMatchObject({ success: false, code: 'timed_out', output: '' });
  });

  it('whose schema throws is a recorded failure', async () => {
    const broken = z.looseObject({}).refine(() => {
      throw new Error('bad schema');
    });
    const played = startLoop(way, { arguments: broken });
    expect(await ended(played)).toMatchObject({
      success: false,
      code: 'arguments_misfit',
      error: 'the arguments: bad schema',
    });
  });
});

describe('[R5] a schema whose validation never settles', () => {
  const hanging: LoopScript = { arguments: z.looseObject({}).refine(() => new Promise<boolean>(() => {})) };

  it('is a recorded failure in the chain, which still answers', async () => {
    const played = startLoop('the chain', hanging);
    expect(await ended(played)).toMatchObject({ success: false, code: 'arguments_misfit' });
    expect((await played.answer)?.metadata.failures).toMatchObject([
      { phase: 'action', failure: { code: 'arguments_misfit' } },
    ]);
  });
});

describe('a loop with invalid input', () => {
  const loop = createCapabilityLoop({
    model: scriptedModel({}, { otherwise: replies }),
    clock: new TestClock(),
    capabilities: [loopCapability('draft')],
  });
  const asked = (options: unknown) => loop.run(options as LoopOptions).outcome;

  it.each([[{ request: '' }], [{ request: 5 }], [{}]])('throws invalid_request for %j before the start', (options) => {
    expect(() => asked(options)).toThrow(expect.objectContaining({ code: 'invalid_request' }));
  });

  it.each([[undefined], [null]])('throws invalid_request for %j', (options) => {
    expect(() => asked(options)).toThrow(expect.objectContaining({ code: 'invalid_request' }));
  });

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

  it('does not report "nothing to run" when the model gave no reply', async () => {
    const dead = scriptedModel({ action: [{ failure: { code: 'unauthorized', retryable: false } }] });
    const { stopReason, failure } = await createCapabilityLoop({ model: dead, clock: new TestClock() }).run({
      request: REQUEST,
    }).outcome;
    expect(failure).toMatchObject({ code: 'unauthorized' });
    expect(stopReason).not.toBe('nothing_to_run');
  });
});

describe('an unknown loop option', () => {
  it.each([{ mode: 'manual' }, { startAt: 'yield' }, { host: {} }, { reqest: 'x' }])('is rejected: %j', (options) => {
    const [name] = Object.keys(options);
    expect(() => createCapabilityLoop().run({ request: 'Is it so?', ...options } as LoopOptions)).toThrow(
      expect.objectContaining({
        code: 'invalid_option',
        message: `${name}: unknown option; expected one of request, history, messages, sessionId, instructions, signal, call.`,
      }),
    );
  });
});
