import { describe, expect, it } from 'vitest';
import { type Actor, assign, createActor, createMachine, fromPromise, SimulatedClock, setup } from 'xstate';
import { explore } from '../../../../src/testing/exploration/explore.ts';
import { cover } from '../../../../src/testing/exploration/paths.ts';
import { runPath } from '../../../../src/testing/exploration/run-path.ts';
import type { TestedSystem } from '../../../../src/testing/exploration/tested-system.ts';
import { mutantsOf } from '../../../../src/testing/mutants.ts';
import { systemReportText } from '../../../../src/testing/system/system-report.ts';
import { testSystem } from '../../../../src/testing/system/test-system.ts';
import { checkout, checkoutOptions, createShop, type Fault } from '../../../support/checkout.ts';
import { rejectionOf } from '../../../support/errors.ts';

const exploration = explore(checkout, checkoutOptions);

async function messageFor(fault: Fault, each: 'item' | 'edge' = 'item'): Promise<string | undefined> {
  const { system, clock } = createShop(fault);
  return (await rejectionOf(testSystem(exploration, { system, clock, each })))?.message;
}

describe('a test of a system along the paths of its model', () => {
  it('does every path on the system, and reports what it tested', async () => {
    const { system, clock, log } = createShop();
    const report = await testSystem(exploration, { system, clock });
    expect(report).toEqual({
      machine: 'checkout',
      paths: cover(exploration).length,
      walks: 0,
      seed: null,
      steps: log.length - report.paths,
      leftOut: [],
      transitions: 7,
      untaken: [],
    });
    expect(new Set(log)).toEqual(
      new Set(['reset', 'ADD', 'EMPTY', 'PAY', 'CANCEL', 'charge: done', 'charge: declined', 'elapse 5000 5000']),
    );
    expect(systemReportText(report)).toMatch(
      /^The system does what checkout does: \d+ paths, \d+ steps, 7 of 7 transitions\.$/u,
    );
  });

  it('fails with the first difference and the shortest path to it', async () => {
    expect(await messageFor('pays for nothing')).toBe(
      'The system differs from checkout: expected at to be "cart", received "paying", after start → PAY',
    );
  });

  it('takes every edge, if asked to, not only every transition', async () => {
    expect(await messageFor('keeps the items')).toBeUndefined();
    expect(await messageFor('keeps the items', 'edge')).toBe(
      'The system differs from checkout: expected items to be 0, received 1, after start → ADD {"count":1} → EMPTY',
    );
  });

  it('names the step at which the system throws or hangs', async () => {
    expect(await messageFor('throws')).toBe(
      'The system differs from checkout: "send" failed: The button is not there, after start → ADD {"count":1} → PAY',
    );
    expect(await messageFor('hangs')).toBe(
      'The system differs from checkout: "send" did not finish within 5,000 ms, after start → ADD {"count":1} → PAY',
    );
  });

  it('leaves out the steps that the adapter cannot do, and says so', async () => {
    const { system, clock, log } = createShop();
    const { outcomes: _, elapse: __, ...rest } = system;
    const report = await testSystem(exploration, { system: rest, clock });
    expect(log.filter((line) => /^(charge|elapse)/u.test(line))).toEqual([]);
    expect(log).toContain('CANCEL');
    expect(new Set(report.leftOut.map(({ missing }) => missing))).toEqual(new Set(['outcomes.charge', 'elapse']));
    expect(report.untaken).toEqual(['paying, done → paid', 'paying, error → cart', 'paying, after 5000 → cart']);
    expect(systemReportText(report)).toContain(
      '\n  left out from "charge: done" on, without "outcomes.charge": start → ',
    );
  });

  it('waits until the system shows what is expected', async () => {
    const { system, clock } = createShop();
    let reads = 0;
    const next = (): number => {
      reads += 1;
      return reads;
    };
    const slow = { ...system, read: () => (next() % 4 === 0 ? system.read({} as never) : { at: '…', items: 0 }) };
    await testSystem(exploration, { system: slow, clock });
    expect(reads).toBeGreaterThan(4);
    const tooSlow = await rejectionOf(testSystem(exploration, { system: slow, clock, timeoutMs: 30 }));
    expect(tooSlow?.message).toMatch(/: expected at to be "cart", received "…", after start$/u);
  });

  it('compares the state value if the adapter does not say what to expect', async () => {
    const { system, clock } = createShop('pays for nothing');
    const { expected: _, read: __, ...rest } = system;
    const read = async () => (await system.read({} as never)).at;
    const error = await rejectionOf(testSystem(exploration, { system: { ...rest, read }, clock }));
    expect(error?.message).toMatch(/: expected what is read to be "cart", received "paying", after start → PAY$/u);
  });

  it('stops when it is aborted, and says where', async () => {
    const { system, clock, log } = createShop();
    const controller = new AbortController();
    const send: typeof system.send = ({ type }) => {
      if (type !== 'PAY') return;
      controller.abort(new Error('enough'));
      return new Promise(() => {});
    };
    const error = await rejectionOf(
      testSystem(exploration, {
        system: { ...system, send, read: () => ({ at: 'cart', items: 0 }), expected: () => ({ at: 'cart', items: 0 }) },
        clock,
        signal: controller.signal,
      }),
    );
    expect(error).toMatchObject({ code: 'cancelled' });
    expect(error?.message).toMatch(
      /^The test of checkout was aborted: "send" was aborted \(enough\), after start .*PAY$/u,
    );
    expect(log.at(-1)).toBe('reset');
  });

  it('aborts the signal of a function that takes too long', async () => {
    const { system, clock } = createShop();
    const aborted: boolean[] = [];
    const send: typeof system.send = (_, { signal }) =>
      new Promise(() => signal.addEventListener('abort', () => aborted.push(signal.aborted)));
    await rejectionOf(testSystem(exploration, { system: { ...system, send }, clock }));
    expect(aborted).toContain(true);
  });

  it('gives each outcome to the function for its actor', async () => {
    const parallel = createMachine({
      id: 'both',
      type: 'parallel',
      states: {
        left: { invoke: { src: 'load', id: 'left', onDone: '.x' }, initial: 'w', states: { w: {}, x: {} } },
        right: { invoke: { src: 'load', id: 'right', onDone: '.y' }, initial: 'w', states: { w: {}, y: {} } },
      },
    } as never);
    const outcomes = { load: [{ kind: 'done', name: 'all (of it)', output: 3 } as const] };
    const seen: unknown[] = [];
    const both = explore(parallel, { outcomes });
    await testSystem(both, {
      clock: createShop().clock,
      system: {
        reset: () => {},
        send: () => {},
        outcomes: { left: (outcome) => seen.push(['left', outcome]), load: (outcome) => seen.push(['load', outcome]) },
        read: () => null,
        expected: () => null,
      },
    });
    expect(seen).toContainEqual(['left', outcomes.load[0]]);
    expect(seen).toContainEqual(['load', outcomes.load[0]]);
  });

  it.each([
    [
      { send: undefined },
      '"system.send" must be a function; received undefined. An adapter for checkout needs reset, send, read',
    ],
    [
      { sned: () => {} },
      'options of system: expected only reset, send, outcomes, elapse, read, expected; received sned.',
    ],
  ])('refuses an incomplete adapter (%o)', async (change, message) => {
    const { system } = createShop();
    expect(await rejectionOf(testSystem(exploration, { system: { ...system, ...change } as never }))).toMatchObject({
      code: 'invalid_option',
      message,
    });
  });
});

/** A system that is an actor of a machine, in simulated time. */
function actorSystem(machine: typeof checkout) {
  let actor: Actor<typeof checkout> | undefined;
  let clock = new SimulatedClock();
  let charge = { resolve: (_: string): void => {}, reject: (_: unknown): void => {} };
  const actors = {
    charge: fromPromise(
      () =>
        new Promise<string>((resolve, reject) => {
          charge = { resolve, reject };
        }),
    ),
  };
  const system: TestedSystem<typeof checkout> = {
    reset() {
      actor?.stop();
      clock = new SimulatedClock();
      actor = createActor(machine.provide({ actors }), { clock });
      actor.subscribe({ error: () => {} });
      actor.start();
    },
    send: (event) => actor?.send(event),
    outcomes: {
      charge: (outcome) =>
        outcome.kind === 'done' ? charge.resolve('receipt') : charge.reject(new Error(outcome.name)),
    },
    elapse: ({ ms }) => clock.increment(ms ?? 0),
    read() {
      const { value, context } = actor?.getSnapshot() ?? expect.fail('not started');
      return { at: value, items: context.items };
    },
    expected: ({ value, context }) => ({ at: value, items: context.items }),
  };
  return system;
}

describe('systems with each mistake that a chart can have', () => {
  it('pass without a mistake', async () => {
    const { clock } = createShop();
    await testSystem(exploration, { system: actorSystem(checkout), clock, each: 'edge' });
  });

  it('fail with it, on the shortest path', async () => {
    const found: Record<string, string> = {};
    for (const { name, machine } of mutantsOf(checkout)) {
      const { clock } = createShop();
      const error = await rejectionOf(testSystem(exploration, { system: actorSystem(machine), clock, each: 'edge' }));
      found[name] = error?.message.replace(/^.*, after start/u, 'start') ?? 'not found';
    }
    expect(found).toMatchInlineSnapshot(`
      {
        "checkout.cart, ADD: transition dropped": "start → ADD {"count":1}",
        "checkout.cart, EMPTY: transition dropped": "start → ADD {"count":1} → EMPTY",
        "checkout.cart, PAY: guard of transition negated": "start → PAY",
        "checkout.cart, PAY: transition dropped": "start → ADD {"count":1} → PAY",
        "checkout.paying, CANCEL: transition dropped": "start → ADD {"count":1} → PAY → CANCEL",
        "checkout.paying, after 5000: transition dropped": "start → ADD {"count":1} → PAY → after 5000 ms",
        "checkout.paying, done: transition dropped": "start → ADD {"count":1} → PAY → charge: done",
        "checkout.paying, error: transition dropped": "start → ADD {"count":1} → PAY → charge: declined",
      }
    `);
  });
});

it('starts the system with each input of the model', async () => {
  const counter = setup({
    types: { context: {} as { n: number }, input: {} as number },
  }).createMachine({
    id: 'counter',
    context: ({ input }) => ({ n: input }),
    on: { UP: { actions: assign({ n: ({ context }) => Math.min(9, context.n + 1) }) } },
  });
  const inputs = new Set<number>();
  const tested = (most: number) => {
    let n = 0;
    const system: TestedSystem<typeof counter, number> = {
      reset(input) {
        inputs.add(input);
        n = input;
      },
      send() {
        n = Math.min(most, n + 1);
      },
      read: () => n,
      expected: ({ context }) => context.n,
    };
    const counted = explore(counter, { inputs: { few: 1, many: 8 } });
    return rejectionOf(testSystem(counted, { system, clock: createShop().clock, each: 'edge' }));
  };
  expect(await tested(9)).toBeNull();
  expect(inputs).toEqual(new Set([1, 8]));
  expect((await tested(10))?.message).toMatch(/: expected what is read to be 9, received 10, after many → UP → UP$/u);
});

describe('runPath with a system', () => {
  const pathWith = (end: string) => cover(exploration).find(({ name }) => name.endsWith(end)) ?? expect.fail(end);

  it('does one path on the system, and fails with the shortest failing path', async () => {
    const path = pathWith('charge: done');
    const { system, clock, log } = createShop();
    await runPath(exploration, path, { system, clock });
    expect(log).toEqual(['reset', ...path.edges.map(({ occurrence }) => occurrence.name.split(' {')[0])]);
    const { system: broken } = createShop('throws');
    expect(await rejectionOf(runPath(exploration, path, { system: broken, clock }))).toMatchObject({
      code: 'path_failed',
      message: expect.stringMatching(/"send" failed: The button is not there, after start → ADD \{"count":1\} → PAY$/u),
      cause: expect.any(TypeError),
    });
  });

  it('checks the machine first, also its invariants', async () => {
    const { system, clock, log } = createShop();
    const invariants = { 'is empty': ({ context }: { context: { items: number } }) => context.items === 0 };
    const error = await rejectionOf(runPath(exploration, pathWith('charge: done'), { system, clock, invariants }));
    expect(error?.message).toMatch(/^Invariant "is empty" is broken/u);
    expect(log).toEqual([]);
  });

  it('refuses a path with a step that the adapter cannot do', async () => {
    const { system } = createShop();
    const { outcomes: _, ...rest } = system;
    const path = pathWith('charge: done');
    expect(await rejectionOf(runPath(exploration, path, { system: rest }))).toMatchObject({
      code: 'invalid_option',
      message: `"system.outcomes.charge" is missing, so that "charge: done" of the path ${path.name} cannot be done; add it, or leave the path out`,
    });
  });
});
