/** A pseudorandom generator whose state is one 32-bit number. */
export interface Random {
  state: number;
  /** The next number from 0 (inclusive) to 1 (exclusive). Mulberry32 by Tommy Ettinger. */
  next(): number;
}

export function createRandom(seed: number): Random {
  return {
    state: seed >>> 0,
    next() {
      this.state = (this.state + 0x6d2b79f5) >>> 0;
      let mixed = this.state;
      mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
      mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
    },
  };
}

const systemDate = Date;

/** The time and the random numbers of the step in progress. */
let now = 0;
let source = createRandom(0);

/** A proxy keeps the prototype: `instanceof Date` holds for dates made inside and outside a step. */
const stepDate = new Proxy(systemDate, {
  apply: () => new systemDate(now).toString(),
  construct: (target, args, newTarget) => Reflect.construct(target, args.length === 0 ? [now] : args, newTarget),
  get: (target, name) => (name === 'now' ? () => now : Reflect.get(target, name)),
});
const stepRandom = (): number => source.next();

/** A version 4 UUID (RFC 9562). */
const stepUuid: typeof crypto.randomUUID = () =>
  'xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx'.replace(/[xy]/g, (digit) => {
    const value = Math.floor(source.next() * 16);
    return (digit === 'x' ? value : (value & 3) | 8).toString(16);
  }) as ReturnType<typeof crypto.randomUUID>;

interface World {
  readonly Date: DateConstructor;
  readonly random: typeof Math.random;
  readonly randomUUID: typeof crypto.randomUUID;
}

/** The world outside the step in progress. */
let outside: World | null = null;

const worldNow = (): World => ({ Date, random: Math.random, randomUUID: crypto.randomUUID });

function enter(world: World): void {
  globalThis.Date = world.Date;
  Math.random = world.random;
  globalThis.crypto.randomUUID = world.randomUUID;
}

/** Executes `act`, which is not part of the step in progress, with the real time and random numbers. */
export function inRealWorld<Result>(act: () => Result): Result {
  if (outside === null) return act();
  const inside = worldNow();
  enter(outside);
  try {
    return act();
  } finally {
    enter(inside);
  }
}

/**
 * Executes `act`, which must be synchronous, so that a replay can repeat it: the time is `nowMs` throughout, and `Math.random` and
 * `crypto.randomUUID` take their numbers from `random`. Statecharts often read both in an `assign` or in their initial context. The idea
 * comes from Temporal's workflow sandbox.
 */
export function deterministically<Result>(nowMs: number, random: Random, act: () => Result): Result {
  const outer = { now, source, outside };
  const world = worldNow();
  now = nowMs;
  source = random;
  outside = world;
  enter({ Date: stepDate, random: stepRandom, randomUUID: stepUuid });
  try {
    return act();
  } finally {
    ({ now, source, outside } = outer);
    enter(world);
  }
}
