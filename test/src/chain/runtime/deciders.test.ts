import { afterEach, describe, expect, it, vi } from 'vitest';
import { createBareChain } from '../../../../src/chain/runtime/bare-chain.ts';
import { createCapabilityLoop } from '../../../../src/chain/runtime/capability-loop.ts';
import { CONTINUATION_VARIABLE, modelDecider, noopDecider } from '../../../../src/chain/runtime/decider.ts';
import { createPostChain } from '../../../../src/entries/index.ts';
import { entriesOfType, LOOP_HOSTS, loopSummary, startLoop } from '../../../support/capability-loops.ts';

const asked = (model: { readonly calls: readonly { task: string }[] }) =>
  model.calls.filter(({ task }) => task === 'continuation').length;

/** Sets the environment variable and captures warnings until the end of the test. */
function saying(value: string | undefined) {
  vi.stubEnv(CONTINUATION_VARIABLE, value);
  return vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
}

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

describe.each(LOOP_HOSTS)('[R6] the decider through %s', (way) => {
  it.each([undefined, '', 'noop'])('is absent if the environment variable is %j', async (value) => {
    const warned = saying(value);
    const played = startLoop(way);
    await played.end();
    expect(loopSummary(played)).toMatchObject({ reason: 'done', results: ['draft: draft ran'] });
    expect(entriesOfType(played, 'continuation')).toMatchObject([{ decidedBy: 'noop', done: true }]);
    expect(asked(played.model)).toBe(0);
    expect(warned).not.toHaveBeenCalled();
  });

  it('is the model if the environment variable is "model"', async () => {
    const warned = saying('model');
    const played = startLoop(way, { continuations: [{ done: true, finalOutput: 'In short.', next: [] }] });
    await played.end();
    expect(entriesOfType(played, 'continuation')).toMatchObject([{ decidedBy: 'model', done: true }]);
    expect(asked(played.model)).toBe(1);
    expect(warned).not.toHaveBeenCalled();
  });

  it.each(['Model', 'models', 'none', ' model', '1', '\u001b[31mmodel'])(
    'is absent, with one warning, if the environment variable is %j',
    async (given) => {
      const value = `${given} (${way})`;
      const warned = saying(value);
      const played = startLoop(way);
      await played.end();
      expect(loopSummary(played)).toMatchObject({ reason: 'done', results: ['draft: draft ran'] });
      expect(asked(played.model)).toBe(0);
      expect(warned).toHaveBeenCalledTimes(1);
      const [[message]] = warned.mock.calls as unknown as [[string]];
      expect(message).toBe(
        `${CONTINUATION_VARIABLE}: expected "noop" or "model"; received ${JSON.stringify(value)}. Using "noop".`,
      );
    },
  );

  it.each([
    ['a function', noopDecider, 'done'],
    ['null', null, 'no_decider'],
  ])('is %s from the options, regardless of the environment', async (_, decider, reason) => {
    const warned = saying('nonsense');
    const played = startLoop(way, { options: { decider } });
    await played.end();
    expect(loopSummary(played).reason).toBe(reason);
    expect(warned).not.toHaveBeenCalled();
  });

  it('is the model from the options, regardless of the environment', async () => {
    saying('noop');
    const played = startLoop(way, { options: { decider: modelDecider } });
    await played.end();
    expect(asked(played.model)).toBe(1);
  });
});

describe('[R6] an invalid environment variable', () => {
  it('emits one warning per process for any number of chains', () => {
    const warned = saying('nonsense');
    createPostChain();
    createPostChain();
    createCapabilityLoop();
    createBareChain();
    expect(warned).toHaveBeenCalledTimes(1);
  });
});

describe('an invalid decider option', () => {
  it.each([['model'], [true], [{}], [{ decides: 'nobody' }], [[]]])(
    '%j is rejected with the expected values',
    (decider) => {
      for (const create of [createPostChain, createCapabilityLoop]) {
        const make = () => create({ decider: decider as never });
        expect(make).toThrow(expect.objectContaining({ code: 'invalid_option' }));
        expect(make).toThrow(/^decider: expected a function, modelDecider or null; received .+\.$/);
      }
    },
  );
});
