import { describe, expect, it } from 'vitest';
import { assign, createMachine, fromPromise } from 'xstate';
import type { Exploration, ExploredEdge } from '../../../../src/testing/exploration/exploration.ts';
import { explore } from '../../../../src/testing/exploration/explore.ts';
import { done, fails } from '../../../../src/testing/exploration/occurrences.ts';
import { alwaysEventually } from '../../../../src/testing/properties/always-eventually.ts';
import { describeFinding, findingsOf, type Property } from '../../../../src/testing/properties/properties.ts';
import { respond, until } from '../../../../src/testing/properties/until-and-respond.ts';
import { caughtError } from '../../../support/errors.ts';
import { createRandom, type Random, SEED } from '../../../support/random.ts';
import { sampleSize } from '../../../support/soak.ts';

const work = fromPromise(async () => 0);
const at =
  (...values: readonly string[]) =>
  ({ value }: { readonly value: unknown }): boolean =>
    values.includes(value as string);

const finding = (exploration: Exploration, property: Property): string =>
  findingsOf(exploration, [property]).map(describeFinding).join();

/** An order that is approved before it is paid, unless `skips`, and shipped or refunded afterward, unless `isLost`. */
function order({ skips = false, isLost = false }) {
  return createMachine({
    id: 'order',
    initial: 'open',
    states: {
      open: { on: { ASK: 'asking', ...(skips && { HURRY: 'paying' }) } },
      asking: { on: { APPROVE: 'approved', DENY: 'open' } },
      approved: { on: { PAY: 'paying' } },
      paying: {
        invoke: { src: work, onDone: 'paid', onError: 'approved' },
      },
      paid: { invoke: { src: work, onDone: 'shipped', onError: isLost ? 'lost' : 'refunded' } },
      lost: { on: { FIND: 'paid' } },
      shipped: { type: 'final' },
      refunded: { type: 'final' },
    },
  } as never);
}

const explored = (options: Parameters<typeof order>[0]): Exploration =>
  explore(order(options), { outcomes: { '*': [done(), fails()] } });

describe('until', () => {
  const property = until('nothing is paid', at('open', 'asking'), 'approved', at('approved'));

  it('holds if the first condition holds on every path before the second', () => {
    expect(finding(explored({}), property)).toBe('holds: nothing is paid until approved');
  });

  it('fails with the shortest path to a state in which neither holds', () => {
    expect(finding(explored({ skips: true }), property)).toBe(
      'FAILS: nothing is paid until approved: neither holds in "paying", after start → HURRY',
    );
    const never = until('open', at(), 'approved', at('approved'));
    expect(finding(explored({}), never)).toBe('FAILS: open until approved: neither holds in "open", after start');
  });

  it('does not require that the second condition ever holds', () => {
    const machine = createMachine({ initial: 'a', states: { a: { on: { GO: 'b' } }, b: { on: { BACK: 'a' } } } });
    expect(finding(explore(machine), until('early', at('a', 'b'), 'late', at()))).toBe('holds: early until late');
  });

  it('also judges snapshots that an abstraction has merged', () => {
    const machine = createMachine({
      id: 'm',
      context: { n: 0 },
      initial: 'a',
      states: { a: { on: { ADD: { actions: assign({ n: ({ context }) => context.n + 1 }) } } } },
    });
    const merged = explore(machine, { abstraction: () => null });
    const few = until('few', ({ context }) => context.n < 1, 'over', at());
    expect(finding(merged, few)).toBe('FAILS: few until over: neither holds in "a", after start → ADD');
  });
});

describe('respond', () => {
  const property = respond('paid', at('paid'), 'shipped or refunded', at('shipped', 'refunded'));

  it('holds if the second condition follows whenever the first one holds', () => {
    expect(finding(explored({}), property)).toBe('holds: paid leads to shipped or refunded');
    // The same does not hold of every state: an order may stay open.
    const always = alwaysEventually('over', at('shipped', 'refunded'));
    expect(finding(explored({}), always)).toMatch(/^FAILS: .*stays forever in "open"/u);
  });

  it('fails with the shortest path through a state in which the first one holds', () => {
    expect(finding(explored({ isLost: true }), property)).toMatch(
      /^FAILS: paid leads to shipped or refunded: it stays forever in "lost", after start → ASK → APPROVE → PAY → \S+ done → \S+ error$/u,
    );
    const machine = createMachine({
      initial: 'a',
      states: {
        a: { on: { STOP: 'end', ASK: 'asked' } },
        asked: { on: { NEXT: 'b' } },
        b: { on: { STOP: 'end' } },
        end: {},
      },
    });
    const asked = respond('asked', at('asked'), 'answered', at('answered'));
    expect(finding(explore(machine), asked)).toMatch(/: it stays forever in "asked", after start → ASK$/u);
    const timed = createMachine({
      initial: 'a',
      states: {
        a: { on: { STOP: 'end', ASK: 'asked' } },
        asked: { after: { 10: 'b' } },
        b: { after: { 10: 'end' } },
        end: {},
      },
    });
    // The shortest path to the state does not ask.
    expect(finding(explore(timed), asked)).toMatch(
      /: it stays forever in "end", after start → ASK → after 10 ms → after 10 ms$/u,
    );
  });

  it('fails if actors and delays can lead through a cycle, except through finitely many events', () => {
    const machine = createMachine({
      initial: 'idle',
      states: {
        idle: { on: { ASK: 'asked' } },
        asked: { invoke: { src: work, onDone: 'answered', onError: 'retrying' } },
        retrying: { after: { 10: 'asked' } },
        answered: { on: { AGAIN: 'asked' } },
      },
    } as never);
    const exploration = explore(machine, { outcomes: { '*': [done(), fails()] } });
    expect(finding(exploration, respond('asked', at('asked'), 'answered', at('answered')))).toMatch(
      /: it can cycle from "asked" by \S+ error → after 10 ms, after start → ASK → \S+ error → after 10 ms$/u,
    );
    const finitely = ({ type }: { readonly type: string }): boolean => type.startsWith('xstate.error.');
    const property = respond('asked', at('asked'), 'answered', at('answered'), { finitely });
    expect(finding(exploration, property)).toBe('holds: asked leads to answered');
    expect(caughtError(() => respond('a', at(), 'b', at(), { finitly: finitely } as never))).toMatchObject({
      code: 'invalid_option',
    });
  });
});

/** A random machine of up to six states. Their names are their numbers. */
function randomMachine(random: Random) {
  const count = random.int(2, 6);
  const target = () => `s${random.int(0, count - 1)}`;
  const maybe = (chance: number, part: () => object): object => (random.chance(chance) ? part() : {});
  const state = (): object => ({
    on: { ...maybe(0.5, () => ({ A: target() })), ...maybe(0.3, () => ({ B: target() })) },
    ...maybe(0.4, () => ({ after: { 10: target() } })),
    ...maybe(0.4, () => ({ invoke: { src: work, onDone: target(), onError: target() } })),
  });
  const states = Object.fromEntries(Array.from({ length: count }, (_, nth) => [`s${nth}`, state()]));
  return createMachine({ initial: 's0', states } as never);
}

const isSpontaneous = ({ taken, occurrence }: ExploredEdge): boolean => taken.length > 0 && occurrence.kind !== 'sent';

type Predicate = (state: number) => boolean;

/** Follows all walks of a machine at once, step by step. Returns the number of steps after which one breaks `until`; null if none does. */
function bruteUntil({ starts, states, edgesFrom }: Exploration, holds: Predicate, ends: Predicate): number | null {
  let front = new Set(starts.map(({ state }) => state));
  for (let steps = 0; steps <= states.length; steps += 1) {
    const open = [...front].filter((state) => !ends(state));
    if (open.some((state) => !holds(state))) return steps;
    front = new Set(open.flatMap((state) => (edgesFrom[state] ?? []).map(({ to }) => to)));
  }
  return null;
}

/** Returns the fewest steps in which a state can be reached again without a response and without what is sent. */
function bruteCycle({ states, edgesFrom }: Exploration, state: number, responds: Predicate): number {
  let reached = new Set([state]);
  for (let steps = 1; steps <= states.length; steps += 1) {
    const edges = [...reached].flatMap((from) => (edgesFrom[from] ?? []).filter(isSpontaneous));
    reached = new Set(edges.map(({ to }) => to).filter((to) => !responds(to)));
    if (reached.has(state)) return steps;
  }
  return Number.POSITIVE_INFINITY;
}

/** Returns the fewest steps to a state that waits for a response forever, and to the end of a cycle without one. */
function bruteRespond(exploration: Exploration, asks: Predicate, responds: Predicate) {
  const { starts, states, edgesFrom } = exploration;
  const cycles = states.map(({ id }) => bruteCycle(exploration, id, responds));
  const shortest = { stuck: Number.POSITIVE_INFINITY, cycle: Number.POSITIVE_INFINITY };
  let front = new Map(starts.map(({ state }) => [`${state} ${asks(state)}`, { state, isOwed: asks(state) }]));
  for (let steps = 0; steps <= 2 * states.length; steps += 1) {
    const places = [...front.values()].map((one) => ({ ...one, isOwed: one.isOwed && !responds(one.state) }));
    for (const { state } of places.filter(({ isOwed }) => isOwed)) {
      if (!edgesFrom[state]?.some(isSpontaneous)) shortest.stuck = Math.min(shortest.stuck, steps);
      shortest.cycle = Math.min(shortest.cycle, steps + (cycles[state] ?? Number.NaN));
    }
    const next = places.flatMap(({ state, isOwed }) =>
      (edgesFrom[state] ?? []).map(({ to }) => ({ state: to, isOwed: isOwed || asks(to) })),
    );
    front = new Map(next.map((one) => [`${one.state} ${one.isOwed}`, one]));
  }
  return shortest;
}

describe('until and respond on random machines', () => {
  const random = createRandom(SEED);
  const cases = Array.from({ length: sampleSize('random machines', 400, 20_000) }, () => {
    const exploration = explore(randomMachine(random), { outcomes: { '*': [done(), fails()] } });
    // Conditions read snapshots, and several states may have the same one.
    const values = [...new Set(exploration.states.map(({ value }) => String(value)))];
    const subset = (chance: number) => values.filter(() => random.chance(chance));
    const [first, second] = [subset(random.pick([0.3, 0.8])), subset(0.3)];
    return { exploration, first, second };
  });

  it('find a counterexample if and only if a search of all walks finds one, and the shortest one', () => {
    const found = { until: 0, stuck: 0, cycle: 0, holds: 0 };
    for (const { exploration, first, second } of cases) {
      const has =
        (values: readonly string[]): Predicate =>
        (id) =>
          at(...values)(exploration.states[id] ?? { value: null });
      const broken = until('p', at(...first), 'q', at(...second)).check(exploration);
      expect(broken?.path?.edges.length ?? null).toBe(bruteUntil(exploration, has(first), has(second)));
      if (broken !== null) found.until += 1;
      const unanswered = respond('p', at(...first), 'q', at(...second)).check(exploration);
      const { stuck, cycle } = bruteRespond(exploration, has(first), has(second));
      const expected = Number.isFinite(stuck) ? stuck : Number.isFinite(cycle) ? cycle : null;
      expect(unanswered?.path?.edges.length ?? null).toBe(expected);
      found[Number.isFinite(stuck) ? 'stuck' : Number.isFinite(cycle) ? 'cycle' : 'holds'] += 1;
    }
    for (const count of Object.values(found)) expect(count).toBeGreaterThan(cases.length / 40);
  });

  it('show counterexamples that are paths of the machine, on which the conditions are as claimed', () => {
    for (const { exploration, first, second } of cases) {
      const is = (id: number, values: readonly string[]) => values.includes(String(exploration.states[id]?.value));
      const { path } = respond('p', at(...first), 'q', at(...second)).check(exploration) ?? {};
      if (path == null) continue;
      const states = [path.start.state, ...path.edges.map(({ to }) => to)];
      expect(path.edges.map(({ from }) => from)).toEqual(states.slice(0, -1));
      const isUnanswered = states.some(
        (state, nth) => is(state, first) && !states.slice(nth).some((one) => is(one, second)),
      );
      expect(isUnanswered).toBe(true);
    }
  });
});
