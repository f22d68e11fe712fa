import { describe, expect, it } from 'vitest';
import { createRegistry } from '../../../../src/tools/registry.ts';
import {
  LOOP_HOSTS,
  type LoopScript,
  loopCapability,
  loopSummary,
  startLoop,
} from '../../../support/capability-loops.ts';

const go = (name: string, given: unknown = {}) => ({
  done: false,
  finalOutput: null,
  next: [{ capability: name, arguments: JSON.stringify(given) }],
});
const done = (finalOutput: string | null) => ({ done: true, finalOutput, next: [] });
const said = (continuations: LoopScript['continuations'], changes: LoopScript = {}): LoopScript => ({
  continuations: continuations ?? [],
  ...changes,
  options: { continuation: 'model', ...changes.options },
});
const toSummary = [go('review', { of: 'the draft' }), go('summarize', { words: 20 })];
const all = ['draft: draft ran', 'review: review ran', 'summarize: summarize ran'];

describe.each(LOOP_HOSTS)('[R9] draft, review, summarize, decided by the model, through %s', (way) => {
  it('runs the three in order with the arguments from the model', async () => {
    const given: unknown[] = [];
    const note = (args: unknown) => void given.push(args);
    const execute = { draft: note, review: note, summarize: note };
    const played = startLoop(way, said([...toSummary, done(null)], { execute }));
    await played.end();
    expect(given).toEqual([{}, { of: 'the draft' }, { words: 20 }]);
    expect(loopSummary(played).reason).toBe('done');
  });

  it('replaces the last output with the final output and marks the replacement', async () => {
    const played = startLoop(way, said([...toSummary, done('The note, in short.')]));
    await played.end();
    expect(loopSummary(played)).toMatchObject({ reason: 'done', results: all });
    const results = played.results();
    expect(results.map(({ output, synthesized }) => [output, synthesized])).toEqual([
      ['draft ran', false],
      ['review ran', false],
      ['The note, in short.', true],
    ]);
  });

  const guardrails: readonly (readonly [string, LoopScript, object])[] = [
    ['an unknown capability', said([go('publish')]), { reason: 'invalid_next_step', code: 'unknown_capability' }],
    ['no next step', said([{ ...go(''), next: [] }]), { reason: 'invalid_next_step', code: 'missing_name' }],
    ['an empty name', said([go('')]), { reason: 'invalid_next_step', code: 'empty_name' }],
    ['a list as arguments', said([go('review', [])]), { reason: 'invalid_next_step', code: 'arguments_not_object' }],
    ['replies that never validate', said(Array(3).fill({ text: 'no' })), { reason: 'decider_failed', code: null }],
    [
      'a limit of one',
      said([go('review')], { options: { limits: { maxContinuations: 1 } } }),
      { reason: 'limit_reached', code: null },
    ],
  ];

  it.each(guardrails)('continues with the draft as the last result after %s', async (_, script, expected) => {
    const played = startLoop(way, script);
    await played.end();
    expect(loopSummary(played)).toMatchObject({ ...expected, results: ['draft: draft ran'] });
    expect(played.results().at(-1)).toMatchObject({ output: 'draft ran', synthesized: false });
  });
});

describe('[R5] [R9] the final output in the chain', () => {
  const seenByYield = (played: ReturnType<typeof startLoop>): string =>
    played.model.calls.find(({ task }) => task === 'yield')?.turns.at(-1)?.content ?? '';

  it('is passed to the phases after Action', async () => {
    const played = startLoop('the chain', said([done('The note, in short.')]));
    await played.end();
    expect(seenByYield(played)).toContain('The note, in short.');
  });
});

describe('[R10] the registry', () => {
  it('lists capabilities in order with descriptions and schemas, and returns undefined for an unknown name', () => {
    const registry = createRegistry([loopCapability('draft'), loopCapability('review')]);
    expect(registry.descriptors).toMatchObject([
      { name: 'draft', description: 'It can draft.', arguments: { type: 'object' } },
      { name: 'review', description: 'It can review.', arguments: { type: 'object' } },
    ]);
    for (const name of ['publish', '', 'constructor', '__proto__', 'toString', 'Draft'])
      expect(registry.get(name)).toBeUndefined();
    expect(registry.get('draft')?.name).toBe('draft');
  });
});
