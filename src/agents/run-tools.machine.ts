import { assign, enqueueActions, setup } from 'xstate';
import type { GuardResult } from '../../machines/contracts/decision.ts';
import { guardsOf } from '../../machines/guards.ts';
import { missingActor } from '../../machines/missing-actor.ts';
import type { promiseActivity } from '../llm/activities.ts';
import { rethrow } from './rethrow.ts';
import { type AskedCall, type ToolResult, toolCallMachine } from './tool-call.machine.ts';
import {
  beginRound,
  endCall,
  type Round,
  repeatsCalls,
  roundsLeft,
  type ToolsSettings,
  type ToolsState,
  type ToolsStop,
  waitingCalls,
} from './tool-rounds.ts';

/** What the model is asked for: its prompt's input, the rounds so far, and whether it may call tools. */
export interface ThinkInput {
  readonly given: unknown;
  readonly rounds: readonly Round[];
  readonly mayCall: boolean;
}

/** A reply of the model: an answer, or the calls of the next round. */
export interface ThinkReply {
  readonly answer: unknown;
  readonly text: string;
  readonly calls: readonly AskedCall[];
}

/** The output of `runTools`. */
export interface ToolsOutput<Answer> {
  readonly answer: Answer;
  /** The calls of each round, with their results. */
  readonly rounds: readonly Round[];
  /** Why no more tools ran: the model answered, or was told to because of `limits`. */
  readonly stopReason: ToolsStop;
}

type Replied = { readonly reply: ThinkReply };
type Ended = { readonly id: string; readonly result: ToolResult };
type Args = { readonly context: ToolsState };

const guards = {
  callsTools: (_: unknown, { reply }: Replied): GuardResult => ({
    holds: reply.calls.length > 0,
    inputs: { calls: reply.calls.length },
  }),
  repeatsCalls: ({ context }: Args, { reply }: Replied): GuardResult => repeatsCalls(context, reply.calls),
  roundEnded: ({ context: { calls, results } }: Args): GuardResult => ({
    holds: results.length === calls.length,
    inputs: { calls: calls.length, ended: results.length },
  }),
};

const toolsSetup = setup({
  types: {
    input: {} as unknown,
    context: {} as ToolsState,
    output: {} as ToolsOutput<unknown>,
  },
  actors: {
    think: missingActor('think') as unknown as ReturnType<typeof promiseActivity<ThinkReply, ThinkInput>>,
    toolCall: toolCallMachine,
  },
  guards: guardsOf(guards),
  actions: {
    assignAnswer: assign((_, { reply }: Replied) => ({ answer: reply.answer })),
    beginRound: assign(({ context }, { reply }: Replied) => beginRound(context, reply)),
    stopCalling: assign((_, { reason }: { readonly reason: ToolsStop }) => ({ stopReason: reason })),
    startCalls: enqueueActions(({ context, enqueue }) => {
      const { started, limits, timeouts } = context;
      const next = waitingCalls(context);
      for (const [at, call] of next.entries())
        enqueue.spawnChild('toolCall', {
          id: `call${context.rounds.length + 1}.${started + at + 1}`,
          input: { call, toolMs: timeouts[call.tool] ?? limits.toolMs },
        });
      enqueue.assign({ started: started + next.length });
    }),
    endCall: enqueueActions(({ enqueue }, { id, result }: Ended) => {
      enqueue.stopChild(id);
      enqueue.assign(({ context }) => endCall(context, result));
    }),
    endRound: assign(({ context }) => ({
      rounds: [...context.rounds, { text: context.text, calls: context.results }],
      stopReason: roundsLeft(context) > 1 ? context.stopReason : ('rounds_ended' as const),
    })),
    fail: assign(rethrow),
  },
});

/** The open loop of a model and its tools: any number of rounds, within limits, until the model answers. */
export const createToolsMachine = (settings: ToolsSettings) =>
  toolsSetup.createMachine({
    id: 'runTools',
    description: 'A model answers with the help of tools, in as many rounds as it needs.',
    context: ({ input }) => ({
      ...settings,
      given: input,
      rounds: [],
      text: '',
      calls: [],
      started: 0,
      results: [],
      answer: null,
      stopReason: 'answered',
    }),
    output: ({ context: { answer, rounds, stopReason } }: Args) => ({ answer, rounds, stopReason }),
    initial: 'thinking',
    states: {
      thinking: {
        description: 'The model answers, or calls tools if it still may.',
        invoke: {
          src: 'think',
          id: 'think',
          input: ({ context: { given, rounds, stopReason } }) => ({
            given,
            rounds,
            mayCall: stopReason === 'answered',
          }),
          onDone: [
            {
              guard: { type: 'repeatsCalls', params: ({ event }) => ({ reply: event.output }) },
              target: 'thinking',
              reenter: true,
              actions: { type: 'stopCalling', params: { reason: 'same_calls_repeated' } },
            },
            {
              guard: { type: 'callsTools', params: ({ event }) => ({ reply: event.output }) },
              target: 'calling',
              actions: { type: 'beginRound', params: ({ event }) => ({ reply: event.output }) },
            },
            {
              target: 'answered',
              actions: { type: 'assignAnswer', params: ({ event }) => ({ reply: event.output }) },
            },
          ],
          onError: { actions: { type: 'fail', params: ({ event }) => event } },
        },
      },
      calling: {
        description: 'The calls of the round run at the same time, each after its approval if it needs one.',
        entry: 'startCalls',
        on: {
          'xstate.done.actor.*': {
            actions: [
              {
                type: 'endCall',
                params: ({ event }) => ({ id: event['actorId'], result: event['output'] as ToolResult }),
              },
              'startCalls',
            ],
          },
        },
        always: { guard: 'roundEnded', target: 'thinking', actions: 'endRound' },
      },
      answered: { description: 'An answer, and the results of all calls.', type: 'final' },
    },
  });
