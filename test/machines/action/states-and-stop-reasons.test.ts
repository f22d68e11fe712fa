import { describe, expect, it } from 'vitest';
import type { ActionState } from '../../../machines/contracts/action-state.ts';
import type { Continuation } from '../../../machines/contracts/capability.ts';
import { continuationLimitReached, nextStepInvalid } from '../../../machines/policies/capability-loop.ts';
import { actionInput, actionReply, call, done, next, startAction } from '../../support/action-machine.ts';

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
    ['there is no decider', { input: { decider: 'none' } }, 'no_decider', null],
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

  it('[R3] [R5] checks the limit before it validates the step that the limit forbids', async () => {
    const decide = () => next('publish');
    expect(await way({ decide, input: { maxContinuations: 1 } })).toMatchObject({
      stopReason: 'limit_reached',
      runs: 1,
    });
  });

  it('[R7] gives a decider the timeout of the loop, regardless of the timeout of the previous capability', async () => {
    const { input } = actionInput(['draft']);
    const capabilities = input.capabilities.map((capability) => ({ ...capability, timeoutMs: 5 }));
    const own = startAction({ decide: never, input: { input: { ...input, capabilities } } });
    await own.settle();
    own.clock.increment(999);
    expect(own.actor.getSnapshot().value).toBe('asking');
    own.clock.increment(1);
    expect(own.actor.getSnapshot().context).toMatchObject({
      stopReason: 'decider_failed',
      problem: { code: null, message: 'the decider did not reply within 1000 ms' },
    });
  });

  it('[R3] passes the number of remaining runs to the decider and asks it at the limit too', async () => {
    const { asked: seen } = await way({ decide: () => next('review'), input: { maxContinuations: 3 } });
    expect(seen.decide.map(({ runsLeft }) => runsLeft)).toEqual([2, 1, 0]);
  });
});

describe('guards', () => {
  const { context } = startAction().actor.getSnapshot();
  const wishing = (capability: string): ActionState => ({ ...context, calls: [call(capability)] });

  it.each([
    ['draft', null],
    ['publish', 'unknown_capability'],
    ['', 'empty_name'],
    ['\t', 'empty_name'],
  ])('[R5] [R8] nextStepInvalid reports why %j is invalid: %s', (name, cause) => {
    const inputs = { capability: name, cause, known: 3 };
    expect(nextStepInvalid(wishing(name))).toEqual({ holds: cause !== null, inputs });
  });

  it.each([0, 1, 4, 5, 6])('[R3] [R8] continuationLimitReached is true from the fifth run on: %i', (runs) => {
    const verdict = { holds: runs >= 5, inputs: { runs, maxContinuations: 5 } };
    expect(continuationLimitReached({ ...context, runs })).toEqual(verdict);
  });
});

describe('loop memory', () => {
  it('[R4] is set before the decider replies', async () => {
    const rig = startAction({ decide: never });
    await rig.settle();
    const { context, value } = rig.actor.getSnapshot();
    expect(value).toBe('asking');
    expect(context.memory).toEqual([
      { role: 'user', content: 'Write a note.' },
      { role: 'assistant', capability: 'draft', success: true, summary: 'draft ran' },
    ]);
    rig.actor.stop();
  });

  it('[R4] contains one user message and one entry per run in every state of the loop', async () => {
    const rig = startAction({ decide: () => next('review'), input: { maxContinuations: 4 } });
    await rig.settle();
    for (const { memory, results } of rig.contexts) {
      expect(memory.filter(({ role }) => role === 'user')).toHaveLength(memory.length === 0 ? 0 : 1);
      expect(memory).toHaveLength(results.length === 0 ? 0 : results.length + 1);
    }
    expect(rig.contexts.at(-1)?.memory).toHaveLength(5);
  });
});
