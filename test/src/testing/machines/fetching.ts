import { assign, fromPromise, setup } from 'xstate';

/** The pattern of a request with retries: an invoked promise, a wait before it is asked again, a bound. */
export const fetching = setup({
  types: {
    context: {} as { retries: number; most: number; data: string | null },
    input: {} as { most: number },
    events: {} as { type: 'fetch' } | { type: 'cancel' },
    output: {} as { data: string | null },
  },
  actors: { load: fromPromise<string, undefined>(() => Promise.reject(new Error('never asked'))) },
  guards: { mayRetry: ({ context }) => context.retries < context.most },
  delays: { backoff: ({ context }) => 100 * 2 ** context.retries },
}).createMachine({
  id: 'fetching',
  context: ({ input }) => ({ retries: 0, most: input.most, data: null }),
  output: ({ context }) => ({ data: context.data }),
  initial: 'idle',
  states: {
    idle: { on: { fetch: 'loading' } },
    loading: {
      invoke: {
        src: 'load',
        onDone: { target: 'done', actions: assign({ data: ({ event }) => event.output }) },
        onError: [{ guard: 'mayRetry', target: 'waiting' }, { target: 'failed' }],
      },
      after: { 5000: 'waiting' },
      on: { cancel: 'idle' },
    },
    waiting: {
      entry: assign({ retries: ({ context }) => context.retries + 1 }),
      after: {
        backoff: [{ guard: ({ context }) => context.retries > context.most, target: 'failed' }, { target: 'loading' }],
      },
      on: { cancel: { target: 'idle', actions: assign({ retries: 0 }) } },
    },
    done: { type: 'final' },
    failed: { type: 'final' },
  },
});
