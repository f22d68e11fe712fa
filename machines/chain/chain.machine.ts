import { answerToGrade, ungraded, ungradedInTime } from '../policies/assessment.ts';
import { actionInput, summaryAttempt } from '../policies/phase-calls.ts';
import { initialState, visibleMessages } from '../policies/progress.ts';
import { emptySession, finishedTurn, STOPPED_PROBLEM, storeProblem, timeoutProblem } from '../policies/session.ts';
import { answerOf, valueAttempt } from '../policies/synthesis/value.ts';
import { writingInput } from '../policies/synthesis/writing.ts';
import { deadlines } from '../policies/usage.ts';
import type { ChainActors } from './actors.ts';
import { completes, continues, interruptions, phaseCall } from './repeated-transitions.ts';
import { chainSetup } from './setup.ts';

/**
 * PostChain: a request passes through six phases per cycle until Yield decides that the answer is complete.
 *
 * `routing` leads into a phase, `deciding` out of a cycle. `recovering` handles every failed phase. Every path ends in
 * `synthesizing`, which cannot fail. The names that the chart uses are in setup.ts.
 */
export const chainMachine = chainSetup.createMachine({
  id: 'postChain',
  description: 'A reasoning chain of six phases that always ends with an answer.',
  context: ({ input }) => initialState(input),
  output: ({ context }) => context.answer ?? answerOf(context),
  initial: 'cycling',
  on: {
    'usage.reported': { actions: { type: 'assignUsageInFlight', params: ({ event }) => event } },
    'models.learned': { actions: { type: 'assignModels', params: ({ event }) => event } },
    'context.overruled': { actions: { type: 'overruleContext', params: ({ event }) => event } },
    'context.undone': { actions: { type: 'undoOperation', params: ({ event }) => event } },
    'loop.progressed': { actions: { type: 'assignLoopInFlight', params: ({ event }) => event } },
    'approval.given': { actions: { type: 'emitAnswerRefused', params: ({ event }) => event } },
    'consent.given': { actions: { type: 'emitAnswerRefused', params: ({ event }) => event } },
    'run.directed': { actions: { type: 'emitAnswerRefused', params: ({ event }) => event } },
    'run.finished': { actions: { type: 'emitAnswerRefused', params: ({ event }) => event } },
  },
  states: {
    cycling: {
      description: 'The phases, in order within a cycle. At any point the user can cancel, finish or direct the run.',
      initial: 'beginning',
      always: {
        guard: 'budgetSpent',
        target: 'synthesizing',
        actions: { type: 'interruptRun', params: { kind: 'budget' } },
      },
      entry: 'startRunDeadline',
      on: {
        'run.expired': { target: 'synthesizing', actions: { type: 'interruptRun', params: { kind: 'deadline' } } },
        'xstate.done.actor.search': { actions: { type: 'assignFound', params: ({ event }) => event.output } },
        'xstate.error.actor.search': { actions: { type: 'assignSearchError', params: ({ event }) => event } },
        'xstate.done.actor.early': { actions: { type: 'assignEarly', params: ({ event }) => event.output } },
        'xstate.error.actor.early': { actions: { type: 'failEarly', params: ({ event }) => event } },
        ...interruptions('synthesizing', 'interruptRun'),
        'run.finished': {
          guard: { type: 'answerFits', params: ({ event }) => event },
          target: 'synthesizing',
          actions: { type: 'interruptRun', params: { kind: 'finished_by_user' } },
        },
        'run.adjusted': { actions: { type: 'adjustLimits', params: ({ event }) => event } },
        'run.directed': [
          {
            guard: { type: 'directionPossible', params: ({ event }) => event },
            target: '.routing',
            actions: [
              { type: 'abortPhase', params: { cause: 'the run was directed elsewhere' } },
              'stopSearch',
              'discardEarly',
              { type: 'directRun', params: ({ event }) => event },
            ],
          },
          { actions: { type: 'emitDirectionRefused', params: ({ event }) => event } },
        ],
      },
      exit: ['stopSearch', 'discardEarly', 'stopRunDeadline'],
      states: {
        beginning: {
          description: 'Does the request belong to a session that must be recalled?',
          always: [{ guard: 'recallWanted', target: 'recalling' }, { target: 'routing' }],
        },
        recalling: {
          description: 'Recalls the earlier turns of the session. If the store fails, the run continues without them.',
          invoke: {
            src: 'recallSession',
            input: ({ context: { sessionId, limits } }) => ({
              sessionId: sessionId ?? '',
              // One more shows whether there are older turns.
              turns: limits.sessionTurns + 1,
            }),
            onDone: { target: 'routing', actions: { type: 'assignSession', params: ({ event }) => event.output } },
            onError: {
              target: 'routing',
              actions: { type: 'assignSession', params: ({ event }) => emptySession(storeProblem(event.error)) },
            },
          },
          after: {
            sessionDeadline: {
              target: 'routing',
              actions: {
                type: 'assignSession',
                params: ({ context }) => emptySession(timeoutProblem(deadlines(context).sessionMs)),
              },
            },
          },
          on: {
            'run.directed': {
              guard: { type: 'directionFits', params: ({ event }) => event },
              actions: { type: 'directRun', params: ({ event }) => event },
            },
          },
        },
        routing: {
          id: 'routing',
          description:
            'Goes to the phase that the origin, the user or a recovery points to, or to Understanding first if the context is too large.',
          always: [
            { guard: 'contextMustShrink', target: 'understanding', actions: 'startDetour' },
            { guard: { type: 'directedTo', params: { phase: 'experience' } }, target: 'experience' },
            { guard: { type: 'directedTo', params: { phase: 'intention' } }, target: 'intention' },
            { guard: { type: 'directedTo', params: { phase: 'observation' } }, target: 'observation' },
            { guard: { type: 'directedTo', params: { phase: 'understanding' } }, target: 'understanding' },
            { guard: { type: 'directedTo', params: { phase: 'yield' } }, target: 'yield' },
            { target: 'action' },
          ],
        },
        action: {
          id: 'action',
          description: 'Answers from the context and runs capabilities (tools).',
          entry: [{ type: 'enterPhase', params: { phase: 'action' } }, 'startSearch'],
          initial: 'choosing',
          states: {
            choosing: {
              description: 'Without capabilities, does the profile skip the model call?',
              always: [
                { guard: 'replyIsKnown', target: '#experience', actions: 'completeKnownPhase' },
                { target: 'running' },
              ],
            },
            running: {
              description: 'The model answers from the context, and the capabilities that it calls run.',
              invoke: {
                src: 'action',
                id: 'action',
                input: ({ context }) => actionInput(context),
                onDone: [
                  {
                    guard: { type: 'phaseSucceeded', params: ({ event }) => event.output },
                    target: '#experience',
                    actions: { type: 'completePhase', params: ({ event }) => event.output },
                  },
                  { target: '#recovering', actions: { type: 'failPhase', params: ({ event }) => event.output } },
                ],
                onError: { target: '#recovering', actions: { type: 'failPhaseByError', params: ({ event }) => event } },
              },
              on: {
                'approval.given': { actions: { type: 'forwardApproval', params: ({ event }) => event } },
              },
              initial: 'working',
              states: {
                working: {
                  description: 'The loop runs, and the deadline of the phase applies.',
                  on: {
                    'loop.progressed': {
                      guard: { type: 'awaitsApproval', params: ({ event }) => event },
                      target: 'awaitingApproval',
                      actions: { type: 'assignLoopInFlight', params: ({ event }) => event },
                    },
                  },
                  after: { phaseDeadline: { target: '#recovering', actions: 'timeOutPhase' } },
                },
                awaitingApproval: {
                  description: 'The loop waits for the user. The deadlines of the phase and the run stop meanwhile.',
                  entry: 'stopRunDeadline',
                  exit: 'startRunDeadline',
                  on: {
                    'loop.progressed': {
                      guard: { type: 'approvalsAnswered', params: ({ event }) => event },
                      target: 'working',
                      actions: { type: 'assignLoopInFlight', params: ({ event }) => event },
                    },
                  },
                },
              },
            },
          },
        },
        experience: {
          id: 'experience',
          description: 'Searches the documents and summarizes the retrieved passages.',
          entry: [{ type: 'enterPhase', params: { phase: 'experience' } }, 'startSearch'],
          after: { phaseDeadline: { target: 'recovering', actions: ['timeOutPhase', 'stopSearch'] } },
          initial: 'searching',
          states: {
            searching: {
              description:
                'Waits for the search, which starts with Action. If the source fails, the phase continues without passages.',
              always: [
                { guard: 'searchIsDone', target: 'choosing', actions: 'takeSearch' },
                { guard: 'sourceMayRecover', target: 'backingOff', actions: 'backOff' },
                { guard: 'searchHasFailed', target: 'choosing', actions: 'takeSearch' },
              ],
            },
            backingOff: {
              description: 'The source reported a rate limit: the search is repeated after a delay.',
              after: { sourceBackoff: { target: 'searching', actions: 'startSearch' } },
            },
            choosing: {
              description: 'Does the profile leave Experience to the policy, or does one call read and answer?',
              always: [
                { guard: 'replyIsKnown', target: '#intention', actions: 'completeKnownPhase' },
                { guard: 'answersInOneCall', target: 'answering' },
                { target: 'reading' },
              ],
            },
            answering: {
              description:
                'One call reads the passages and answers, for all phases up to Yield. If its reply is still invalid after a correction, each phase makes its own call.',
              invoke: phaseCall('#intention'),
            },
            reading: {
              description: 'The model reads what the passages say about the request.',
              invoke: phaseCall('#intention'),
            },
          },
        },
        intention: {
          id: 'intention',
          description: 'States the goal of the request.',
          entry: { type: 'enterPhase', params: { phase: 'intention' } },
          after: { phaseDeadline: { target: 'recovering', actions: 'timeOutPhase' } },
          initial: 'choosing',
          states: {
            choosing: {
              description:
                'Is the reply known from a shared call or by policy? If not, the call of Observation may start too.',
              always: [
                { guard: 'replyIsKnown', target: '#observation', actions: 'completeKnownPhase' },
                { target: 'calling', actions: { type: 'callEarly', params: { task: 'observation' } } },
              ],
            },
            calling: {
              description: 'The model states the goal.',
              invoke: phaseCall('#observation', { id: 'intention' }),
            },
          },
        },
        observation: {
          id: 'observation',
          description: 'Notes what is worth remembering, and what belongs together.',
          entry: { type: 'enterPhase', params: { phase: 'observation' } },
          after: { phaseDeadline: { target: 'recovering', actions: 'timeOutPhase' } },
          initial: 'choosing',
          states: {
            choosing: {
              description:
                'Is the reply already known, from a shared call, an early call or the policy? Waits for an early call in progress.',
              always: [
                { guard: 'replyIsKnown', target: '#understanding', actions: 'completeKnownPhase' },
                { guard: 'callIsDue', target: 'calling', actions: 'discardEarly' },
              ],
            },
            calling: {
              description: 'The model notes what is worth remembering.',
              invoke: phaseCall('#understanding', { id: 'observation' }),
            },
          },
        },
        understanding: {
          id: 'understanding',
          description: 'Decides what leaves the context.',
          entry: { type: 'enterPhase', params: { phase: 'understanding' } },
          initial: 'beginning',
          states: {
            beginning: {
              description: 'Is the context worth measuring?',
              always: [{ guard: 'measuringPays', target: 'measuring' }, { target: 'ready' }],
            },
            measuring: {
              description: 'Counts tokens with the model’s tokenizer, and compares messages with the request.',
              invoke: {
                src: 'measureContext',
                input: ({ context }) => ({ request: context.request, messages: visibleMessages(context) }),
                onDone: { target: 'ready', actions: { type: 'assignMeasures', params: ({ event }) => event.output } },
                onError: { target: 'ready', actions: 'estimateMeasures' },
              },
              after: { phaseDeadline: { target: 'ready', actions: 'estimateMeasures' } },
            },
            ready: {
              description:
                'Are ratings known from a shared call? Does the context fit into a prompt? If not, the policy rates it alone.',
              always: [
                { guard: 'ratingsAreKnown', target: 'planned', actions: 'assignKnownEvaluation' },
                { guard: 'modelMayRate', target: 'evaluating' },
                { target: 'planned', actions: 'evaluateByPolicy' },
              ],
            },
            evaluating: {
              description: 'The model rates every message, and operations are planned.',
              invoke: phaseCall('planned', { success: 'assignEvaluation' }),
              after: { phaseDeadline: { target: '#recovering', actions: 'timeOutPhase' } },
            },
            planned: {
              description: 'Does an option decide about user content? Is there anything to summarize, or to ask?',
              always: [
                {
                  guard: 'consentDecided',
                  actions: {
                    type: 'assignConsent',
                    params: ({ context }) => ({ choice: context.consent, by: 'option' }),
                  },
                },
                { guard: 'summariesWanted', target: 'summarizing' },
                { guard: 'consentNeeded', target: 'awaitingConsent' },
                { target: 'applying' },
              ],
            },
            summarizing: {
              description: 'The model writes the summaries. Messages without one keep their extract.',
              invoke: {
                src: 'attempt',
                input: ({ context }) => summaryAttempt(context),
                onDone: {
                  target: 'consulting',
                  actions: { type: 'assignSummaries', params: ({ event }) => event.output },
                },
                onError: {
                  target: 'consulting',
                  actions: { type: 'closeAborted', params: { cause: 'its actor failed' } },
                },
              },
              after: {
                phaseDeadline: {
                  target: 'consulting',
                  actions: { type: 'closeAborted', params: { cause: 'it took too long' } },
                },
              },
            },
            consulting: {
              description: 'Does the plan touch user content?',
              always: [{ guard: 'consentNeeded', target: 'awaitingConsent' }, { target: 'applying' }],
            },
            awaitingConsent: {
              description:
                'Asks once for the whole batch. The user may overrule operations one by one instead. Without an answer in time, everything is kept.',
              entry: ['askForConsent', { type: 'callEarly', params: { task: 'yield' } }],
              exit: 'closeQuestion',
              always: { guard: 'consentSettled', target: 'applying', actions: 'concludeConsent' },
              on: {
                'consent.given': {
                  guard: { type: 'answerFits', params: ({ event }) => event },
                  target: 'applying',
                  actions: { type: 'assignConsent', params: ({ event }) => event },
                },
              },
              after: {
                consentDeadline: {
                  target: 'applying',
                  actions: { type: 'assignConsent', params: { choice: 'keep', by: 'time-out' } },
                },
              },
            },
            applying: {
              description: 'The planned operations are passed to the next phase.',
              always: [
                { guard: 'onDetour', target: '#routing', actions: ['applyEvaluation', 'endDetour'] },
                { target: '#yield', actions: 'applyEvaluation' },
              ],
            },
          },
        },
        yield: {
          id: 'yield',
          description: 'Is the answer complete? If not, where does the next cycle begin?',
          entry: { type: 'enterPhase', params: { phase: 'yield' } },
          initial: 'choosing',
          states: {
            choosing: {
              description: 'Waits for the early call that started when the user was asked for consent.',
              always: [
                { guard: 'replyIsKnown', target: 'deciding', actions: 'completeKnownPhase' },
                { guard: 'callIsDue', target: 'assessing', actions: 'discardEarly' },
              ],
              after: { phaseDeadline: { target: '#recovering', actions: 'timeOutPhase' } },
            },
            assessing: {
              description: 'The model states the answer so far and how good it is.',
              invoke: phaseCall('deciding'),
              after: { phaseDeadline: { target: '#recovering', actions: 'timeOutPhase' } },
            },
            grading: {
              description: 'The user’s grader, or a judge, grades the answer. If it fails, the default grades count.',
              invoke: {
                src: 'gradeAnswer',
                input: ({ context }) => answerToGrade(context),
                onDone: { target: 'deciding', actions: { type: 'assignGrades', params: ({ event }) => event.output } },
                onError: {
                  target: 'deciding',
                  actions: { type: 'assignGrades', params: ({ event }) => ungraded(event.error) },
                },
              },
              after: {
                phaseDeadline: {
                  target: 'deciding',
                  actions: { type: 'assignGrades', params: ({ context }) => ungradedInTime(context) },
                },
              },
            },
            comparing: {
              description:
                'Compares the answer with the previous one by embeddings, or by words if that is impossible.',
              invoke: {
                src: 'compareAnswers',
                input: ({ context: { assessment } }) => ({
                  previous: assessment?.toCompare ?? '',
                  current: assessment?.answer ?? '',
                }),
                onDone: {
                  target: 'deciding',
                  actions: { type: 'assignChange', params: ({ event }) => ({ change: event.output }) },
                },
                onError: { target: 'deciding', actions: { type: 'assignChange', params: { change: null } } },
              },
              after: {
                phaseDeadline: { target: 'deciding', actions: { type: 'assignChange', params: { change: null } } },
              },
            },
            deciding: {
              description:
                'The rules, in order: the first that holds decides. In manual mode, the user decides within the limits.',
              always: [
                { guard: 'gradingWanted', target: 'grading' },
                completes('cycleLimitReached'),
                completes('budgetExhausted'),
                { guard: 'comparisonWanted', target: 'comparing' },
                { guard: 'directionWanted', target: 'awaitingDirection' },
                completes('confidenceReached'),
                completes('answerConverged'),
                completes('taskComplete'),
                completes('loopDetected'),
                completes('answerIsProse'),
                continues('action'),
                continues('experience'),
                continues('intention'),
                continues('observation'),
                continues('understanding'),
                continues('yield'),
                {
                  guard: 'nextPhaseInvalid',
                  target: '#action',
                  actions: { type: 'continueWith', params: { rule: 'nextPhaseInvalid', phase: 'action' } },
                },
              ],
            },
            awaitingDirection: {
              description:
                'Manual mode: the user chooses the next phase, or finishes the run. A rule that holds is a recommendation to finish.',
              entry: 'askForDirection',
              exit: 'closeQuestion',
              on: {
                'run.directed': {
                  guard: { type: 'directionFits', params: ({ event }) => event },
                  target: '#routing',
                  actions: { type: 'continueAsDirected', params: ({ event }) => event },
                },
              },
            },
          },
        },
        recovering: {
          id: 'recovering',
          description: 'A phase failed: it is repeated or skipped, or the run ends with what it has.',
          entry: 'discardEarly',
          always: [
            { guard: 'phaseSaved', target: 'routing' },
            {
              guard: 'costLimitReached',
              target: '#synthesizing',
              actions: { type: 'finishDegraded', params: { kind: 'budget' } },
            },
            {
              guard: 'modelUnavailable',
              target: '#synthesizing',
              actions: { type: 'finishDegraded', params: { kind: 'model_unavailable' } },
            },
            { guard: 'phaseMayRepeat', target: 'routing', actions: 'repeatPhase' },
            { guard: 'phaseMayBeSkipped', target: 'routing', actions: 'skipPhase' },
            { target: '#synthesizing', actions: { type: 'finishDegraded', params: { kind: 'phase_failed' } } },
          ],
        },
      },
    },
    synthesizing: {
      id: 'synthesizing',
      description: 'Builds the final answer, with a model if possible and without one if not. It cannot fail.',
      initial: 'preparing',
      on: interruptions('.composing', 'interruptSynthesis'),
      states: {
        preparing: {
          description:
            'Is Yield’s answer final? If not: is there a model to write one, and does its prompt fit into the reserve?',
          always: [
            { guard: 'answerIsFinal', target: 'choosing' },
            { guard: 'modelMayWrite', target: 'writing' },
            { target: 'choosing' },
          ],
        },
        writing: {
          description: 'The model writes the final answer from the results of the phases.',
          invoke: {
            src: 'attempt',
            input: ({ context }) => writingInput(context),
            onDone: { target: 'choosing', actions: { type: 'assignSynthesis', params: ({ event }) => event.output } },
            onError: { target: 'choosing', actions: { type: 'recordSynthesisError', params: ({ event }) => event } },
          },
          after: { synthesisDeadline: { target: 'choosing', actions: 'timeOutSynthesis' } },
        },
        choosing: {
          description: 'Must the run also return a value of a schema, and can a model state it?',
          always: [{ guard: 'valueMayBeStated', target: 'stating' }, { target: 'composing' }],
        },
        stating: {
          description: 'The model states the answer as a value of the schema. If it fails, the answer is only text.',
          invoke: {
            src: 'attempt',
            input: ({ context }) => valueAttempt(context),
            onDone: { target: 'composing', actions: { type: 'assignValue', params: ({ event }) => event.output } },
            onError: { target: 'composing', actions: { type: 'recordValueError', params: ({ event }) => event } },
          },
          after: { synthesisDeadline: { target: 'composing', actions: 'timeOutValue' } },
          on: interruptions('composing', 'interruptValue'),
        },
        composing: {
          description: 'The answer, with the flags that the engine computed.',
          entry: 'composeAnswer',
          always: [{ guard: 'hasSession', target: '#remembering' }, { target: '#answered' }],
        },
      },
    },
    remembering: {
      id: 'remembering',
      description: 'Adds the request and its answer to the session. If that fails, the answer is still returned.',
      invoke: {
        src: 'appendTurn',
        input: ({ context }) => ({ sessionId: context.sessionId ?? '', turn: finishedTurn(context) }),
        onDone: { target: '#answered', actions: { type: 'emitStored', params: { problem: null } } },
        onError: {
          target: '#answered',
          actions: { type: 'emitStored', params: ({ event }) => ({ problem: storeProblem(event.error) }) },
        },
      },
      after: {
        sessionDeadline: {
          target: '#answered',
          actions: {
            type: 'emitStored',
            params: ({ context }) => ({ problem: timeoutProblem(deadlines(context).sessionMs) }),
          },
        },
      },
      on: {
        'run.cancelled': { target: '#answered', actions: { type: 'emitStored', params: { problem: STOPPED_PROBLEM } } },
        'run.interrupted': {
          target: '#answered',
          actions: { type: 'emitStored', params: { problem: STOPPED_PROBLEM } },
        },
      },
    },
    answered: {
      id: 'answered',
      description: 'Completed, degraded or cancelled: always with an answer.',
      type: 'final',
      entry: 'emitAnswer',
    },
  },
});

/** Returns the machine with its actors. */
export function createChainMachine(actors: ChainActors): typeof chainMachine {
  return chainMachine.provide({ actors });
}
