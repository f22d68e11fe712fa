import { createInspector } from '@statelyai/inspect';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AnyStateMachine, createActor, createMachine, type InspectionEvent, raise } from 'xstate';
import { createGuardLogs } from '../../../../src/chain/recording/guard-logs.ts';
import { observeSystem } from '../../../../src/chain/recording/observe.ts';
import { statelyReceiver } from '../../../../src/inspection/stately/receiver.ts';

const OUTER = ['p', 'q', 'r', 's'];
const EVENTS = ['E', 'F.one', 'F.two'];
const PATTERNS = [...EVENTS, 'F.*', '*'];

/** Candidate targets, each with or without a guard. */
const candidates = (inner: string) =>
  fc
    .uniqueArray(fc.record({ to: fc.constantFrom(...OUTER), guard: fc.constantFrom('yes', 'no', null) }), {
      selector: ({ to }) => to,
      maxLength: 3,
    })
    .map((list) => list.map(({ to, guard }) => ({ target: `#m.${to}.${inner}`, ...(guard !== null && { guard }) })));

/** Each wildcard of a state leads elsewhere than that of its parent, so the target identifies the taken transition. */
const handlers = (inner: string) =>
  fc.constantFrom(...PATTERNS).chain((pattern) => candidates(inner).map((list) => ({ [pattern]: list })));

const aMachine = fc.tuple(...OUTER.map(() => fc.tuple(handlers('a'), handlers('b'), handlers('c')))).map((all) =>
  createMachine(
    {
      id: 'm',
      initial: 'p',
      states: Object.fromEntries(
        all.map(([around, first, second], at) => [
          OUTER[at] as string,
          { initial: 'a', on: around, states: { a: { on: first }, b: { on: second }, c: {} } },
        ]),
      ),
    } as never,
    { guards: { yes: () => true, no: () => false } },
  ),
);

/** The transitions of a machine that changed its state, and those inferred from its messages. */
async function playedTwice(machine: AnyStateMachine, events: readonly string[]) {
  const steps: object[] = [];
  const observe = observeSystem((fact) => void steps.push(fact), createGuardLogs());
  const receiver = statelyReceiver({ id: 'a' });
  const inspector = createInspector({ send: (message) => receiver.receive(JSON.stringify(message)) });
  const inspect = (event: InspectionEvent): void => {
    observe(event);
    inspector.inspect.next?.(event);
  };
  const actor = createActor(machine, { inspect }).start();
  const real: object[] = [];
  for (const type of events) {
    const before = JSON.stringify(actor.getSnapshot().value);
    steps.length = 0;
    actor.send({ type });
    if (JSON.stringify(actor.getSnapshot().value) !== before) real.push(...steps);
  }
  await new Promise((resolve) => setTimeout(resolve, 0));
  const [system] = receiver.systems;
  const entries = system?.entries.flatMap((entry) => (entry.type === 'transition' ? [entry] : [])) ?? [];
  const inferred = entries.slice(1).map(({ seq: _, atMs: __, ...fact }) => fact);
  return { real, inferred, fidelity: system?.info().fidelity ?? [] };
}

describe('the inferred transition', () => {
  it('is the taken one, with its candidates, unless another one leads to the same state', async () => {
    await fc.assert(
      fc.asyncProperty(aMachine, fc.array(fc.constantFrom(...EVENTS), { maxLength: 12 }), async (machine, events) => {
        const { real, inferred } = await playedTwice(machine, events);
        expect(inferred).toEqual(real);
      }),
      { numRuns: 200 },
    );
  });

  it('belongs to the innermost state in any region', async () => {
    const region = (on: object) => ({ initial: 'one', states: { one: { on }, two: {} } });
    const machine = createMachine({
      id: 'm',
      type: 'parallel',
      on: { GO: { guard: () => true, target: '.y.two' } },
      // The other region only re-enters its current state.
      states: { x: region({ GO: 'one' }), y: region({ GO: 'two' }) },
    });
    const { inferred } = await playedTwice(machine, ['GO']);
    expect(inferred).toMatchObject([{ source: 'm.y.one', target: ['m.x.one', 'm.y.two'], candidates: [] }]);
  });

  it('is the first of several steps taken for one event, with the final state as target', async () => {
    const leadsTo = (other: string) =>
      createMachine({
        id: 'm',
        initial: 'a',
        states: {
          a: { on: { GO: [{ guard: () => false, target: other }, { target: 'b' }] } },
          b: { always: 'c' },
          c: { initial: 'x', states: { x: { always: 'y' }, y: { type: 'final' } }, onDone: 'd' },
          d: {},
          e: {},
        },
      });
    const known = await playedTwice(leadsTo('e'), ['GO']);
    const candidates = [{ result: 'false' }, { result: 'taken' }];
    expect(known.inferred).toMatchObject([{ source: 'm.a', target: ['m.d'], candidates }]);
    const { inferred, fidelity } = await playedTwice(leadsTo('d'), ['GO']);
    // Nothing reports that the guard returned false: its target is where the event led.
    expect(inferred).toMatchObject([{ source: 'm.a', target: ['m.d'], candidates: [{ result: 'taken' }, {}] }]);
    expect(fidelity).toContain('Function guards are shown as "inline" or by their function name.');
  });

  it('is unknown if an action led elsewhere', async () => {
    const machine = createMachine({
      id: 'm',
      initial: 'a',
      states: { a: { on: { GO: 'b' } }, b: { on: { ON: 'c' }, entry: raise({ type: 'ON' }) }, c: {} },
    });
    const { inferred, fidelity } = await playedTwice(machine, ['GO']);
    expect(inferred).toMatchObject([{ source: 'm.a', target: ['m.c'], candidates: [] }]);
    expect(fidelity).toContain('1 state change matched no transition of the chart.');
  });
});
