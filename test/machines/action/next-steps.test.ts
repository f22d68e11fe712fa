import { describe, expect, it, test } from 'vitest';
import type { Continuation } from '../../../machines/contracts/capability.ts';
import { actionReply, call, done, next, startAction } from '../../support/action-machine.ts';

describe('an invalid next step', () => {
  const cases: readonly (readonly [string, unknown, string])[] = [
    ['has an unknown name', next('publish'), 'unknown_capability'],
    ['has an empty name', next(''), 'empty_name'],
    ['has a blank name', next('  '), 'empty_name'],
    ['is named after a prototype member', next('constructor'), 'unknown_capability'],
    ['is named __proto__', next('__proto__'), 'unknown_capability'],
    ['has no name', { done: false, next: { arguments: '{}' } }, 'missing_name'],
    ['is undefined', { done: false }, 'missing_name'],
    ['is null', { done: false, next: null }, 'missing_name'],
    ['has no arguments', { done: false, next: { capability: 'review' } }, 'arguments_not_object'],
    ['has a list as arguments', { done: false, next: { capability: 'review', arguments: [] } }, 'arguments_not_object'],
  ];

  test.each(cases)('[R5] ends the loop with the last result and a cause when the step %s', async (_, says, code) => {
    const rig = startAction({ decide: () => says as Continuation });
    const { results, stopReason } = await rig.result();
    expect(results).toMatchObject([{ capability: 'draft', output: 'draft ran', synthesized: false }]);
    expect(stopReason).toBe('invalid_next_step');
    expect(rig.facts.at(-1)).toMatchObject({ type: 'capability-stop', code });
    expect(rig.asked.execute).toHaveLength(1);
    expect(rig.asked.validate).toHaveLength(1);
  });

  test('[R5] ends the loop with the last result when the arguments fail the schema', async () => {
    const rig = startAction({
      decide: () => next('review', { n: 'no number' }),
      validate: (_, asked) =>
        asked === 1 ? { ok: true, arguments: {} } : { ok: false, code: 'arguments_misfit', problem: 'n: no number' },
    });
    expect(await rig.result()).toMatchObject({
      results: [{ capability: 'draft' }],
      stopReason: 'invalid_next_step',
    });
    expect(rig.asked.execute).toHaveLength(1);
  });

  test('[R5] ends the loop with the last result when argument validation throws', async () => {
    const rig = startAction({
      decide: () => next('review'),
      validate: (_, asked) => {
        if (asked === 2) throw new Error('bad schema');
        return { ok: true, arguments: {} };
      },
    });
    expect(await rig.result()).toMatchObject({ results: [{ capability: 'draft' }], stopReason: 'invalid_next_step' });
  });

  it.each<[string, Parameters<typeof startAction>[0]]>([
    [
      'arguments that fail the schema',
      { validate: () => ({ ok: false, code: 'arguments_misfit', problem: 'the-very-problem' }) },
    ],
    [
      'a decider that throws',
      {
        decide: () => {
          throw new Error('the-very-problem');
        },
      },
    ],
  ])('[R5] reports what was wrong with %s', async (_, script) => {
    const rig = startAction(script);
    const result = await rig.result();
    expect(JSON.stringify([result, rig.facts])).toContain('the-very-problem');
  });
});

describe('an invalid first step', () => {
  test.each([
    ['publish', 'unknown_capability'],
    ['', 'empty_name'],
    ['constructor', 'unknown_capability'],
    ['__proto__', 'unknown_capability'],
    ['Draft', 'unknown_capability'],
  ])('[R5] [R10] runs nothing and records a failed result for the name %j: %s', async (name, code) => {
    const rig = startAction({ reply: actionReply(call(name)) });
    const result = await rig.result();
    expect(result).toMatchObject({
      reply: actionReply(call(name)),
      results: [{ capability: name, arguments: {}, success: false, code, output: '' }],
      stopReason: 'invalid_next_step',
      memory: [{ role: 'user' }, { role: 'assistant', capability: name, success: false }],
    });
    expect(result.results).toHaveLength(1);
    expect(rig.asked).toEqual({ validate: [], execute: [], decide: [] });
    expect(rig.facts.map(({ type }) => type)).toEqual(['capability-end', 'capability-stop']);
  });

  test('[R5] runs nothing and records a failed result when the arguments are invalid, and keeps the reply', async () => {
    const rig = startAction({ validate: () => ({ ok: false, code: 'arguments_misfit', problem: 'no' }) });
    expect(await rig.result()).toMatchObject({
      reply: { response: 'Hi' },
      results: [{ success: false, code: 'arguments_misfit', error: 'no' }],
      stopReason: 'invalid_next_step',
    });
    expect(rig.asked.execute).toEqual([]);
  });
});

describe('draft, review, summarize', () => {
  const steps =
    (last: Continuation) =>
    (_: unknown, asked: number): Continuation =>
      [next('review', { of: 'draft' }), next('summarize', { words: 20 }), last][asked - 1] ?? done();

  test('[R9] runs the three steps chosen by the decider and returns the last result unchanged', async () => {
    const rig = startAction({ decide: steps(done()) });
    const { results, stopReason } = await rig.result();
    expect(results.map(({ output }) => output)).toEqual(['draft ran', 'review ran', 'summarize ran']);
    expect(stopReason).toBe('done');
    expect(rig.asked.decide.map((seen) => seen.results.map(({ capability }) => capability))).toEqual([
      ['draft'],
      ['draft', 'review'],
      ['draft', 'review', 'summarize'],
    ]);
    expect(rig.asked.validate.slice(1)).toEqual([call('review', { of: 'draft' }), call('summarize', { words: 20 })]);
  });

  test('[R5] [R9] replaces only the last output with the final output and marks the replacement', async () => {
    const { results } = await startAction({ decide: steps(done('The note, in short.')) }).result();
    expect(results.map(({ output, synthesized }) => ({ output, synthesized }))).toEqual([
      { output: 'draft ran', synthesized: false },
      { output: 'review ran', synthesized: false },
      { output: 'The note, in short.', synthesized: true },
    ]);
  });

  test.each(['', ' ', '\n\t '])('[R5] [R9] ignores the blank final output %j', async (blank) => {
    const { results } = await startAction({ decide: steps(done(blank)) }).result();
    expect(results.at(-1)).toMatchObject({ output: 'summarize ran', synthesized: false });
  });

  test('[R9] returns the review of the draft as the last result when a middle step is invalid', async () => {
    const decide = (_: unknown, asked: number) => (asked === 1 ? next('review') : next('publish'));
    expect(await startAction({ decide }).result()).toMatchObject({
      results: [{ capability: 'draft' }, { capability: 'review', synthesized: false }],
      stopReason: 'invalid_next_step',
    });
  });

  test('[R9] does not run the summary step with a limit of two', async () => {
    const rig = startAction({ decide: steps(done()), input: { maxContinuations: 2 } });
    expect(await rig.result()).toMatchObject({
      results: [{ capability: 'draft' }, { capability: 'review' }],
      stopReason: 'limit_reached',
    });
  });
});
