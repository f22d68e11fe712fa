import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { DecidingFunction } from '../../../../src/chain/runtime/decider.ts';
import {
  entriesOfType,
  LOOP_HOSTS,
  type LoopScript,
  loopSummary,
  REQUEST,
  startLoop,
} from '../../../support/capability-loops.ts';

const step = (capability: unknown, given: unknown = {}) =>
  ({ done: false, next: { capability, arguments: given } }) as ReturnType<DecidingFunction>;
/** Returns these decisions one per run, and then done. */
const saying =
  (...said: unknown[]): DecidingFunction =>
  ({ results }) =>
    (said[results.length - 1] ?? { done: true }) as ReturnType<DecidingFunction>;
const boom = (): never => {
  throw new Error('disk full\nat write');
};
const never = (): Promise<never> => new Promise(() => {});

interface Expected {
  readonly reason: string;
  readonly code?: string;
  readonly results: readonly string[];
  /** Every run is remembered unless the row says otherwise. */
  readonly memory?: readonly string[];
}

type Row = readonly [rows: string, situation: string, script: LoopScript, expected: Expected];

const by = (decider: LoopScript['options']) => ({ options: { ...decider } });
const decidedBy = (...said: unknown[]): LoopScript => by({ continuation: saying(...said) });
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
  ['R5', 'a next step without a name', decidedBy(step(undefined)), invalid('missing_name')],
  ['R5', 'a numeric name', decidedBy(step(5)), invalid('missing_name')],
  ['R5', 'an empty name', decidedBy(step('')), invalid('empty_name')],
  ['R5', 'a blank name', decidedBy(step(' \n')), invalid('empty_name')],
  ['R5', 'arguments that are a list', decidedBy(step('review', [])), invalid('arguments_not_object')],
  ['R5', 'arguments that are null', decidedBy(step('review', null)), invalid('arguments_not_object')],
  ['R5', 'non-JSON arguments', decidedBy(step('review', 'soon')), invalid('arguments_not_object')],
  ['R5', 'a JSON list as arguments', decidedBy(step('review', '[1]')), invalid('arguments_not_object')],
  ['R5 R10', 'an unknown capability', decidedBy(step('publish')), invalid('unknown_capability')],
  ['R5 R10', 'a name of a built-in object property', decidedBy(step('toString')), invalid('unknown_capability')],
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
    'R6 R7',
    'a deciding model that fails',
    { continuations: [{ failure: { retryable: false } }], ...by({ continuation: 'model' }) },
    { reason: 'decider_failed', results: draftOnly },
  ],
  [
    'R6',
    'a model that decides, without a call left for it',
    by({ continuation: 'model', limits: { maxModelCalls: 1 } }),
    { reason: 'budget_exhausted', results: draftOnly },
  ],
];

describe.each(LOOP_HOSTS)('capability loops through %s', (way) => {
  it.each(rows)('[%s] %s', async (_, __, script, { reason, code = null, results, memory }) => {
    const played = startLoop(way, script);
    await played.end();
    const remembered = memory ?? [REQUEST, ...results.map((result) => result.split(':')[0])];
    expect(loopSummary(played)).toEqual({ reason, code, results, memory: remembered });
    expect(played.model.calls.filter(({ task }) => task === 'action')).toHaveLength(1);
    expect(played.clock.openTimers).toBe(0);
    if (played.answer !== null) expect((await played.answer).answerText.trim()).not.toBe('');
    const last = entriesOfType(played, 'capability-end').at(-1);
    if (played.outcome !== null) expect((await played.outcome).result).toEqual(last?.result ?? null);
  });
});
