import { describe, expect, it } from 'vitest';
import { machine, model } from '../../../examples/agents/router.ts';
import { explore, precedes } from '../../../src/entries/testing.ts';
import {
  requireEndsForAnyReply,
  requireProperties,
  requireReplaysRecording,
  requireSurvivesKills,
} from '../../support/agents.ts';

const example = { machine, models: [model], input: 'Where is my invoice?' };

describe('a router', () => {
  it('always ends, and no specialist answers before the model has chosen one', () => {
    requireProperties(explore(machine, { inputs: { mail: example.input } }), [
      precedes(
        { event: ({ kind, actor }) => kind === 'done' && actor?.name === 'route' },
        { state: (snapshot) => snapshot.matches('billing') || snapshot.matches('repairs') },
        'each',
      ),
    ]);
  });

  it('lets the chosen specialist answer, also if it is killed at any entry', async () => {
    const { value, output } = await requireSurvivesKills(example);
    expect([value, output]).toEqual(['answered', 'Your invoice is on its way.']);
  });

  it('ends for any reply of the model, valid or not', () => requireEndsForAnyReply(example));

  it('replays its recorded run', () => requireReplaysRecording('router', example));
});
