import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { CapabilityResult } from '../../../../machines/contracts/capability.ts';
import { createCapabilityLoop, type LoopOptions } from '../../../../src/engine/runtime/capability-loop.ts';
import { scriptedModel } from '../../../../src/models/scripted.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { PatientClock, turn } from '../../../machines/action/patient-clock.ts';
import { capability, factsOf, type LoopScript, type Played, play, REQUEST, toldBy, WAYS } from './loop-rig.ts';

const ended = async (played: Played): Promise<CapabilityResult | undefined> => {
  await played.end();
  if (played.answer !== null) expect((await played.answer).answerText.trim()).not.toBe('');
  expect(played.clock.waiting).toBe(0);
  return factsOf(played, 'capability-end')[0]?.result;
};

const circular: { self?: object } = {};
circular.self = circular;
const untold = Object.create(null) as object;

describe.each(WAYS)('[R7] a bad capability, through %s,', (way) => {
  it.each<[string, unknown, string]>([
    ['an error', new Error('disk full\n    at write'), 'disk full'],
    ['an error without words', new Error(''), 'an error without a message'],
    ['a text', 'disk full', 'disk full'],
    ['nothing', undefined, 'undefined'],
    ['null', null, 'null'],
    ['a number', 5, '5'],
    ['a symbol', Symbol('odd'), 'Symbol(odd)'],
    ['an object', { code: 7 }, '[object Object]'],
    ['an object without a text', untold, 'an error without readable text'],
  ])('that throws %s, now or later, is a recorded failure, and the loop goes on', async (_, thrown, error) => {
    const now = () => {
      throw thrown;
    };
    for (const draft of [now, () => Promise.reject(thrown)]) {
      const decider: LoopScript['options'] = {
        decider: ({ results }) =>
          results.length === 1 ? { done: false, next: { capability: 'review', arguments: {} } } : { done: true },
      };
      const played = play(way, { execute: { draft }, options: decider });
      expect(await ended(played)).toMatchObject({ success: false, code: 'threw', output: '', error });
      expect(toldBy(played)).toMatchObject({ reason: 'done', results: ['draft: threw', 'review: review ran'] });
    }
  });

  it.each<[string, unknown]>([
    ['a circle', circular],
    ['a bigint', 1n],
    [
      'an object that will not be JSON',
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
  ])('that gives %s is a recorded failure', async (_, value) => {
    const played = play(way, { execute: { draft: () => value } });
    expect(await ended(played)).toMatchObject({ success: false, code: 'threw', error: expect.stringMatching(/\S/) });
    expect(toldBy(played).reason).toBe('done');
  });

  it('that never returns is a recorded failure when its time is up, and what it says afterwards is not heard', async () => {
    const late: (() => void)[] = [];
    const draft = () => new Promise((resolve) => late.push(() => resolve('too late')));
    const played = play(way, { execute: { draft }, options: { limits: { capabilityMs: 500 } } });
    expect(await ended(played)).toMatchObject({ success: false, code: 'timed_out', durationMs: 500 });
    const entries = played.journal.length;
    for (const answer of late) answer();
    await turn();
    expect(played.journal).toHaveLength(entries);
  });

  it('that answers in the very moment of its abort is still late', async () => {
    const draft = (_: unknown, { signal }: { signal: AbortSignal }) =>
      new Promise((resolve) => signal.addEventListener('abort', () => resolve('just in time')));
    const played = play(way, { execute: { draft }, options: { limits: { capabilityMs: 500 } } });
    expect(await ended(played)).toMatchObject({ success: false, code: 'timed_out', output: '' });
  });

  it.each(['publish', 'constructor', '__proto__', 'Draft', ''])(
    'whose name is %j and that is not there, is a recorded failure',
    async (name) => {
      const played = play(way, { wish: { capability: name, arguments: '{}' } });
      const code = name === '' ? 'empty_name' : 'unknown_capability';
      expect(await ended(played)).toMatchObject({ capability: name, success: false, code });
      expect(factsOf(played, 'capability-start')).toEqual([]);
      expect(factsOf(played, 'capability-stop')).toMatchObject([{ reason: 'invalid_next_step', code }]);
    },
  );

  it('whose schema throws is a recorded failure', async () => {
    const broken = z.looseObject({}).refine(() => {
      throw new Error('bad schema');
    });
    const played = play(way, { arguments: broken });
    expect(await ended(played)).toMatchObject({
      success: false,
      code: 'arguments_misfit',
      error: 'the arguments: bad schema',
    });
  });
});

describe('[R5] a schema that never says whether arguments fit', () => {
  const hanging: LoopScript = { arguments: z.looseObject({}).refine(() => new Promise<boolean>(() => {})) };

  it('is a recorded failure in the chain, which answers', async () => {
    const played = play('the chain', hanging);
    expect(await ended(played)).toMatchObject({ success: false, code: 'arguments_misfit' });
    expect((await played.answer)?.metadata.failures).toEqual([]);
  });

  it('is a recorded failure of the loop alone', async () => {
    const played = play('the loop alone', hanging);
    expect(await ended(played)).toMatchObject({ success: false });
  });
});

describe('[R7] a decider that changes what it is shown', () => {
  it('changes nothing of the outcome', async () => {
    const played = play('the loop alone', {
      options: {
        decider: ({ results }) => {
          Object.assign(results[0] ?? {}, { output: 'changed', success: 'changed' });
          (results as CapabilityResult[]).length = 0;
          return { done: true };
        },
      },
    });
    await played.end();
    expect((await played.outcome)?.results).toMatchObject([{ output: 'draft ran', success: true }]);
  });
});

describe('a loop that is asked for what makes no sense', () => {
  const loop = createCapabilityLoop({
    model: scriptedModel({}, { otherwise: replies }),
    clock: new PatientClock(),
    capabilities: [capability('draft')],
  });
  const asked = (options: unknown) => loop.run(options as LoopOptions).outcome;

  it.each([[{ request: '' }], [{ request: 5 }], [{}]])(
    'throws invalid_request for %j, before anything starts',
    (options) => {
      expect(() => asked(options)).toThrow(expect.objectContaining({ code: 'invalid_request' }));
    },
  );

  it.each([[undefined], [null]])('throws invalid_request for %j', (options) => {
    expect(() => asked(options)).toThrow(expect.objectContaining({ code: 'invalid_request' }));
  });

  const call = (given: unknown) => ({ request: REQUEST, call: given });

  it.each<[string, unknown]>([
    ['a text', 'draft'],
    ['an object without a name', { arguments: {} }],
    ['a name that is no text', { capability: 5, arguments: {} }],
    ['arguments that are no JSON', { capability: 'draft', arguments: circular }],
    ['arguments that are a list', { capability: 'draft', arguments: [] }],
    ['a bigint among the arguments', { capability: 'draft', arguments: { big: 1n } }],
  ])('throws invalid_option for a first step that is %s', (_, given) => {
    expect(() => asked(call(given))).toThrow(expect.objectContaining({ code: 'invalid_option' }));
  });

  it('has a failed result for a first step that is not there', async () => {
    expect(await asked(call({ capability: 'publish', arguments: {} }))).toMatchObject({
      stopReason: 'invalid_next_step',
      result: { success: false, code: 'unknown_capability', error: 'unknown capability "publish"' },
    });
  });

  it('does not say that there was nothing to run where the model gave no answer', async () => {
    const dead = scriptedModel({ action: [{ failure: { code: 'unauthorized', retryable: false } }] });
    const { stopReason, failure } = await createCapabilityLoop({ model: dead, clock: new PatientClock() }).run({
      request: REQUEST,
    }).outcome;
    expect(failure).toMatchObject({ code: 'unauthorized' });
    expect(stopReason).not.toBe('nothing_to_run');
  });
});

describe('an option that a loop does not have', () => {
  it.each([{ mode: 'manual' }, { startAt: 'yield' }, { host: {} }, { reqest: 'x' }])('is refused: %j', (options) => {
    const [name] = Object.keys(options);
    expect(() => createCapabilityLoop().run({ request: 'Is it so?', ...options } as LoopOptions)).toThrow(
      expect.objectContaining({
        code: 'invalid_option',
        message: `${name}: unknown option of a loop; expected one of request, history, messages, sessionId, signal, call.`,
      }),
    );
  });
});
