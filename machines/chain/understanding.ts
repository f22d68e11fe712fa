import { attemptPolicy, executionId } from '../policies/phase-input.ts';
import { visibleMessages } from '../policies/progress.ts';
import { summaryInput } from '../policies/understanding.ts';
import { chainSetup } from './setup.ts';
import { begin, brokenOff, end, onBroken, onDeadline, settle, think } from './transitions.ts';

/** The model rates what it can be shown; else the policy rates alone. */
const rate = [
  { guard: 'modelMayRate' as const, target: 'evaluating' },
  { target: 'planned', actions: 'evaluateAlone' as const },
];

/** The user is asked where the plan touches what is theirs. */
const consult = [{ guard: 'consentNeeded' as const, target: 'awaitingConsent' }, { target: 'applying' }];

/** Understanding: measure, evaluate, summarise, ask where it is the user’s content, apply [U5, U7, U8, U10]. */
export const understanding = chainSetup.createStateConfig({
  id: 'understanding',
  description: 'Letting go: what stays in the context, and what may leave it.',
  entry: begin('understanding'),
  initial: 'beginning',
  states: {
    beginning: {
      description: 'Could the context be over its limit, or be compared by embeddings? Can a model be shown it?',
      always: [{ guard: 'measuringPays', target: 'measuring' }, ...rate],
    },
    measuring: {
      description: 'Counts tokens with the model’s tokenizer, and compares messages with the request.',
      invoke: {
        src: 'measureContext',
        input: ({ context }) => ({ request: context.request, messages: visibleMessages(context) }),
        onDone: { target: 'ready', actions: { type: 'takeMeasures', params: ({ event }) => event.output } },
        onError: { target: 'ready', actions: 'noteUnmeasured' },
      },
      after: { phaseDeadline: { target: 'ready', actions: 'noteUnmeasured' } },
    },
    ready: {
      description: 'Measured: can a model be shown the context? Else the policy rates it alone.',
      always: [...rate],
    },
    evaluating: {
      description: 'Rates every message and plans the operations.',
      invoke: {
        ...think('understanding'),
        onDone: settle('understanding', 'planned', 'takeEvaluation'),
        onError: onBroken('understanding'),
      },
      after: onDeadline('understanding'),
    },
    planned: {
      description: 'Is there anything to summarise, or to ask the user?',
      always: [{ guard: 'summariesWanted', target: 'summarising' }, ...consult],
    },
    summarising: {
      description: 'The model writes the summaries; where it does not, extracts stay.',
      invoke: {
        src: 'attempt',
        input: ({ context }) => ({
          id: executionId(context, 'summary'),
          task: 'summary',
          input: summaryInput(context),
          policy: attemptPolicy(context),
        }),
        onDone: { target: 'consulting', actions: { type: 'takeSummaries', params: ({ event }) => event.output } },
        onError: 'consulting',
      },
      after: { phaseDeadline: { target: 'consulting', actions: brokenOff('it took too long') } },
    },
    consulting: {
      description: 'Does the plan touch anything of the user’s?',
      always: [...consult],
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
              params: ({ event }) => ({ choice: event.choice, items: event.items, by: event.by ?? 'user' }),
            },
            { type: 'announceConsent', params: ({ event }) => ({ by: event.by ?? 'user' }) },
          ],
        },
      },
      after: {
        consentDeadline: {
          target: 'applying',
          actions: [
            { type: 'takeConsent', params: { choice: 'keep', by: 'time-out' } },
            { type: 'announceConsent', params: { by: 'time-out' } },
          ],
        },
      },
    },
    applying: {
      description: 'The operations agreed on are appended.',
      always: [
        {
          guard: 'onDetour',
          target: '#routing',
          actions: ['applyEvaluation', 'announceEvaluation', ...end('understanding'), 'endDetour'],
        },
        { target: '#yield', actions: ['applyEvaluation', 'announceEvaluation', ...end('understanding')] },
      ],
    },
  },
});
