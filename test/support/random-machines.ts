import {
  type AnyEventObject,
  type AnyStateMachine,
  assign,
  createMachine,
  emit,
  fromCallback,
  fromPromise,
  raise,
  sendParent,
  spawnChild,
} from 'xstate';
import type { Scenario, Step, World } from './durable-machines.ts';
import type { Random } from './random.ts';

type Count = { readonly context: { readonly n: number } };

/** Returns a random machine of at most three levels, and events for it. Its end is not known. */
export function randomScenario(random: Random, build = machineOf): Omit<Scenario, 'ends'> {
  const plan = planOf(random, 2);
  const steps = Array.from({ length: random.int(3, 8) }, (): Step => {
    if (random.chance(0.4)) return random.pick([5, 10, 100, 1_000]);
    const event = { type: random.pick(['A', 'B', 'C']) };
    return random.chance(0.15) ? { child: 'kid', event } : event;
  });
  return { machine: (world) => build(plan, world), steps };
}

export interface Plan {
  readonly isParallel: boolean;
  readonly regions: readonly (readonly StatePlan[])[];
}

export interface StatePlan {
  readonly on: Readonly<
    Record<string, readonly { target: number; atMost: number | null; actions: readonly string[] }[]>
  >;
  readonly delay: number | null;
  readonly invoke: string | null;
  readonly child: Plan | null;
  readonly entry: readonly string[];
  readonly always: { readonly from: number; readonly target: number } | null;
  readonly isFinal: boolean;
}

const ACTIONS = ['count', 'effect', 'emit', 'raise', 'raiseLater', 'spawn', 'tell'] as const;

function planOf(random: Random, depth: number): Plan {
  const isParallel = random.chance(0.25);
  const regions = Array.from({ length: isParallel ? 2 : 1 }, () => {
    const count = random.int(2, 5);
    return Array.from({ length: count }, (_, at) => statePlan(random, at, count, depth));
  });
  return { isParallel, regions };
}

function statePlan(random: Random, at: number, count: number, depth: number): StatePlan {
  const actions = (): string[] => ACTIONS.filter(() => random.chance(0.15));
  const transition = () => ({
    target: random.int(0, count - 1),
    atMost: random.chance(0.4) ? random.int(0, 4) : null,
    actions: actions(),
  });
  const on = Object.fromEntries(
    ['A', 'B', 'C', 'R'].flatMap((type) =>
      random.chance(0.5) ? [[type, Array.from({ length: random.int(1, 2) }, transition)]] : [],
    ),
  );
  const isLast = at === count - 1;
  const invoke = random.chance(0.45) ? random.pick(['ok', 'fails', 'hangs', 'ticks', 'child']) : null;
  return {
    on,
    delay: random.chance(0.3) ? random.pick([0, 10, 100, 3_000_000_000]) : null,
    invoke: invoke === 'child' && depth === 0 ? 'ok' : invoke,
    child: invoke === 'child' && depth > 0 ? planOf(random, depth - 1) : null,
    entry: actions(),
    // Only to a later state, so that no loop is endless.
    always: !isLast && random.chance(0.2) ? { from: random.int(2, 5), target: random.int(at + 1, count - 1) } : null,
    isFinal: isLast && random.chance(0.4),
  };
}

function machineOf(plan: Plan, world: World, isChild = false): AnyStateMachine {
  const region = (states: readonly StatePlan[]) => ({
    initial: 's0',
    states: Object.fromEntries(states.map((state, at) => [`s${at}`, configOf(state, world, isChild)])),
  });
  const [first = []] = plan.regions;
  const shape = plan.isParallel
    ? { type: 'parallel', states: { left: region(first), right: region(plan.regions[1] ?? []) } }
    : region(first);
  return createMachine({ context: { n: 0 }, ...shape } as never);
}

function configOf(state: StatePlan, world: World, isChild: boolean): object {
  if (state.isFinal) return { type: 'final', entry: state.entry.map((name) => actionOf(name, world, isChild)) };
  const on = Object.fromEntries(
    Object.entries(state.on).map(([type, transitions]) => [
      type,
      transitions.map(({ target, atMost, actions }) => ({
        target: `s${target}`,
        guard: atMostTimes(atMost ?? MOST),
        actions: [actionOf('count', world, isChild), ...actions.map((name) => actionOf(name, world, isChild))],
      })),
    ]),
  );
  const { delay, invoke, always } = state;
  const next = { guard: atMostTimes(MOST), actions: actionOf('count', world, isChild) };
  return {
    on: { ...on, TICK: { actions: actionOf('count', world, isChild) } },
    entry: state.entry.map((name) => actionOf(name, world, isChild)),
    ...(delay !== null && { after: { [delay]: { ...next, target: 's0', reenter: true } } }),
    ...(invoke !== null && {
      invoke: {
        id: 'kid',
        src: sourceOf(state, world),
        onDone: { ...next, target: 's0' },
        onError: { ...next, target: 's1' },
        input: ({ context }: Count) => context.n,
      },
    }),
    ...(always !== null && {
      always: { guard: ({ context }: Count) => context.n >= always.from, target: `s${always.target}` },
    }),
  };
}

/** Every transition counts and stops at this count, so that no machine runs forever. */
export const MOST = 12;

export const atMostTimes =
  (times: number) =>
  ({ context }: Count): boolean =>
    context.n <= times;

function sourceOf({ invoke, child }: StatePlan, world: World): unknown {
  if (child !== null) return machineOf(child, world, true);
  if (invoke === 'ticks')
    return fromCallback<AnyEventObject>(({ sendBack, receive }) => {
      receive(() => sendBack({ type: 'TICK' }));
      sendBack({ type: 'TICK' });
    });
  return fromPromise(({ self }) => {
    world.called(String(invoke), { self });
    if (invoke === 'hangs') return new Promise(() => {});
    return invoke === 'fails' ? Promise.reject(new Error('no')) : Promise.resolve({ at: new Date(1), n: [1, -0] });
  });
}

function actionOf(name: string, world: World, isChild: boolean): unknown {
  switch (name) {
    case 'effect':
      return (args: { self: object }) => world.called('effect', args);
    case 'emit':
      return emit({ type: 'emitted' });
    case 'raise':
      return raise({ type: 'TICK' });
    case 'raiseLater':
      return raise({ type: 'R' }, { delay: 10 });
    case 'spawn':
      return spawnChild(
        fromPromise(async ({ self }) => {
          world.called('spawned', { self });
          return Math.PI;
        }) as never,
      );
    case 'tell':
      return isChild ? sendParent({ type: 'C' }) : assign({ n: ({ context }: Count) => context.n + 1 });
    default:
      return assign({ n: ({ context }: Count) => context.n + 1 });
  }
}
