import type { AnyStateMachine } from 'xstate';
import { createAsyncLogic, createCallbackLogic, createMachine } from 'xstate6';
import type { World } from './durable-machines.ts';
import { atMostTimes, MOST, type Plan, type StatePlan } from './random-machines.ts';

interface Args {
  readonly context: { readonly n: number };
  readonly self: object;
  readonly parent: object;
}

interface Enqueue {
  (act: () => void): void;
  readonly emit: (event: object) => void;
  readonly raise: (event: object, options?: object) => void;
  readonly spawn: (logic: unknown) => void;
  readonly sendTo: (actor: object, event: object) => void;
}

/** The random machines in the form of XState 6. */
export function machineOfSix(plan: Plan, world: World, isChild = false): AnyStateMachine {
  // XState 6 refuses two running children with one id.
  const region = (states: readonly StatePlan[], kid = 'kid') => ({
    initial: 's0',
    states: Object.fromEntries(states.map((state, at) => [`s${at}`, configOf(state, world, isChild, kid)])),
  });
  const [first = []] = plan.regions;
  const shape = plan.isParallel
    ? { type: 'parallel', states: { left: region(first), right: region(plan.regions[1] ?? [], 'kid2') } }
    : region(first);
  return createMachine({ context: { n: 0 }, ...shape } as never) as unknown as AnyStateMachine;
}

function configOf(state: StatePlan, world: World, isChild: boolean, kid: string): object {
  const acts = (names: readonly string[], target?: string) => (args: Args, enqueue: Enqueue) => {
    let { n } = args.context;
    for (const name of names) n += act(name, { args, enqueue, world, isChild });
    return { ...(target !== undefined && { target }), context: { n } };
  };
  if (state.isFinal) return { type: 'final', entry: acts(state.entry) };
  const on = Object.fromEntries(
    Object.entries(state.on).map(([type, transitions]) => [
      type,
      transitions.map(({ target, atMost, actions }) => ({
        guard: atMostTimes(atMost ?? MOST),
        to: acts(['count', ...actions], `s${target}`),
      })),
    ]),
  );
  const { delay, invoke, always } = state;
  const next = (target: string) => ({ guard: atMostTimes(MOST), to: acts(['count'], target) });
  const again = (args: Args, enqueue: Enqueue) => ({ ...acts(['count'], 's0')(args, enqueue), reenter: true });
  return {
    on: { ...on, TICK: { to: acts(['count']) } },
    entry: acts(state.entry),
    ...(delay !== null && { after: { [delay]: { guard: atMostTimes(MOST), to: again } } }),
    ...(invoke !== null && {
      invoke: {
        id: kid,
        src: sourceOf(state, world),
        onDone: next('s0'),
        onError: next('s1'),
        input: ({ context }: Args) => context.n,
      },
    }),
    ...(always !== null && {
      always: { guard: ({ context }: Args) => context.n >= always.from, target: `s${always.target}` },
    }),
  };
}

function sourceOf({ invoke, child }: StatePlan, world: World): unknown {
  if (child !== null) return machineOfSix(child, world, true);
  if (invoke === 'ticks')
    return createCallbackLogic((({ sendBack, receive }: never) => {
      const send = sendBack as (event: object) => void;
      (receive as (listener: () => void) => void)(() => send({ type: 'TICK' }));
      send({ type: 'TICK' });
    }) as never);
  return createAsyncLogic({
    run: ({ self }) => {
      world.called(String(invoke), { self });
      if (invoke === 'hangs') return new Promise(() => {});
      return invoke === 'fails' ? Promise.reject(new Error('no')) : Promise.resolve({ at: new Date(1), n: [1, -0] });
    },
  });
}

interface Given {
  readonly args: Args;
  readonly enqueue: Enqueue;
  readonly world: World;
  readonly isChild: boolean;
}

/** Executes an action, and returns what it adds to the count. */
function act(name: string, { args, enqueue, world, isChild }: Given): number {
  const { self, parent } = args;
  switch (name) {
    case 'effect':
      enqueue(() => world.called('effect', { self }));
      return 0;
    case 'emit':
      enqueue.emit({ type: 'emitted' });
      return 0;
    case 'raise':
      enqueue.raise({ type: 'TICK' });
      return 0;
    case 'raiseLater':
      enqueue.raise({ type: 'R' }, { delay: 10 });
      return 0;
    case 'spawn':
      enqueue.spawn(
        createAsyncLogic({
          run: async ({ self: spawned }) => {
            world.called('spawned', { self: spawned });
            return Math.PI;
          },
        }),
      );
      return 0;
    case 'tell':
      if (!isChild) return 1;
      enqueue.sendTo(parent, { type: 'C' });
      return 0;
    default:
      return 1;
  }
}
