import { describe, expect, it } from 'vitest';
import { machine, model } from '../../../examples/agents/map-reduce.ts';
import { atMost, explore, never } from '../../../src/entries/testing.ts';
import {
  requireEndsForAnyReply,
  requireProperties,
  requireReplaysRecording,
  requireSurvivesKills,
} from '../../support/agents.ts';

const example = { machine, models: [model], input: ['Bees dance.', 'Ants march.', 'Birds sing.'] };

describe('map and reduce', () => {
  it('always ends, whichever notes fail, and combines only once every text was read', () => {
    requireProperties(explore(machine, { inputs: { texts: example.input } }), [
      atMost('notes', 3, ({ context }) => Object.keys(context.notes).length),
      never(
        'combined before every text was read',
        (state) => state.matches('reducing') && Object.keys(state.context.notes).length < 3,
      ),
      never(
        'combined without a note',
        (state) => state.matches('combined') && Object.values(state.context.notes).every((note) => note === null),
      ),
    ]);
  });

  it('ends without a summary if no texts are given', () => {
    const { states } = explore(machine, { inputs: { none: [] } });
    expect(states.map(({ value }) => value)).toEqual(['failed']);
  });

  it('reads each text once, also if it is killed at any entry', async () => {
    const { value, requests } = await requireSurvivesKills(example);
    expect(value).toBe('combined');
    expect(requests).toHaveLength(4);
  });

  it('ends for any reply of the model, valid or not', () => requireEndsForAnyReply(example));

  it('replays its recorded run', () => requireReplaysRecording('map-reduce', example));
});
