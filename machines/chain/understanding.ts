import { begin, end, onBroken, onDeadline, settle, think } from './edges.ts';
import { chainSetup } from './setup.ts';

/** Understanding: evaluate, ask where it is the user’s content, apply [U7, U8]. */
export const understanding = chainSetup.createStateConfig({
  id: 'understanding',
  description: 'Letting go: what stays in the context, and what may leave it.',
  entry: begin('understanding'),
  initial: 'evaluating',
  states: {
    evaluating: {
      description: 'Rates every message and plans the operations.',
      invoke: {
        ...think('understanding'),
        onDone: settle('understanding', 'consulting', 'takeEvaluation'),
        onError: onBroken('understanding'),
      },
      after: onDeadline('understanding'),
    },
    consulting: {
      description: 'Does the plan touch anything of the user’s?',
      always: [{ guard: 'consentNeeded', target: 'awaitingConsent' }, { target: 'applying' }],
    },
    awaitingConsent: {
      description: 'Asks once for the whole batch; no answer in time keeps everything.',
      entry: 'askConsent',
      on: {
        'consent.given': {
          target: 'applying',
          actions: [
            {
              type: 'takeConsent',
              params: ({ event }) => ({ choice: event.choice, items: event.items }),
            },
            { type: 'announceConsent', params: { by: 'user' } },
          ],
        },
      },
      after: {
        consentDeadline: {
          target: 'applying',
          actions: [
            { type: 'takeConsent', params: { choice: 'keep' } },
            { type: 'announceConsent', params: { by: 'time-out' } },
          ],
        },
      },
    },
    applying: {
      description: 'The operations agreed on are appended.',
      always: { target: '#yield', actions: ['applyEvaluation', ...end('understanding')] },
    },
  },
});
