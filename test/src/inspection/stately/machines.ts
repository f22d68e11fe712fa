import { assign, createMachine, fromPromise, raise, sendTo, setup } from 'xstate';

/** Machines that have what machines can have. */
export const playerMachine = createMachine({
  id: 'player',
  type: 'parallel',
  description: 'Two regions, history and a final state.',
  states: {
    disc: {
      initial: 'stopped',
      on: { EJECT: '.stopped', 'button.*': { target: '#deep', guard: 'isOpen' } },
      states: {
        stopped: { on: { PLAY: 'playing', LOAD: [{ guard: 'isGood', target: 'playing.fast' }, 'broken'] } },
        playing: {
          initial: 'slow',
          states: { slow: { after: { 1000: 'fast', FADE: { target: '#deep' } } }, fast: { id: 'deep' } },
          on: { PAUSE: '#player.disc.paused', STOP: { target: 'stopped', reenter: true } },
        },
        paused: { on: { PLAY: 'playing.fast', '*': { actions: 'beep' } } },
        'odd.key': { on: { BACK: 'odd\\.key' } },
        broken: { type: 'final' },
      },
      onDone: { actions: raise({ type: 'GONE' }) },
    },
    sound: {
      initial: 'loud',
      states: {
        loud: {
          always: [{ guard: 'isNight', target: 'off' }],
          on: { MUTE: { target: 'off', actions: ['log', 'beep'] } },
        },
        off: { on: { MUTE: ['loud'] } },
        last: { type: 'history', history: 'deep' },
      },
    },
  },
});

export const callerMachine = setup({
  types: { context: {} as { tries: number }, events: {} as { type: 'GO' } },
  actors: { fetch: fromPromise(async () => 1), below: createMachine({ id: 'below', initial: 'a', states: { a: {} } }) },
  guards: { isFew: (_, params: { most: string }) => params.most === 'x', any: () => true },
  actions: { note: () => {} },
}).createMachine({
  id: 'caller',
  context: { tries: 0 },
  initial: 'idle',
  states: {
    idle: {
      on: { GO: [{ guard: { type: 'isFew', params: { most: 'two' } }, target: 'calling' }, { target: 'failed' }] },
    },
    calling: {
      invoke: [
        {
          src: 'fetch',
          onDone: [{ guard: 'any', target: 'done', actions: assign({ tries: 2 }) }, { target: 'failed' }],
          onError: { target: 'failed', actions: 'note' },
        },
        { src: 'below', id: 'child', onSnapshot: { actions: { type: 'note' } } },
        { src: fromPromise(async () => 2), input: () => 1 },
      ],
      always: { guard: ({ context }) => context.tries > 3, target: 'failed' },
    },
    failed: { entry: sendTo('child', { type: 'x' }) },
    done: { type: 'final' },
  },
});

export const flatMachine = createMachine({ on: { PING: { actions: () => {} } } });
