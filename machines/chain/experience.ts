import { searchQuery } from '../policies/phase-input.ts';
import { chainSetup } from './setup.ts';
import { begin, onBroken, onDeadline, settle, think } from './transitions.ts';

/** Experience: retrieve, then read [C5]. */
export const experience = chainSetup.createStateConfig({
  id: 'experience',
  description: 'The past: what is already known and written about it.',
  entry: begin('experience'),
  after: onDeadline('experience'),
  initial: 'retrieving',
  states: {
    retrieving: {
      description: 'Searches the documents; a dead source is noted and gone without.',
      invoke: {
        src: 'retrievePassages',
        input: ({ context }) => ({
          query: searchQuery(context),
          limit: context.thresholds.passages,
          minRelevance: context.thresholds.passageRelevance,
        }),
        onDone: {
          target: 'reading',
          actions: { type: 'takePassages', params: ({ event }) => ({ found: event.output }) },
        },
        onError: [
          {
            guard: { type: 'sourceMayRecover', params: ({ event }) => ({ error: event.error }) },
            target: 'backingOff',
            actions: { type: 'noteRateLimit', params: ({ event }) => ({ error: event.error }) },
          },
          {
            target: 'reading',
            actions: {
              type: 'noteDeadSource',
              params: ({ context, event }) => ({ error: event.error, query: searchQuery(context) }),
            },
          },
        ],
      },
    },
    backingOff: {
      description: 'The source limits its rate: it is asked again after a while.',
      after: { sourceBackoff: 'retrieving' },
    },
    reading: {
      description: 'What the passages hold for the request.',
      invoke: {
        ...think('experience'),
        onDone: settle('experience', '#intention'),
        onError: onBroken('experience'),
      },
    },
  },
});
