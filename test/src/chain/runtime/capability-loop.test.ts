import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { DecidingFunction } from '../../../../src/chain/runtime/decider.ts';
import { LOOP_HOSTS, type LoopScript, loopSummary, REQUEST, startLoop } from '../../../support/capability-loops.ts';
import { throwing } from '../../../support/errors.ts';
import { entriesOf } from '../../../support/run-chain.ts';

const step = (capability: unknown, given: unknown = {}) =>
  ({ done: false, next: { capability, arguments: given } }) as ReturnType<DecidingFunction>;
/** Returns these decisions one per run, and then done. */
const saying =
  (...said: unknown[]): DecidingFunction =>
  ({ results }) =>
    (said[results.length - 1] ?? { done: true }) as ReturnType<DecidingFunction>;
const boom = throwing('disk full\nat write');
const never = (): Promise<never> => new Promise(() => {});

interface Expected {
  readonly reason: string;
  readonly code?: string;
  readonly results: readonly string[];
  /** Every run is remembered unless the row says otherwise. */
  readonly memory?: readonly string[];
  /** The final output that replaces the last result. */
  readonly output?: string;
}

type Row = readonly [rows: string, situation: string, script: LoopScript, expected: Expected];

const by = (decider: LoopScript['options']) => ({ options: { ...decider } });
const decidedBy = (...said: unknown[]): LoopScript => by({ continuation: saying(...said) });
/** The model decides, and replies with these. */
const saidBy = (continuations: LoopScript['continuations'] = [], limits = {}): LoopScript => ({
  continuations,
  ...by({ continuation: 'model', limits }),
});
const go = (name: string, given: unknown = {}) => ({
  done: false,
  finalOutput: null,
  next: [{ capability: name, arguments: JSON.stringify(given) }],
});
const done = (finalOutput: string | null) => ({ done: true, finalOutput, next: [] });
const toSummary = [go('review', { of: 'the draft' }), go('summarize', { words: 20 })];
const draftOnly = ['draft: draft ran'];
const invalid = (code: string): Expected => ({ reason: 'invalid_next_step', code, results: draftOnly });

const rows: readonly Row[] = [
  ['R1', 'no requested capability', { wish: null }, { reason: 'nothing_to_run', results: [], memory: [] }],
  ['R5', 'no decider', by({ continuation: 'none' }), { reason: 'one_round', results: draftOnly }],
  ['R5', 'done', decidedBy({ done: true }), { reason: 'done', results: draftOnly }],
  [
    'R1 R9',
    'three steps',
    decidedBy(step('review'), step('summarize')),
    { reason: 'done', results: ['draft: draft ran', 'review: review ran', 'summarize: summarize ran'] },
  ],
  [
    'R3',
    'five runs by default',
    by({ continuation: () => step('review') }),
    { reason: 'limit_reached', results: [...draftOnly, ...Array(4).fill('review: review ran')] },
  ],
  [
    'R3',
    'a limit of one',
    by({ continuation: () => step('review'), limits: { maxContinuations: 1 } }),
    { reason: 'limit_reached', results: draftOnly },
  ],
  ['R5', 'a missing next step', decidedBy({ done: false }), invalid('missing_name')],
  ['R5', 'non-JSON arguments', decidedBy(step('review', 'soon')), invalid('arguments_not_object')],
  ['R5 R10', 'an unknown capability', decidedBy(step('publish')), invalid('unknown_capability')],
  [
    'R5',
    'invalid arguments',
    { ...decidedBy(step('review', { words: 'many' })), arguments: z.object({ words: z.number().optional() }) },
    invalid('arguments_misfit'),
  ],
  [
    'R5 R10',
    'an unknown first capability',
    { wish: { capability: 'publish', arguments: '{}' } },
    { reason: 'invalid_next_step', code: 'unknown_capability', results: ['publish: unknown_capability'] },
  ],
  [
    'R5',
    'invalid first arguments',
    { wish: { capability: 'draft', arguments: 'soon' } },
    { reason: 'invalid_next_step', code: 'arguments_not_object', results: ['draft: arguments_not_object'] },
  ],
  [
    'R7',
    'a capability that throws',
    { execute: { draft: boom }, ...decidedBy(step('review')) },
    { reason: 'done', results: ['draft: threw', 'review: review ran'] },
  ],
  [
    'R7',
    'a capability that never returns',
    { execute: { draft: never }, ...decidedBy(step('review')) },
    { reason: 'done', results: ['draft: timed_out', 'review: review ran'] },
  ],
  ['R7', 'a decider that throws', by({ continuation: boom }), { reason: 'decider_failed', results: draftOnly }],
  ['R7', 'a decider that never answers', by({ continuation: never }), { reason: 'decider_failed', results: draftOnly }],
  [
    'R5',
    'a decider that returns an invalid reply',
    decidedBy('go on'),
    { reason: 'decider_failed', results: draftOnly },
  ],
  [
    'R9',
    'a model that decides on all three steps',
    saidBy([...toSummary, done(null)]),
    { reason: 'done', results: [...draftOnly, 'review: review ran', 'summarize: summarize ran'] },
  ],
  [
    'R5 R9',
    'a model that ends with an output',
    saidBy([...toSummary, done('In short.')]),
    { reason: 'done', results: [...draftOnly, 'review: review ran', 'summarize: summarize ran'], output: 'In short.' },
  ],
  ['R9', 'a model that names no next step', saidBy([{ ...go(''), next: [] }]), invalid('missing_name')],
  ['R9', 'a model that names an unknown one', saidBy([go('publish')]), invalid('unknown_capability')],
  [
    'R9',
    'a model that gives a list as arguments',
    saidBy([go('review', ['all', 'of it'])]),
    invalid('arguments_not_object'),
  ],
  [
    'R9',
    'a model that decides, with a limit of one',
    saidBy([go('review')], { maxContinuations: 1 }),
    { reason: 'limit_reached', results: draftOnly },
  ],
  [
    'R6 R7 R9',
    'a deciding model that never replies validly',
    saidBy(Array(3).fill({ text: 'no' })),
    { reason: 'decider_failed', results: draftOnly },
  ],
  [
    'R6 R7',
    'a deciding model that fails',
    saidBy([{ failure: { retryable: false } }]),
    { reason: 'decider_failed', results: draftOnly },
  ],
  [
    'R6',
    'a model that decides, without a call left for it',
    saidBy([], { maxModelCalls: 1 }),
    { reason: 'budget_exhausted', results: draftOnly },
  ],
];

describe.each(LOOP_HOSTS)('capability loops through %s', (way) => {
  it.each(rows)('[%s] %s', async (_, __, script, { reason, code = null, results, memory, output }) => {
    const played = startLoop(way, script);
    await played.end();
    const remembered = memory ?? [REQUEST, ...results.map((result) => result.split(':')[0])];
    expect(loopSummary(played)).toEqual({ reason, code, results, memory: remembered });
    expect(played.model.calls.filter(({ task }) => task === 'action')).toHaveLength(1);
    expect(played.clock.openTimers).toBe(0);
    if (played.answer !== null) expect((await played.answer).answerText.trim()).not.toBe('');
    const last = entriesOf(played, 'capability-end').at(-1);
    const result = output === undefined ? (last?.result ?? null) : { ...last?.result, output, synthesized: true };
    if (played.outcome !== null) expect((await played.outcome).result).toEqual(result);
    const prompt = played.model.calls.find(({ task }) => task === 'yield')?.turns.at(-1)?.content;
    if (prompt !== undefined && output !== undefined) expect(prompt).toContain(output);
  });
});
