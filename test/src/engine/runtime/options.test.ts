import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { prompts } from '../../../../src/engine/prompts/registry.ts';
import { createPostChain } from '../../../../src/index.ts';

const run = (options: object) => () => createPostChain().run(options as never);

describe('options that make no sense are refused before anything starts, in one line', () => {
  it.each([
    [{ limits: { maxCycles: -1 } }, 'limits.maxCycles: got -1;'],
    [{ limits: { maxCycles: 1.5 } }, 'limits.maxCycles: got 1.5;'],
    [{ limits: { totalMs: Number.NaN } }, 'limits.totalMs: got NaN;'],
    [{ limits: { maxCorrections: -2 } }, 'limits.maxCorrections: got -2;'],
    [{ limits: { maxCylces: 3 } }, 'maxCylces'],
    [{ thresholds: { confidence: 2 } }, 'thresholds.confidence: got 2;'],
    [{ thresholds: { confidence: 'high' } }, 'thresholds.confidence: got "high";'],
    [{ thresholds: { prune: 0.8, summarise: 0.2 } }, 'thresholds.prune: got 0.8; wanted at most `summarise`.'],
    [{ modle: {} }, 'modle'],
    [{ model: {} }, 'model: got an object with nothing; wanted a model with a stream method'],
    [{ documents: ['docs'] }, 'documents: got a list of 1; wanted something to search, say createPassageIndex'],
    [{ capabilities: [{ name: 'x' }] }, 'capabilities.0.description'],
    [{ decider: 'model' }, 'decider: got "model"; wanted a function, modelDecider or null.'],
    [{ prompts: { yield: {} } }, 'prompts.yield: got an object with nothing; wanted a prompt'],
    [{ prompts: { yield: prompts.action } }, 'prompts.yield: got the prompt of "action"'],
    [{ clock: 3 }, 'clock: got 3;'],
    [null, 'The options: got null;'],
    ['x', 'The options: got "x";'],
  ])('options %#: %s', (options, said) => {
    let error: unknown;
    try {
      createPostChain(options as never);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toMatchObject({ code: 'invalid_option', message: expect.stringContaining(said) });
    expect((error as Error).message).not.toContain('\n');
  });

  it.each([
    [{ request: '' }, 'invalid_request', /request is empty/],
    [{ request: ' \n ' }, 'invalid_request', /request is empty/],
    [{ request: 7 }, 'invalid_request', /no text \(number\)/],
    [{}, 'invalid_request', /no text \(undefined\)/],
    [{ request: 'x'.repeat(1_000_001) }, 'invalid_request', /1000001 characters/],
    [
      { request: 'x', history: [{ role: 'system', content: 'y' }] },
      'invalid_option',
      /history\.0: got an object with role, content; wanted a role/,
    ],
    [{ request: 'x', mode: 'fast' }, 'invalid_option', /mode: got "fast"; wanted "automatic" or "manual"/],
    [{ request: 'x', startAt: 'lunch' }, 'invalid_option', /no phase "lunch": choose one of action, experience/],
  ])('a run with %j', (options, code, message) => {
    expect(run(options)).toThrow(expect.objectContaining({ code, message: expect.stringMatching(message) }));
  });

  it('a clock that tells no time is refused', () => {
    const clock = { now: () => Number.NaN, setTimeout: () => 0, clearTimeout: () => {} };
    expect(() => createPostChain({ clock }).run({ request: 'x' })).toThrow(/clock: its now\(\) gave NaN/);
  });

  it('two capabilities of one name are refused', () => {
    const one = { name: 'look', description: 'looks', arguments: z.object({}), execute: () => '' };
    expect(() => createPostChain({ capabilities: [one, one] })).toThrow(
      expect.objectContaining({ code: 'duplicate_capability' }),
    );
  });
});
