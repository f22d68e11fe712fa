import { describe, expect, it } from 'vitest';
import { machine, model } from '../../../examples/agents/plan-and-execute.ts';
import { atMost, explore, never } from '../../../src/entries/testing.ts';
import {
  requireEndsForAnyReply,
  requireProperties,
  requireReplaysRecording,
  requireSurvivesKills,
} from '../../support/agents.ts';

const example = { machine, models: [model], input: 'A party for 40 guests' };

describe('an agent that plans and executes', () => {
  it('always ends, after three plans at most', () => {
    requireProperties(explore(machine, { inputs: { goal: example.input } }), [
      atMost('plans', 3, ({ context }) => context.plans),
      never('ended without a plan', (state) => state.matches('ended') && state.context.plans === 0),
    ]);
  });

  it('plans again after a step that failed, also if it is killed at any entry', async () => {
    const { value, output } = await requireSurvivesKills(example);
    expect(value).toBe('ended');
    expect(output).toMatchObject({
      plans: 2,
      steps: [],
      results: [
        { ok: false, result: 'The hall is taken.' },
        { ok: true, result: 'The garden is booked.' },
        { ok: true, result: '40 guests are invited.' },
      ],
    });
  });

  it('ends for any reply of the model, valid or not', () => requireEndsForAnyReply(example));

  it('replays its recorded run', () => requireReplaysRecording('plan-and-execute', example));
});
