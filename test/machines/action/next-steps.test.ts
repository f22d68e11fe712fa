import { describe, expect, it, test } from 'vitest';
import type { Continuation } from '../../../machines/contracts/capability.ts';
import { actionRig, call, done, next, saying } from './action-rig.ts';

describe('a next step that is invalid', () => {
  const cases: readonly (readonly [string, unknown, string])[] = [
    ['has an unknown name', next('publish'), 'unknown_capability'],
    ['has an empty name', next(''), 'empty_name'],
    ['has a name of blanks', next('  '), 'empty_name'],
    ['has the name of a prototype’s member', next('constructor'), 'unknown_capability'],
    ['has the name __proto__', next('__proto__'), 'unknown_capability'],
    ['has no name', { done: false, next: { arguments: '{}' } }, 'missing_name'],
    ['is not there', { done: false }, 'missing_name'],
    ['is null', { done: false, next: null }, 'missing_name'],
    ['has no arguments', { done: false, next: { capability: 'review' } }, 'arguments_not_object'],
    ['has a list as arguments', { done: false, next: { capability: 'review', arguments: [] } }, 'arguments_not_object'],
  ];

  test.each(cases)('[R5] which %s ends the loop with the last result, and its cause', async (_, says, code) => {
    const rig = actionRig({ decide: () => says as Continuation });
    const { results, stopReason } = await rig.result();
    expect(results).toMatchObject([{ capability: 'draft', output: 'draft ran', synthesized: false }]);
    expect(stopReason).toBe('invalid_next_step');
    expect(rig.facts.at(-1)).toMatchObject({ type: 'capability-stop', code });
    expect(rig.asked.execute).toHaveLength(1);
    expect(rig.asked.validate).toHaveLength(1);
  });

  test('[R5] whose arguments fail the schema ends the loop with the last result', async () => {
    const rig = actionRig({
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

  test('[R5] whose validation throws ends the loop with the last result', async () => {
    const rig = actionRig({
      decide: () => next('review'),
      validate: (_, asked) => {
        if (asked === 2) throw new Error('bad schema');
        return { ok: true, arguments: {} };
      },
    });
    expect(await rig.result()).toMatchObject({ results: [{ capability: 'draft' }], stopReason: 'invalid_next_step' });
  });

  it.each<[string, Parameters<typeof actionRig>[0]]>([
    [
      'arguments that do not fit',
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
  ])('[R5] what was wrong is told, for %s', async (_, script) => {
    const rig = actionRig(script);
    const result = await rig.result();
    expect(JSON.stringify([result, rig.facts])).toContain('the-very-problem');
  });
});

describe('a first step that is invalid', () => {
  test.each([
    ['publish', 'unknown_capability'],
    ['', 'empty_name'],
    ['constructor', 'unknown_capability'],
    ['__proto__', 'unknown_capability'],
    ['Draft', 'unknown_capability'],
  ])('[R5] [R10] the name %j runs nothing and is a failed result: %s', async (name, code) => {
    const rig = actionRig({ reply: saying(call(name)) });
    const result = await rig.result();
    expect(result).toMatchObject({
      reply: saying(call(name)),
      results: [{ capability: name, arguments: {}, success: false, code, output: '' }],
      stopReason: 'invalid_next_step',
      memory: [{ role: 'user' }, { role: 'assistant', capability: name, success: false }],
    });
    expect(result.results).toHaveLength(1);
    expect(rig.asked).toEqual({ validate: [], execute: [], decide: [] });
    expect(rig.facts.map(({ type }) => type)).toEqual(['capability-end', 'capability-stop']);
  });

  test('[R5] arguments that do not fit run nothing and are a failed result; the reply stands', async () => {
    const rig = actionRig({ validate: () => ({ ok: false, code: 'arguments_misfit', problem: 'no' }) });
    expect(await rig.result()).toMatchObject({
      reply: { response: 'Hi' },
      results: [{ success: false, code: 'arguments_misfit', error: 'no' }],
      stopReason: 'invalid_next_step',
    });
    expect(rig.asked.execute).toEqual([]);
  });
});

describe('draft, review, summarise', () => {
  const steps =
    (last: Continuation) =>
    (_: unknown, asked: number): Continuation =>
      [next('review', { of: 'draft' }), next('summarise', { words: 20 }), last][asked - 1] ?? done();

  test('[R9] three steps, driven by the decider, with the last result as it is', async () => {
    const rig = actionRig({ decide: steps(done()) });
    const { results, stopReason } = await rig.result();
    expect(results.map(({ output }) => output)).toEqual(['draft ran', 'review ran', 'summarise ran']);
    expect(stopReason).toBe('done');
    expect(rig.asked.decide.map((seen) => seen.results.map(({ capability }) => capability))).toEqual([
      ['draft'],
      ['draft', 'review'],
      ['draft', 'review', 'summarise'],
    ]);
    expect(rig.asked.validate.slice(1)).toEqual([call('review', { of: 'draft' }), call('summarise', { words: 20 })]);
  });

  test('[R5] [R9] with a final output, which takes the place of the last output only and is marked', async () => {
    const { results } = await actionRig({ decide: steps(done('The note, in short.')) }).result();
    expect(results.map(({ output, synthesized }) => ({ output, synthesized }))).toEqual([
      { output: 'draft ran', synthesized: false },
      { output: 'review ran', synthesized: false },
      { output: 'The note, in short.', synthesized: true },
    ]);
  });

  test.each(['', ' ', '\n\t '])('[R5] [R9] with the blank final output %j, which replaces nothing', async (blank) => {
    const { results } = await actionRig({ decide: steps(done(blank)) }).result();
    expect(results.at(-1)).toMatchObject({ output: 'summarise ran', synthesized: false });
  });

  test('[R9] with an invalid step in the middle: the draft’s review is the last result', async () => {
    const decide = (_: unknown, asked: number) => (asked === 1 ? next('review') : next('publish'));
    expect(await actionRig({ decide }).result()).toMatchObject({
      results: [{ capability: 'draft' }, { capability: 'review', synthesized: false }],
      stopReason: 'invalid_next_step',
    });
  });

  test('[R9] with a limit of two: the summary is never made', async () => {
    const rig = actionRig({ decide: steps(done()), input: { maxContinuations: 2 } });
    expect(await rig.result()).toMatchObject({
      results: [{ capability: 'draft' }, { capability: 'review' }],
      stopReason: 'limit_reached',
    });
  });
});
