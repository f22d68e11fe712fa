import { describe, expect, it } from 'vitest';
import { machine, model } from '../../../examples/agents/debate.ts';
import { atMost, explore, never } from '../../../src/entries/testing.ts';
import {
  requireEndsForAnyReply,
  requireProperties,
  requireReplaysRecording,
  requireSurvivesKills,
} from '../../support/agents.ts';

const example = { machine, models: [model], input: { topic: 'Tests are docs.', rounds: 2 } };

describe('the debate', () => {
  it('always ends after at most its rounds, and both speakers speak equally often unless one fails', () => {
    requireProperties(explore(machine, { inputs: { debate: example.input } }), [
      atMost('speeches', 4, ({ context }) => context.speeches.length),
      never('decided without a verdict', (state) => state.matches('decided') && state.context.verdict === null),
      never('a speech out of turn', (state) => state.matches('arguing') && state.context.speeches.length % 2 === 1),
    ]);
  });

  it('holds two rounds and one judgment, also if it is killed at any entry', async () => {
    const { value, output, requests } = await requireSurvivesKills(example);
    expect(value).toBe('decided');
    expect(requests).toHaveLength(5);
    expect(output).toMatchObject({ speeches: { length: 4 }, verdict: { winner: 'pro' } });
  });

  it('ends for any reply of the model, valid or not', () => requireEndsForAnyReply(example));

  it('replays its recorded run', () => requireReplaysRecording('debate', example));
});
