import type { ChainState } from '../contracts/chain-state.ts';
import type { RecalledSession } from '../contracts/session.ts';
import { deadlines } from '../policies/limits.ts';
import { lostSession, problemOf, STOPPED, tooLate, turnOf } from '../policies/session.ts';
import { chainSetup } from './setup.ts';

type Context = { readonly context: ChainState };
type Recalled = { readonly event: { readonly output: RecalledSession } };
type Broken = { readonly event: { readonly error: unknown } };

/** Told, and put into the context: the turns, or why there are none. */
const taken = <Params>(params: Params) => [
  { type: 'announceRecalled' as const, params },
  { type: 'takeSession' as const, params },
];

/** What the session remembers goes in front of the request; a direction of the user's waits for it. */
export const recalling = chainSetup.createStateConfig({
  description: 'Recalls the earlier turns of the session; a store that fails is gone without.',
  invoke: {
    src: 'recallSession',
    input: ({ context: { sessionId, limits } }) => ({ sessionId: sessionId ?? '', turns: limits.sessionTurns }),
    onDone: { target: 'routing', actions: taken(({ event }: Recalled) => event.output) },
    onError: { target: 'routing', actions: taken(({ event }: Broken) => lostSession(problemOf(event.error))) },
  },
  after: {
    sessionDeadline: {
      target: 'routing',
      actions: taken(({ context }: Context) => lostSession(tooLate(deadlines(context).sessionMs))),
    },
  },
  on: {
    'run.directed': {
      guard: { type: 'directionIsPhase', params: ({ event }) => event },
      actions: { type: 'takeDirection', params: ({ event }) => ({ phase: event.phase, prompt: event.prompt }) },
    },
  },
});

const stopped = { target: '#answered', actions: { type: 'announceStored' as const, params: { problem: STOPPED } } };

/** The session keeps the turn. The answer is there whatever comes of it; who stops the run now has it at once. */
export const remembering = chainSetup.createStateConfig({
  id: 'remembering',
  description: 'Adds the request and its answer to the session; whatever comes of that, the answer stands.',
  invoke: {
    src: 'appendTurn',
    input: ({ context }) => ({ sessionId: context.sessionId ?? '', turn: turnOf(context) }),
    onDone: { target: '#answered', actions: { type: 'announceStored', params: { problem: null } } },
    onError: {
      target: '#answered',
      actions: { type: 'announceStored', params: ({ event }) => ({ problem: problemOf(event.error) }) },
    },
  },
  after: {
    sessionDeadline: {
      target: '#answered',
      actions: {
        type: 'announceStored',
        params: ({ context }) => ({ problem: tooLate(deadlines(context).sessionMs) }),
      },
    },
  },
  on: { 'run.cancelled': stopped, 'run.interrupted': stopped },
});
