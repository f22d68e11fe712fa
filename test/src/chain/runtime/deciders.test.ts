import { afterEach, describe, expect, it, vi } from 'vitest';
import { createBareChain } from '../../../../src/chain/runtime/bare-chain.ts';
import { createCapabilityLoop } from '../../../../src/chain/runtime/capability-loop.ts';
import { CONTINUATION_VARIABLE, type ContinuationOption } from '../../../../src/chain/runtime/decider.ts';
import { createPostChain, type PostChainOptions } from '../../../../src/entries/index.ts';
import { always, scriptedModel } from '../../../../src/models/scripted.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { LOOP_HOSTS, loopSummary, REQUEST, startLoop } from '../../../support/capability-loops.ts';
import {
  capabilityNamed,
  entriesOf,
  ONE_CALL_PER_PHASE,
  startScripted,
  unsureAnswer,
} from '../../../support/run-chain.ts';

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
  it.each([undefined, '', 'none'])('is none if the environment variable is %j', async (value) => {
    const warned = saying(value);
    const played = startLoop(way);
    await played.end();
    expect(loopSummary(played)).toMatchObject({ reason: 'one_round', results: ['draft: draft ran'] });
    expect(entriesOf(played, 'continuation')).toEqual([]);
    expect(asked(played.model)).toBe(0);
    expect(warned).not.toHaveBeenCalled();
  });

  it('is the model if the environment variable is "model"', async () => {
    const warned = saying('model');
    const played = startLoop(way, { continuations: [{ done: true, finalOutput: 'In short.', next: [] }] });
    await played.end();
    expect(entriesOf(played, 'continuation')).toMatchObject([{ decidedBy: 'model', done: true }]);
    expect(asked(played.model)).toBe(1);
    expect(warned).not.toHaveBeenCalled();
  });

  it.each(['Model', 'models', 'noop', ' model', '1', '\u001b[31mmodel'])(
    'is absent, with one warning, if the environment variable is %j',
    async (given) => {
      const value = `${given} (${way})`;
      const warned = saying(value);
      const played = startLoop(way);
      await played.end();
      expect(loopSummary(played)).toMatchObject({ reason: 'one_round', results: ['draft: draft ran'] });
      expect(asked(played.model)).toBe(0);
      expect(warned).toHaveBeenCalledTimes(1);
      const [[message]] = warned.mock.calls as unknown as [[string]];
      expect(message).toBe(
        `${CONTINUATION_VARIABLE}: expected "none" or "model"; received ${JSON.stringify(value)}. Using "none".`,
      );
    },
  );

  it.each<[string, ContinuationOption, string]>([
    ['a function', () => ({ done: true }) as const, 'done'],
    ['absent', 'none', 'one_round'],
    ['the model', 'model', 'decider_failed'],
  ])('is %s from the options, regardless of the environment', async (_, decider, reason) => {
    const warned = saying('nonsense');
    const played = startLoop(way, { options: { continuation: decider } });
    await played.end();
    expect(loopSummary(played).reason).toBe(reason);
    expect(asked(played.model)).toBe(decider === 'model' ? 1 : 0);
    expect(warned).not.toHaveBeenCalled();
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

describe('an invalid continuation option', () => {
  it.each([['noop'], [true], [{}], [{ decides: 'model' }], [null]])(
    '%j is rejected with the expected values',
    (decider) => {
      for (const create of [createPostChain, createCapabilityLoop]) {
        const make = () => create({ continuation: decider as never });
        expect(make).toThrow(expect.objectContaining({ code: 'invalid_option' }));
        expect(make).toThrow(/^continuation: expected "none", "model" or a function; received .+\.$/);
      }
    },
  );
});

describe('[R6] a loop that does not continue', () => {
  const lookUp = capabilityNamed('look up');
  const call = { capability: 'look up', arguments: '{}' };

  /** Runs a chain whose Yield says in each cycle whether it needs tools, and returns the stop reason of its loop. */
  async function stopReasonAfter(
    needsTools: readonly boolean[],
    calls: readonly object[],
    options: PostChainOptions = {},
  ) {
    const replyOf = (needs: boolean) =>
      needs ? { ...replies.yield, ...unsure, needsTools: true } : { ...replies.yield, taskComplete: true };
    const model = scriptedModel(
      { action: always({ ...replies.action, calls }), yield: needsTools.map(replyOf) },
      { otherwise: replies },
    );
    const limits = { maxCycles: needsTools.length };
    const chain = createPostChain({ model, capabilities: [lookUp], limits, profile: ONE_CALL_PER_PHASE, ...options });
    const run = chain.run({ request: REQUEST });
    await run.answer;
    return run.ref.getSnapshot().context.results.action?.stopReason;
  }

  it.each([
    ['nothing more was wanted', [false], [call], 'one_round'],
    ['no tool was ever wanted', [false], [], 'nothing_to_run'],
    ['tools were wanted after the round', [true], [call], 'rounds_ended'],
    ['tools were wanted after a round without calls', [true], [], 'rounds_ended'],
    ['tools were wanted again and again', [true, true], [call], 'rounds_ended'],
    ['tools were wanted only for a while', [true, false], [call], 'one_round'],
  ])('states whether %s', async (_, needsTools, calls, expected) => {
    expect(await stopReasonAfter(needsTools, calls)).toBe(expected);
  });

  it('does not claim that the rounds ended if the model decides, or if there are no tools', async () => {
    expect(await stopReasonAfter([true], [], { continuation: 'model' })).toBe('nothing_to_run');
    expect(await stopReasonAfter([true], [], { capabilities: [] })).toBe('nothing_to_run');
  });
});

const unsure = { taskComplete: false, confidence: 0.3, informationSufficiency: 1 };

const answer = capabilityNamed('answer', () => '42');
const action = { ...replies.action, calls: [{ capability: 'answer', arguments: '{}' }] };

describe('[R7] the answer after a failed decider', () => {
  it.each([
    ['replies in prose', { text: 'I would rather talk.' }, 'The reply contains no valid JSON'],
    ['omits a field', { done: true }, 'does not match the schema of "continuation"'],
    [
      'refuses',
      { failure: { stage: 'refinement', code: 'refused', retryable: false, message: 'No.' } },
      'refused: No.',
    ],
  ] as const)('is degraded and says why if the model %s', async (_, continuation, why) => {
    const { run } = startScripted({ action, continuation }, { capabilities: [answer], continuation: 'model' });
    const { status, notes, metadata } = await run.answer;
    expect({ status, reason: metadata.reason }).toEqual({ status: 'degraded', reason: 'decider_failed' });
    expect(notes).toContain('Capabilities may be missing: the continuation decider failed: ');
    expect(notes).toContain(why);
    expect(run.ref.getSnapshot().context.results.action?.results).toMatchObject([{ output: '42', success: true }]);
  });

  it('is complete if a later Action succeeds', async () => {
    let asked = 0;
    const decider = () => {
      asked += 1;
      if (asked === 1) throw new Error('the rules are lost');
      return { done: true } as const;
    };
    const again = (call: number) =>
      call === 1 ? unsureAnswer(call, { needsTools: true, informationSufficiency: 1 }) : replies.yield;
    const { run } = startScripted({ action, yield: again }, { capabilities: [answer], continuation: decider });
    expect((await run.answer).status).toBe('completed');
    expect(asked).toBe(2);
  });
});
