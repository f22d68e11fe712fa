import { describe, expect, it } from 'vitest';
import type { Continuation } from '../../../machines/contracts/capability.ts';
import { actionReply, call, done, next, startAction } from '../../support/action-machine.ts';

type Script = Parameters<typeof startAction>[0];

const boom = (): never => {
  throw new Error('no idea');
};
const never = (): Promise<never> => new Promise(() => {});
const refused = { ok: false, code: 'arguments_misfit', problem: 'words: a number is wanted' } as const;
const started = { calls: [call('draft')], decider: 'none' } as const;
const thinking = { decider: 'model' } as const;

/** The visited states, the stop reason, and the failure. */
async function way(script: Script) {
  const rig = startAction(script);
  const visited: string[] = [];
  const visit = ({ value }: { value: unknown }) =>
    visited.push(typeof value === 'string' ? value : Object.keys(Object(value)).join());
  visit(rig.actor.getSnapshot());
  rig.actor.subscribe(visit);
  for (let waits = 0; waits < 3; waits += 1) {
    await rig.settle();
    if (rig.actor.getSnapshot().status === 'active') rig.clock.increment(1_000);
  }
  await rig.settle();
  const { context, value } = rig.actor.getSnapshot();
  const { stopReason, runs, results } = context;
  const failed = results.filter(({ success }) => !success).length;
  const states = visited.filter((state, at) => state !== visited[at - 1]);
  return { value, states, stopReason, runs, failed, code: context.problem?.code ?? null, asked: rig.asked, context };
}

const ran = ['validatingArguments', 'calling'];
const asked = 'asking';

describe('visited states', () => {
  it.each<[string, string, Script, readonly string[]]>([
    ['R1', 'a capability is requested and the decider is asked', {}, [...ran, asked, 'concluded']],
    ['R1', 'no capability is requested', { reply: actionReply(null) }, ['concluded']],
    ['R1', 'the first step is given and needs no classification', { input: started }, [...ran, 'concluded']],
    [
      'R1',
      'a further step is not classified again',
      { decide: (_, count) => (count === 1 ? next('review') : done()) },
      [...ran, asked, ...ran, asked, 'concluded'],
    ],
    ['R5', 'there is no decider', { input: { decider: 'none' } }, [...ran, 'concluded']],
    ['R5', 'an unknown capability is not validated', { reply: actionReply(call('publish')) }, ['concluded']],
    ['R5', 'invalid arguments are not executed', { validate: () => refused }, ['validatingArguments', 'concluded']],
    [
      'R6',
      'the model decides',
      { input: thinking, continuations: [{ done: true, finalOutput: null, next: [] }] },
      [...ran, 'thinking', 'concluded'],
    ],
    ['R7', 'a capability throws', { execute: boom }, [...ran, asked, 'concluded']],
    ['R7', 'a decider throws', { decide: boom }, [...ran, asked, 'concluded']],
    ['R1', 'the model fails', { reply: 'no' }, ['failed']],
  ])('[R2] when %s: %s', async (_, __, script, expected) => {
    const { states } = await way(script);
    expect(states.filter((state) => state !== 'classifying')).toEqual(expected);
  });
});

describe('stop reasons', () => {
  const says = (said: unknown): Script => ({ decide: () => said as Continuation });

  it.each<[string, Script, string, string | null]>([
    ['no capability is requested', { reply: actionReply(null) }, 'nothing_to_run', null],
    ['there is no decider', { input: { decider: 'none' } }, 'one_round', null],
    ['the decider is done', says(done()), 'done', null],
    ['the limit is reached', { decide: () => next('review'), input: { maxContinuations: 2 } }, 'limit_reached', null],
    ['the next step has no name', says({ done: false, next: { arguments: {} } }), 'invalid_next_step', 'missing_name'],
    ['the next step has an empty name', says(next('')), 'invalid_next_step', 'empty_name'],
    ['the next step has an unknown name', says(next('publish')), 'invalid_next_step', 'unknown_capability'],
    [
      'the next step is not an object',
      says({ done: false, next: { capability: 'review', arguments: 5 } }),
      'invalid_next_step',
      'arguments_not_object',
    ],
    ['the first step has invalid arguments', { validate: () => refused }, 'invalid_next_step', 'arguments_misfit'],
    ['the decider throws', { decide: boom }, 'decider_failed', null],
    ['the decider returns undefined', { decide: never }, 'decider_failed', null],
    ['the decider returns an invalid reply', says('go on'), 'decider_failed', null],
    ['the model has no calls left', { input: { ...thinking, maxTokens: 0 } }, 'budget_exhausted', null],
  ])('[R5] when %s', async (_, script, stopReason, code) => {
    expect(await way(script)).toMatchObject({ value: 'concluded', stopReason, code });
  });
});
