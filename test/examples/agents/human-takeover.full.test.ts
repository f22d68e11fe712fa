import { describe, expect, it } from 'vitest';
import { type AnyEventObject, fromPromise } from 'xstate';
import { machine, model } from '../../../examples/agents/human-takeover.ts';
import type { Pending } from '../../../src/durable/pending.ts';
import { createDurableMachine, memoryJournals } from '../../../src/entries/durable.ts';
import { explore, never } from '../../../src/entries/testing.ts';
import {
  agentRuns,
  requireEndsForAnyReply,
  requireProperties,
  requireReplaysRecording,
  requireSurvivesKills,
} from '../../support/agents.ts';

const handsBack = ({ events }: Pending): AnyEventObject | null =>
  events.includes('person.handedBack') ? { type: 'person.handedBack', text: 'The offer ends on Friday.' } : null;

const example = { machine, models: [model], input: { mail: 'Is the offer still valid?' }, person: handsBack };

describe('the human takeover', () => {
  it('always ends, also if nobody comes, and answers only with a confident reply or that of a person', () => {
    const events = [
      { type: 'person.tookOver' },
      { type: 'person.handedBack', text: 'A note.' },
      { type: 'person.replied', text: 'A reply.' },
    ] as const;
    requireProperties(explore(machine, { events, inputs: { mail: example.input } }), [
      never('answered with an unsure reply', (state) => state.matches('answered') && state.context.confidence < 0.7),
      never('unanswered with a draft', (state) => state.matches('unanswered') && state.output !== ''),
    ]);
  });

  it('goes to a person and back, also if it is killed at any entry', async () => {
    const { value, output, requests } = await requireSurvivesKills(example);
    expect([value, output]).toEqual(['answered', 'Yes, until Friday.']);
    expect(requests).toHaveLength(2);
  });

  it('ends without a reply if nobody comes within an hour', async () => {
    const { value, output } = await agentRuns({ ...example, person: () => null })();
    expect([value, output]).toEqual(['unanswered', '']);
  });

  it('stops the call of the model when a person takes over', async () => {
    let isAborted = false;
    const answer = fromPromise<never>(({ signal }) => {
      signal.addEventListener('abort', () => {
        isAborted = true;
      });
      return new Promise(() => {});
    });
    const hanging = machine.provide({ actors: { answer: answer as never } });
    const desk = createDurableMachine(hanging, { journals: memoryJournals() });
    const mail = await desk.open('mail', { input: example.input });
    expect(mail.pending.activities).toHaveLength(1);
    await mail.send({ type: 'person.tookOver' });
    expect(isAborted).toBe(true);
    await mail.send({ type: 'person.replied', text: 'Yes.' });
    expect(await mail.output).toBe('Yes.');
  });

  it('ends for any reply of the model, valid or not', () => requireEndsForAnyReply({ ...example, person: () => null }));

  it('replays its recorded run', () => requireReplaysRecording('human-takeover', example));
});
