import { describe, expect, it } from 'vitest';
import { type AnyActorRef, assign, createActor, fromPromise, setup, waitFor } from 'xstate';
import {
  addNote,
  approval,
  createDurableMachine,
  defineGuard,
  idempotencyKey,
  memoryJournals,
  recordOnce,
  wasInterrupted,
} from '../../../../src/entries/durable.ts';
import { cover, done, explore, fails, runPath, startWalk } from '../../../../src/entries/testing.ts';

/** A machine with all functions that the page on durable machines recommends inside machines. */
function setUp({ mails = [] as string[], withKey = true } = {}) {
  const pay = fromPromise(async ({ self }) => {
    addNote({ self }, { paying: true });
    return wasInterrupted({ self }) ? 'again' : withKey ? idempotencyKey({ self }) : 'once';
  });
  return setup({
    types: { context: {} as { limit: unknown; paid: string } },
    actors: { approval, pay },
    guards: {
      isAffordable: defineGuard(({ context }) => ({ holds: context.limit === 5, inputs: { limit: context.limit } })),
    },
    actions: {
      mail: (args) => void mails.push(withKey ? `${idempotencyKey(args)}, ${idempotencyKey(args)}` : 'mail'),
    },
  }).createMachine({
    id: 'order',
    context: { limit: 0, paid: '' },
    initial: 'limiting',
    states: {
      limiting: { on: { go: { target: 'checking', actions: assign({ limit: () => recordOnce('limit', () => 5) }) } } },
      checking: { entry: 'mail', always: [{ guard: 'isAffordable', target: 'asking' }, { target: 'ended' }] },
      asking: {
        invoke: { id: 'asked', src: 'approval', input: { question: 'Pay?' }, onDone: 'paying', onError: 'ended' },
      },
      paying: {
        invoke: {
          src: 'pay',
          onDone: { target: 'ended', actions: assign({ paid: ({ event }) => String(event.output) }) },
          onError: 'ended',
        },
      },
      ended: { entry: 'mail', type: 'final' },
    },
  });
}

const OUTCOMES = { approval: [done({ decision: 'approve' }), fails()], pay: [done('paid'), fails()] };

describe('the functions for machines of postchain/durable', () => {
  it('work in explore, runPath and startWalk, with the same keys in each run', () => {
    const mails: string[] = [];
    const machine = setUp({ mails });
    const exploration = explore(machine, { outcomes: OUTCOMES });
    const paths = cover(exploration);
    const keysOf = () => {
      mails.length = 0;
      for (const path of paths) runPath(exploration, path);
      return [...mails];
    };
    const keys = keysOf();
    expect(keys).toEqual(paths.flatMap(() => ['test:effect:0, test:effect:0', 'test:effect:1, test:effect:1']));
    expect(keysOf()).toEqual(keys);
    mails.length = 0;
    const walk = startWalk(machine, { outcomes: OUTCOMES });
    for (let step = 0; step < 3; step += 1) walk.step(0);
    expect([walk.snapshot.value, mails.length]).toEqual(['ended', 2]);
    walk.stop();
  });

  it('work in the machine that replaces a child, and in its actions', () => {
    const keys: string[] = [];
    const child = setup({ actions: { mail: (args) => void keys.push(idempotencyKey(args)) } }).createMachine({
      entry: 'mail',
    });
    const parent = setup({ actors: { child } }).createMachine({ invoke: { id: 'child', src: 'child' } });
    startWalk(parent, { actors: { child }, outcomes: { child: [done()] } }).stop();
    expect(keys).toEqual(['test:effect:0']);
  });

  it('work in an actor of XState, except for keys, which only a durable actor has', async () => {
    const actor = createActor(setUp({ withKey: false })).start();
    actor.send({ type: 'go' });
    const asked = actor.getSnapshot().children['asked'] as AnyActorRef;
    const { id, digest } = asked.getSnapshot();
    asked.send({ type: 'approval.given', id, digest, decision: 'approve' });
    expect((await waitFor(actor, ({ status }) => status === 'done')).context).toEqual({ limit: 5, paid: 'once' });

    const keyed = createActor(setUp());
    const errors: unknown[] = [];
    keyed.subscribe({ error: (error) => errors.push(error) });
    keyed.start().send({ type: 'go' });
    expect(errors).toMatchObject([{ code: 'invalid_option' }]);
  });

  it('work in a durable actor that is inspected', async () => {
    const mails: string[] = [];
    const seen = new Set<string>();
    const actor = await createDurableMachine(setUp({ mails }), { journals: memoryJournals() }).open('a');
    actor.ref.system.inspect(({ type }) => void seen.add(type));
    await actor.send({ type: 'go' } as never);
    const [asked] = actor.pending.approvals;
    await actor.send({ type: 'approval.given', id: asked?.id ?? '', digest: asked?.digest ?? '', decision: 'approve' });
    await actor.output;
    const [first = ''] = mails[0]?.split(', ') ?? [];
    expect(mails[0]).toBe(`${first}, ${first}`);
    expect(new Set(mails).size).toBe(2);
    expect(actor.getSnapshot().context).toMatchObject({ limit: 5, paid: expect.stringMatching(/./u) });
    expect(seen).toContain('@xstate.action');
    expect(actor.entries.map(({ type }) => type)).toEqual(expect.arrayContaining(['value', 'note', 'effect']));
  });
});
