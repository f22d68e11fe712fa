import { describe, expect, it } from 'vitest';
import { machine, model } from '../../../examples/agents/evaluator-optimizer.ts';
import { atMost, explore, never } from '../../../src/entries/testing.ts';
import {
  requireEndsForAnyReply,
  requireProperties,
  requireReplaysRecording,
  requireSurvivesKills,
} from '../../support/agents.ts';

const example = { machine, models: [model], input: 'Praise a lamp.' };

describe('an evaluator and optimizer', () => {
  it('always ends, after three drafts at most, and calls no draft good that is not', () => {
    requireProperties(explore(machine, { inputs: { task: example.input } }), [
      atMost('drafts', 3, ({ context }) => context.rounds),
      never('a good draft with a low score', (state) => state.matches('good') && state.context.critique.score < 8),
    ]);
  });

  it('improves the draft until it is good, also if it is killed at any entry', async () => {
    const { value, output } = await requireSurvivesKills(example);
    expect([value, output]).toEqual(['good', 'Our lamp saves 40 euros a year.']);
  });

  it('ends for any reply of the model, valid or not', () => requireEndsForAnyReply(example));

  it('replays its recorded run', () => requireReplaysRecording('evaluator-optimizer', example));
});
