import { beforeAll, describe, expect, it } from 'vitest';
import type { AnyMachineSnapshot } from 'xstate';
import { documents, machine, model } from '../../../examples/agents/research.ts';
import type { Passage } from '../../../src/entries/agents.ts';
import { atMost, explore, never, precedes } from '../../../src/entries/testing.ts';
import {
  requireEndsForAnyReply,
  requireProperties,
  requireReplaysRecording,
  requireSurvivesKills,
} from '../../support/agents.ts';

const example = { machine, models: [model], input: { question: 'When can I visit?' } };

/** Whether each of the quotes is in a passage, and there is one. */
function isSupported({ context }: AnyMachineSnapshot): boolean {
  const texts = context.passages.map(({ text }: Passage) => text);
  return context.quotes.length > 0 && context.quotes.every((quote: string) => texts.join('\n').includes(quote));
}

const isRepeatedSearch = (snapshot: AnyMachineSnapshot): boolean =>
  snapshot.matches('searching') && snapshot.context.steps > 0;

// The first search builds the index.
beforeAll(() => documents.search('', { limit: 1, minRelevance: 0, signal: new AbortController().signal }));

describe('research with documents', () => {
  it('always ends, answers only with quotes from the passages, and never without a search', () => {
    requireProperties(explore(machine, { inputs: { question: example.input } }), [
      atMost('steps', 8, ({ context }) => context.steps),
      never('answered without quotes from the passages', (state) => state.matches('answered') && !isSupported(state)),
      never('an unsupported answer', (state) => state.matches('unanswered') && state.output?.answer !== ''),
      never(
        'a call of the model without passages',
        (state) => state.matches('answering') && !state.context.passages[0],
      ),
      precedes({ event: ({ name }) => name.startsWith('rephrase: ') }, { state: isRepeatedSearch }, 'each'),
    ]);
  });

  it('searches again with another query when nothing was found, also if it is killed at any entry', async () => {
    const { value, output, requests } = await requireSurvivesKills(example);
    expect([value, output]).toEqual(['answered', { answer: 'Nine.', quotes: ['at nine'] }]);
    expect(requests).toHaveLength(2);
  });

  it('ends for any reply of the model, valid or not', () => requireEndsForAnyReply(example));

  it('replays its recorded run', () => requireReplaysRecording('research', example));
});
