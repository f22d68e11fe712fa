import { describe, expect, it } from 'vitest';
import type { EventObject } from 'xstate';
import { machine, model } from '../../../examples/agents/supervisor.ts';
import {
  alwaysEventually,
  describeFinding,
  explore,
  findingsOf,
  never,
  noDeadTransition,
  precedes,
  soundness,
} from '../../../src/entries/testing.ts';
import {
  agentRuns,
  requireEndsForAnyReply,
  requireReplaysRecording,
  requireSurvivesKills,
} from '../../support/agents.ts';

const input = { goal: 'Explain the dance of bees.', limits: { calls: 20 } };
const example = { machine, models: [model], input };

/** Each decision of the model uses the budget, so there is a last one. */
const isDecision = ({ type }: EventObject): boolean => /^xstate\.done\.actor\..*supervising$/u.test(type);

describe('the supervisor', () => {
  const exploration = explore(machine, { inputs: { job: input } });

  it('always ends within its budget, and finishes only with a text', () => {
    const findings = findingsOf(exploration, [
      // A budget fails only for an invalid input.
      noDeadTransition({ except: ['supervisor, error → stopped'] }),
      ...soundness.filter(({ name }) => name !== noDeadTransition().name),
      alwaysEventually('ended', ({ status }) => status === 'done', { finitely: isDecision }),
      never('finished without a text', ({ value, context }) => value === 'finished' && !context.results['writer']),
      precedes({ event: 'budget.reached' }, { state: 'working' }, 'never'),
    ]);
    expect(findings.filter(({ witness }) => witness !== null).map(describeFinding)).toEqual([]);
  });

  it('would run forever without the budget', () => {
    const [finding] = findingsOf(exploration, [alwaysEventually('ended', ({ status }) => status === 'done')]);
    expect(finding?.witness?.what).toContain('it can cycle');
  });

  it('runs each worker once, also if it is killed at any entry', async () => {
    const { value, output, requests } = await requireSurvivesKills(example);
    expect(value).toBe('finished');
    expect(Object.keys(output as object)).toEqual(['researcher', 'writer']);
    expect(requests).toHaveLength(5);
  });

  it.each([
    [1, []],
    [3, ['researcher']],
    [4, ['researcher', 'writer']],
  ])('stops with what there is after a budget of %i calls', async (calls, workers) => {
    const limited = { ...example, input: { ...input, limits: { calls } } };
    const { value, output, requests } = await agentRuns(limited)();
    expect(value).toBe('stopped');
    expect(Object.keys(output as object)).toEqual(workers);
    expect(requests).toHaveLength(calls);
  });

  it('ends for any reply of the model, valid or not', () => requireEndsForAnyReply(example));

  it('replays its recorded run', () => requireReplaysRecording('supervisor', example));
});
