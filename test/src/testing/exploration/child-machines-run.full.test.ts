import { describe, expect, it } from 'vitest';
import {
  type ActorLogic,
  type AnyActorRef,
  type AnyStateMachine,
  assign,
  createActor,
  createMachine,
  type EventObject,
  type InspectedEventEvent,
  raise,
  SimulatedClock,
  type Snapshot,
  sendParent,
  sendTo,
} from 'xstate';
import type { Exploration } from '../../../../src/testing/exploration/exploration.ts';
import { explore } from '../../../../src/testing/exploration/explore.ts';
import { done, fails, type Outcomes } from '../../../../src/testing/exploration/occurrences.ts';
import { inputOf } from '../../../../src/testing/structure/running-actors.ts';
import { parentOf } from '../../../../src/xstate/actors.ts';

import { createRandom, type Random, SEED } from '../../../support/random.ts';
import { isSoak } from '../../../support/soak.ts';

const PAIRS = isSoak ? 1_000 : 40;
const RUNS = 12;
const STEPS = 25;
const DELAY = 10;

/** An actor that ends when the test makes it end. */
const leaf: ActorLogic<Snapshot<unknown>, EventObject & { readonly value?: unknown }> = {
  getInitialSnapshot: () => ({ status: 'active', output: undefined, error: undefined }),
  getPersistedSnapshot: (snapshot) => snapshot,
  transition(snapshot, { type, value }) {
    if (type === 'done') return { status: 'done', output: value, error: undefined };
    return type === 'fail' ? { status: 'error', output: undefined, error: value } : snapshot;
  },
};
const OF_LEAF = [
  { type: 'done', value: 0 },
  { type: 'done', value: 1 },
  { type: 'fail', value: 'broken' },
] as const;

const MOST = 3;
/** Others have no payload. */
const two = (event: EventObject & { readonly output?: unknown }): boolean =>
  event.type.startsWith('xstate.done.') && event.output === 1;
const add = assign({ n: ({ context, event }) => Math.min(MOST, context['n'] + (two(event) ? 2 : 1)) });
const guard = ({ context }: { readonly context: { readonly n: number } }): boolean => context.n > 1;
const broken = assign((): object => {
  throw new Error('broken in an action');
});

/** A machine of a few states that starts actors, waits, sends its parent events, and ends with a number or an error. */
function randomMachine(random: Random, id: string, inner: AnyStateMachine | null, hasParent: boolean): AnyStateMachine {
  const names = ['a', 'b', 'c'];
  const sending = [
    sendParent(({ context }) => ({ type: 'told', n: context['n'] })),
    sendTo(({ context }) => context['parent'], { type: 'heard' }),
  ];
  // Nothing is sent or raised again and again without an end of an actor or a delay between: a running machine would never stop. A child
  // causes at most one event in a step: XState would deliver the second one even if the first one has stopped the child.
  const move = (mayRaise = true) => {
    const tells = hasParent && random.chance(0.4);
    return {
      target: random.pick(tells ? names : [...names, 'over']),
      ...(random.chance(0.2) && { guard }),
      actions: [
        ...(random.chance(0.7) ? [add] : []),
        ...(tells ? [random.pick(sending)] : []),
        ...(mayRaise && !hasParent && random.chance(0.2) ? [raise({ type: 'raised' })] : []),
        ...(random.chance(0.03) ? [broken] : []),
      ],
      reenter: random.chance(0.5),
    };
  };
  const invoked = () => ({
    src: inner !== null && random.chance(0.6) ? 'inner' : 'leaf',
    input: ({ context, self }: { context: { n: number }; self: AnyActorRef }) => ({ n: context.n, parent: self }),
    onDone: [move(), move()],
    ...(random.chance(0.7) && { onError: move() }),
  });
  const states = names.map((name) => [
    name,
    {
      ...(random.chance(0.8) && { invoke: invoked() }),
      ...(random.chance(0.4) && { after: { [DELAY]: move() } }),
      on: { raised: move(false), told: move(), heard: move() },
    },
  ]);
  const machine = createMachine({
    id,
    context: ({ input }: { readonly input: unknown }) => ({ n: 0, ...Object(input) }),
    initial: 'a',
    output: ({ context }: { readonly context: { readonly n: number } }) => context.n,
    states: { ...Object.fromEntries(states), over: { type: 'final' } },
  } as never);
  return machine.provide({ actors: { leaf, ...(inner !== null && { inner }) } } as never) as never;
}

const outcomes = [done(0, '0'), done(1, '1'), fails('broken')];
const given: Outcomes = { leaf: outcomes, 'inner.leaf': outcomes, 'inner.inner.leaf': outcomes };

/** What a parent receives from a child, without the ids of actors. */
function textOf(
  path: string,
  input: unknown,
  { type, output, error, ...event }: EventObject & Record<string, unknown>,
) {
  const n = Object(input).n;
  if (type.startsWith('xstate.done.')) return `${path}(${n}) done ${output}`;
  if (type.startsWith('xstate.error.')) return `${path}(${n}) fails ${error}`;
  return `${path}(${n}) sends ${JSON.stringify({ type, ...event })}`;
}

function explored({ edges, states, children }: Exploration, path = 'root'): readonly string[] {
  const own = edges.flatMap(({ from, occurrence: { actor, event } }) => {
    if (actor?.name !== 'inner') return [];
    const ref = states[from]?.snapshot.children[actor.id];
    return [textOf(`${path}.inner`, inputOf(ref), event as never)];
  });
  return [...new Set([...own, ...children.flatMap((one) => explored(one.exploration, `${path}.${one.name}`))])];
}

const pathOf = (ref: AnyActorRef): string => {
  const parent = parentOf(ref);
  return parent === undefined ? 'root' : `${pathOf(parent)}.${String(ref.src)}`;
};

function isRunning(ref: AnyActorRef): boolean {
  const parent = parentOf(ref);
  if (ref.getSnapshot().status !== 'active') return false;
  return parent === undefined || (parent.getSnapshot().children[ref.id] === ref && isRunning(parent));
}

/** Runs a machine with all its children, and returns what parents receive from them and how it ends. */
function run(machine: AnyStateMachine, random: Random) {
  const received: string[] = [];
  const leaves: AnyActorRef[] = [];
  const clock = new SimulatedClock();
  const actor = createActor(machine, {
    clock,
    inspect(event) {
      const ref = event.actorRef as AnyActorRef;
      if (event.type === '@xstate.actor' && String(ref.src) === 'leaf') leaves.push(ref);
      const { sourceRef, event: inner } = event as InspectedEventEvent;
      const source = sourceRef as AnyActorRef | undefined;
      if (event.type !== '@xstate.event' || source === undefined || parentOf(source) !== ref) return;
      if (String(source.src) === 'inner') received.push(textOf(pathOf(source), inputOf(source), inner as never));
    },
  });
  actor.subscribe({ error: () => {} });
  actor.start();
  for (let step = 0; step < STEPS && actor.getSnapshot().status === 'active'; step += 1) {
    const running = leaves.filter(isRunning);
    if (running.length === 0 || random.chance(0.3)) clock.increment(DELAY);
    else random.pick(running).send(random.pick(OF_LEAF));
  }
  const { status, value, output, error } = actor.getSnapshot() as never as Record<string, unknown>;
  actor.stop();
  return { received, end: `${status} ${JSON.stringify(value)} ${output} ${error}` };
}

describe(`a machine with child machines (seed ${SEED})`, () => {
  it(`does nothing in ${PAIRS * RUNS} runs that its exploration does not find`, () => {
    const random = createRandom(SEED);
    let fromChildren = 0;
    for (let pair = 0; pair < PAIRS; pair += 1) {
      const innermost = random.chance(0.4) ? randomMachine(random, 'innermost', null, true) : null;
      const child = randomMachine(random, 'child', innermost, true);
      const parent = randomMachine(random, 'parent', child, false);
      const used = innermost === null ? { leaf: given['leaf'], 'inner.leaf': given['inner.leaf'] } : given;
      const exploration = explore(parent, { outcomes: used as Outcomes, events: [] }) as Exploration;
      const found = explored(exploration);
      const ends = exploration.states.map(
        ({ snapshot: { status, value, output, error } }) => `${status} ${JSON.stringify(value)} ${output} ${error}`,
      );
      for (let turn = 0; turn < RUNS; turn += 1) {
        const { received, end } = run(parent, random);
        fromChildren += received.length;
        expect(found, `pair ${pair}`).toEqual(expect.arrayContaining(received));
        expect(ends, `pair ${pair}`).toContain(end);
      }
    }
    expect(fromChildren).toBeGreaterThan(PAIRS);
  });
});
