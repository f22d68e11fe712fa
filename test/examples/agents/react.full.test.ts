import { describe, expect, it } from 'vitest';
import { machine, model, tools } from '../../../examples/agents/react.ts';
import { explore } from '../../../src/entries/testing.ts';
import {
  requireEndsForAnyReply,
  requireProperties,
  requireReplaysRecording,
  requireSurvivesKills,
} from '../../support/agents.ts';

const example = { machine, models: [model], tools, input: 'What do two lamps cost?' };

describe('an agent that reasons and acts', () => {
  it('always ends', () => {
    requireProperties(explore(machine, { inputs: { question: example.input } }));
  });

  it('answers with the help of its tools, also if it is killed at any entry, and repeats no finished call', async () => {
    const { value, output, calls } = await requireSurvivesKills(example);
    expect([value, output]).toEqual(['answered', 'Two lamps cost 78 euros.']);
    expect(calls.map(({ name }) => name)).toEqual(['search', 'calculate']);
  });

  it('ends for any reply of the model, valid or not', () => requireEndsForAnyReply(example));

  it('replays its recorded run', () => requireReplaysRecording('react', example));
});
