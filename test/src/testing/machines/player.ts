import { assign, fromCallback, setup } from 'xstate';

/** The pattern of parallel regions that listen to each other: what plays, how loud it is, and a callback that tells of the time. */
export const player = setup({
  types: {
    context: {} as { volume: number },
    events: {} as
      | { type: 'play' }
      | { type: 'pause' }
      | { type: 'louder' }
      | { type: 'softer' }
      | { type: 'mute' }
      | { type: 'ended' },
  },
  actors: { tick: fromCallback(() => {}) },
  guards: {
    isLoudest: ({ context }) => context.volume >= 2,
    isSilent: ({ context }) => context.volume <= 0,
  },
}).createMachine({
  id: 'player',
  context: { volume: 1 },
  type: 'parallel',
  states: {
    picture: {
      initial: 'paused',
      states: {
        paused: { on: { play: 'playing' } },
        playing: {
          invoke: { src: 'tick', onError: 'paused' },
          initial: 'fresh',
          on: { pause: 'paused', ended: 'over' },
          states: { fresh: { after: { 3000: 'bare' } }, bare: {} },
        },
        over: { on: { play: 'playing' } },
      },
    },
    sound: {
      initial: 'on',
      states: {
        on: {
          always: { guard: 'isSilent', target: 'off' },
          on: {
            mute: 'off',
            louder: [
              { guard: 'isLoudest', actions: [] },
              { actions: assign({ volume: ({ context }) => context.volume + 1 }) },
            ],
            softer: { actions: assign({ volume: ({ context }) => context.volume - 1 }) },
          },
        },
        off: { on: { mute: { target: 'on', actions: assign({ volume: 1 }) } } },
      },
    },
  },
});
