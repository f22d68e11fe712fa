import { describe, expect, it } from 'vitest';
import {
  type AnyActorLogic,
  type AnyActorRef,
  type AnyStateMachine,
  assign,
  createMachine,
  type EventObject,
  enqueueActions,
  fromPromise,
  raise,
  sendParent,
  sendTo,
  setup,
} from 'xstate';
import * as z from 'zod';
import { exploreModule, lintProperties } from '../../../../src/cli/explore-module.ts';
import { generate } from '../../../../src/entries/agents.ts';
import { scriptedModel } from '../../../../src/models/scripted.ts';
import { type ExploreOptions, explore } from '../../../../src/testing/exploration/explore.ts';
import { done, fails, type Outcomes } from '../../../../src/testing/exploration/occurrences.ts';
import { cover } from '../../../../src/testing/exploration/paths.ts';
import { runPath } from '../../../../src/testing/exploration/run-path.ts';
import { startWalk } from '../../../../src/testing/exploration/walk.ts';
import { alwaysEventually } from '../../../../src/testing/properties/always-eventually.ts';
import { canAlwaysEnd } from '../../../../src/testing/properties/ends.ts';
import { describeFinding, findingsOf, noDeadEnd } from '../../../../src/testing/properties/properties.ts';
import { caughtError } from '../../../support/errors.ts';

const SHARED = { n: 1 };

type Options = ExploreOptions<AnyStateMachine>;

/** A machine that starts a worker with an input, and keeps what it receives from it. */
const bossOf = (worker: AnyActorLogic, working: object = {}): AnyStateMachine =>
  createMachine({
    id: 'boss',
    context: { result: null as unknown },
    initial: 'working',
    states: {
      working: {
        invoke: {
          src: 'worker',
          id: 'worker',
          input: { n: 1 },
          onDone: { target: 'finished', actions: assign({ result: ({ event }) => event.output }) },
          onError: { target: 'failed', actions: assign({ result: ({ event }) => event.error }) },
        },
        ...working,
      },
      finished: { type: 'final' },
      failed: { type: 'final' },
    },
  }).provide({ actors: { worker } } as never) as never;

const ofWorker = (machine: AnyStateMachine, options: Options = {}): readonly string[] => {
  const exploration = explore(machine, options);
  for (const path of cover(exploration as never, { each: 'edge' })) runPath(exploration as never, path);
  const walk = startWalk(machine, options);
  for (let choice = 0; choice < 9; choice += 1) walk.step(choice);
  walk.stop();
  const names = exploration.edges.map(({ occurrence }) => occurrence.name);
  return [...new Set(names)].filter((name) => name.startsWith('worker: '));
};

const call = fromPromise(async () => 0);

/** Calls once, and ends with the result plus its input. */
const adding = setup({ actors: { call } }).createMachine({
  id: 'adding',
  context: ({ input }) => ({ n: Object(input).n as number, sum: 0 }),
  output: ({ context }) => context['sum'],
  initial: 'calling',
  states: {
    calling: {
      invoke: {
        src: 'call',
        onDone: { target: 'over', actions: assign({ sum: ({ context, event }) => context['n'] + event.output }) },
      },
    },
    over: { type: 'final' },
  },
});
const ofCall: Outcomes = { 'worker.call': [done(1), done(2), fails('broken')] };

describe('the outcomes of a child machine', () => {
  it('are the outputs and errors with which its exploration ends, for its input', () => {
    expect(ofWorker(bossOf(adding), { outcomes: ofCall })).toEqual([
      'worker: done 2',
      'worker: done 3',
      'worker: error "broken"',
    ]);
  });

  it('need no list if its actors declare their own, even if two errors differ only in a member', () => {
    const ask = generate({ model: scriptedModel({}), schema: z.object({ good: z.boolean() }) });
    const worker = setup({ actors: { ask } }).createMachine({
      id: 'asking',
      invoke: {
        src: 'ask',
        input: 'Good?',
        onDone: [{ guard: ({ event }) => event.output.good, target: '.good' }, '.bad'],
      },
      initial: 'waiting',
      states: { waiting: {}, good: { type: 'final' }, bad: { type: 'final' } },
    });
    expect(ofWorker(bossOf(worker as never))).toEqual([
      'worker: done',
      'worker: error {"name":"AttemptsExhausted","code":"attempts_exhausted"}',
      'worker: error {"name":"PostChainError","code":"budget_exhausted"}',
    ]);
  });

  it('are those in `outcomes`, if there are any', () => {
    expect(ofWorker(bossOf(adding), { outcomes: { worker: [done(7)] } })).toEqual(['worker: done']);
    expect(ofWorker(bossOf(adding), { outcomes: { '*': [] } })).toEqual([]);
  });

  it('contain the events that it sends to its parent, by either reference', () => {
    const worker = createMachine({
      id: 'telling',
      context: ({ input }) => ({ boss: Object(input).boss as AnyActorRef }),
      entry: [
        sendParent({ type: 'began' }),
        sendTo(({ context }) => context['boss'], { type: 'percent', percent: 50 } as EventObject),
      ],
      after: { 100: { actions: sendParent({ type: 'late' }) } },
    });
    const invoke = { src: 'worker', id: 'worker', input: ({ self }: { self: unknown }) => ({ boss: self }) };
    const percent = { actions: assign({ result: ({ event }: { event: { percent: number } }) => event.percent }) };
    const boss = bossOf(worker as never, { invoke, on: { began: {}, late: {}, percent } });
    expect(ofWorker(boss)).toEqual(['worker: began', 'worker: percent {"percent":50}', 'worker: late']);
    expect(explore(boss).edges.every(({ occurrence }) => occurrence.kind !== 'sent')).toBe(true);
  });

  it('are found once for each input, including those of nested children', () => {
    let created = 0;
    const inner = createMachine({
      id: 'inner',
      context: ({ input }) => {
        created += 1;
        return { n: Object(input).n as number };
      },
      output: ({ context }) => context['n'],
      initial: 'waiting',
      states: { waiting: { after: { 9: 'over' } }, over: { type: 'final' } },
    });
    const middle = setup({ actors: { worker: inner } }).createMachine({
      context: ({ input }) => ({ n: Object(input).n as number }),
      output: ({ context }) => context['n'],
      initial: 'working',
      states: {
        working: {
          invoke: {
            src: 'worker',
            input: { n: 5 },
            onDone: { target: 'over', actions: assign({ n: ({ event, context }) => event.output + context['n'] }) },
          },
        },
        over: { type: 'final' },
      },
    });
    const boss = bossOf(middle as never, { on: { AGAIN: { target: 'working', reenter: true } } });
    const exploration = explore(boss);
    expect(exploration.edges.map(({ occurrence }) => occurrence.name)).toContain('worker: done 6');
    expect(created).toBe(1);
    expect(exploration.children.map(({ name }) => name)).toEqual(['worker']);
  });

  it('are incomplete if "depth" cuts its exploration off, and so is the exploration of its parent', () => {
    const counting = createMachine({
      context: { n: 0 },
      on: { more: { actions: assign({ n: ({ context }) => context['n'] + 1 }) } },
    });
    const options = { events: [], depth: 3 };
    expect(explore(bossOf(counting as never), options).isComplete).toBe(false);
    expect(exploreModule({ machine: bossOf(counting as never), properties: [], ...options } as never).assumed).toEqual([
      'that the outcomes of worker are complete, although "depth" cut off their exploration',
    ]);
  });
});

describe('the outcomes of a child machine have to be given', () => {
  const messageOf = (worker: unknown, working: object = {}, options: Options = {}) =>
    caughtError(() => explore(bossOf(worker as never, working), options))?.message;
  const missing = (problem: string): string =>
    `"outcomes.worker" is missing (boss.working invokes this actor; its own exploration does not find them: ${problem}); pass for example { 'worker': [done(output), fails(error)] }, or [] if the actor never ends`;
  const stoppable = createMachine({
    id: 'w',
    initial: 'a',
    states: { a: { on: { stop: 'b' } }, b: { type: 'final' } },
  });

  it.each<[string, unknown, object, string]>([
    [
      'its parent sends it an event that it takes',
      stoppable,
      { on: { STOP: { actions: sendTo('worker', { type: 'stop' }) } } },
      'it is sent "stop" in "working" on "STOP"',
    ],
    [
      'its parent receives its snapshots',
      stoppable,
      { invoke: { src: 'worker', id: 'worker', onSnapshot: {} } },
      '"onSnapshot" receives its snapshots',
    ],
    [
      'it reads the snapshot of its parent',
      createMachine({
        id: 'w',
        entry: [assign(({ context, self }) => ({ ...context, at: self._parent?.getSnapshot() }))],
      }),
      {},
      'w reads the snapshot of its parent at the start, which an exploration does not follow; pass a stand-in for the actor in "actors"',
    ],
    [
      'it reads an actor that others have started',
      createMachine({ id: 'w', entry: enqueueActions(({ system }) => system.get('log')?.send({ type: 'hello' })) }),
      {},
      'w reads the actor "log" of its system at the start, which an exploration does not follow; pass a stand-in for the actor in "actors"',
    ],
    [
      'it sends its parent a reference to itself',
      createMachine({ id: 'w', entry: sendParent(({ self }) => ({ type: 'hello', from: self })) }),
      {},
      'the event "hello" contains an actor, which is not followed',
    ],
    [
      'it has too many states',
      createMachine({
        id: 'w',
        context: { n: 0 },
        on: { more: { actions: assign({ n: ({ context }) => context['n'] + 1 }) } },
      }),
      {},
      'w has more than 50 states; 50 of them are {}, in which context.n has 50 values. Pass an "abstraction" that leaves out what decides nothing, or raise "limit"',
    ],
  ])('if %s', (_, worker, working, problem) => {
    expect(messageOf(worker, working, { limit: 50 })).toBe(missing(problem));
  });

  it.each<[string, unknown, object, string]>([
    [
      'its parent looks for one of its actors by a system id',
      createMachine({ invoke: { src: stoppable, systemId: 'inner' } }),
      { on: { STOP: { actions: sendTo(({ system }) => system.get('inner') as AnyActorRef, { type: 'stop' }) } } },
      'an ancestor finds its actor "inner" by system id',
    ],
    [
      'it sends an event to the parent of its parent',
      createMachine({ id: 'w', entry: sendTo(({ self }) => self._parent?._parent as AnyActorRef, { type: 'hello' }) }),
      {},
      'w reads the parent of its parent at the start, which an exploration does not follow; pass a stand-in for the actor in "actors"',
    ],
    [
      'an object occurs twice in its input',
      stoppable,
      { invoke: { src: 'worker', id: 'worker', input: { one: SHARED, other: SHARED } } },
      'input.other is input.one: it would get two copies of this object',
    ],
    [
      'it ends with an error that cannot be compared',
      createMachine({
        after: {
          10: {
            actions: assign((): object => {
              throw Object.assign(new Error('Request failed'), { status: 404, retry: () => {} });
            }),
          },
        },
      }),
      {},
      'Left out: its error.retry: expected JSON, or a value of a codec; received a function (retry). Add a codec.',
    ],
  ])('if %s', (_, worker, working, problem) => {
    expect(messageOf(worker, working)).toBe(missing(problem));
  });

  it('if two spawned machines have one name', () => {
    const ending = (output: string) =>
      createMachine({ id: 'kid', output, initial: 'a', states: { a: { after: { 10: 'b' } }, b: { type: 'final' } } });
    const [one, other] = [ending('one'), ending('other')];
    const spawning = (logic: typeof one) => ({
      target: 'running',
      actions: assign({ ref: ({ spawn }) => spawn(logic, { id: 'kid' }) }),
    });
    const boss = createMachine({
      id: 'boss',
      context: { ref: null as unknown },
      initial: 'idle',
      states: {
        idle: { on: { ONE: spawning(one), OTHER: spawning(other) } as never },
        running: { on: { 'xstate.done.actor.kid': 'ended' } },
        ended: {},
      },
    });
    expect(caughtError(() => explore(boss))?.message).toContain(
      '"outcomes.kid" is missing (boss spawns this actor; its own exploration does not find them: actors with different logic have this name)',
    );
    expect(explore(boss, { outcomes: { kid: [done('one'), done('other')] } }).isComplete).toBe(true);
  });

  it('if it starts itself with the same input, or ever deeper', () => {
    const nested = (input: object): AnyStateMachine => {
      const actors: Record<string, AnyActorLogic> = {};
      const machine = createMachine(
        {
          id: 'nested',
          context: ({ input: given }: { readonly input: unknown }) => ({ n: Object(given).n as number }),
          invoke: { src: 'worker', input },
        } as never,
        { actors } as never,
      );
      Object.assign((machine as AnyStateMachine).implementations.actors, { worker: machine });
      return machine as never;
    };
    expect(messageOf(nested({ n: 1 }))).toMatch(
      /^"outcomes\.worker\.worker" is missing \(nested invokes this actor; its own exploration does not find them: nested starts itself again with the same input\)/u,
    );
    const deeper = ({ context }: { context: { n: number } }) => ({ n: context.n + 1 });
    expect(messageOf(nested(deeper))).toMatch(/it is nested in 10 other machines\)/u);
    expect(messageOf(nested({ n: 1 }), {}, { outcomes: { 'worker.worker': [] } })).toBeUndefined();
  });

  it('if it starts itself several times with a growing input, which is not explored without end', () => {
    let started = 0;
    const ids = ['a', 'b', 'c', 'd'];
    const machine = setup({ actors: { kid: createMachine({}) as AnyStateMachine } }).createMachine({
      id: 'growing',
      context: ({ input }) => {
        started += 1;
        return { text: String(input ?? '') };
      },
      invoke: ids.map((id) => ({
        src: 'kid',
        id,
        input: ({ context }: { context: { text: string } }) => `${context.text}${id}`,
      })) as never,
    });
    Object.assign(machine.implementations.actors, { kid: machine });
    expect(caughtError(() => explore(machine))?.message).toContain('it is nested in 10 other machines');
    expect(started).toBe(11);
    const [assumed] = exploreModule({ machine, properties: [], limit: 100 } as never).assumed;
    expect(assumed).toContain('all child machines together have too many states; raise "limit"');
    expect(started).toBeLessThan(150);
  });

  it('if those of one of its own actors are missing, and the error names child and actor', () => {
    expect(messageOf(adding)).toBe(
      '"outcomes.worker.call" is missing (adding.calling invokes this actor); pass for example { \'worker.call\': [done(output), fails(error)] }, or [] if the actor never ends',
    );
    expect(messageOf(adding, {}, { outcomes: { 'worker.cal': [] } })).toContain('the chart names no actor "cal"');
  });

  it('except for lint, which assumes some and reports why', () => {
    const boss = bossOf(stoppable as never, { on: { STOP: { actions: sendTo('worker', { type: 'stop' }) } } });
    const assumedOf = (machine: AnyStateMachine) => exploreModule({ machine, properties: [] } as never).assumed;
    expect(assumedOf(boss)).toEqual([
      'done(undefined) and fails() as the outcomes of worker (it is sent "stop" in "working" on "STOP"); list the real ones in "outcomes"',
    ]);
    expect(assumedOf(bossOf(adding))).toEqual([
      'done(undefined) and fails() as the outcomes of worker.call; list the real ones in "outcomes"',
    ]);
  });
});

describe('a child machine that may never end', () => {
  const ended = alwaysEventually('ended', ({ status }) => status === 'done');
  const findings = (machine: AnyStateMachine, properties = [noDeadEnd, ended]) =>
    findingsOf(explore(machine) as never, properties).map(describeFinding);
  const stuck = createMachine({
    initial: 'a',
    states: { a: { after: { 5: 'over', 9: 'waiting' } }, waiting: {}, over: { type: 'final' } },
  }) as never as AnyStateMachine;

  it('fails the properties of its parent, unless a delay ends the wait', () => {
    const deadEnd = 'FAILS: no dead end: in worker: no event takes a transition in "waiting", after start → after 9 ms';
    expect(findings(bossOf(stuck))).toEqual([
      deadEnd,
      'FAILS: always eventually ended: it stays forever in "working", because of worker: it stays forever in "waiting", after start → after 9 ms, after start',
    ]);
    expect(findings(bossOf(stuck, { after: { 1000: 'failed' } }))).toEqual([deadEnd, 'holds: always eventually ended']);
    const names = lintProperties({ properties: [] }).map(({ name }) => name);
    expect(names).toContain(noDeadEnd.name);
  });

  it('keeps its parent from an end, unless other events lead there', () => {
    expect(findings(bossOf(stuck), [canAlwaysEnd])).toEqual([
      'FAILS: can always end: no events lead from "working" to the end, because of worker: no events lead from "waiting" to the end, after start → after 9 ms, after start',
    ]);
    expect(findings(bossOf(stuck, { on: { stop: 'failed' } }), [canAlwaysEnd])).toEqual(['holds: can always end']);
  });

  it('does not fail them if its own events end it', () => {
    const raising = createMachine({
      entry: raise({ type: 'next' }, { delay: 5 }),
      initial: 'a',
      states: { a: { on: { next: 'over' } }, over: { type: 'final' } },
    });
    expect(findings(bossOf(raising as never))).toEqual(['holds: no dead end', 'holds: always eventually ended']);
  });
});
