import { describe, expect, expectTypeOf, it } from 'vitest';
import { assign, raise, setup } from 'xstate';
import * as z from 'zod';
import { type ChosenEvent, decide } from '../../../src/entries/agents.ts';
import {
  alwaysEventually,
  explore,
  findingsOf,
  type Script,
  scriptedModel,
  soundness,
} from '../../../src/entries/testing.ts';
import { endsOf } from '../../support/agent-charts.ts';

/** A desk where a model may refund at most 10 euros, unless it accepts no event. Nothing handles `close`. */
function desk(script: Script, isClosed = false) {
  const model = scriptedModel(script);
  const route = decide({
    model,
    name: 'route',
    prompt: (mail: string) => `Mail: ${mail}`,
    events: { refund: z.object({ cents: z.int() }), escalate: z.object({}), close: z.object({ note: z.string() }) },
  });
  const machine = setup({
    types: {
      context: {} as { output: number; error: unknown },
      events: {} as { type: 'refund'; cents: number } | { type: 'escalate' } | { type: 'close'; note: string },
    },
    actors: { route },
    guards: { isSmall: ({ event }) => event.type === 'refund' && event.cents < 1_000 },
  }).createMachine({
    id: 'desk',
    version: '1',
    context: { output: 0, error: null },
    initial: 'choosing',
    states: {
      choosing: {
        invoke: {
          src: 'route',
          input: 'Where is my coat?',
          onDone: { actions: raise(({ event }) => event.output) },
          onError: { target: 'failed', actions: assign({ error: ({ event }) => event.error }) },
        },
        on: isClosed
          ? {}
          : {
              refund: {
                guard: 'isSmall',
                description: 'Pays money back.',
                target: 'refunding',
                actions: assign({ output: ({ event }) => event.cents }),
              },
              escalate: 'waiting',
            },
      },
      refunding: { type: 'final' },
      waiting: { type: 'final' },
      failed: { type: 'final' },
    },
  });
  return { machine, model };
}
const end = (script: Script, isClosed?: boolean) => endsOf(() => desk(script, isClosed).machine as never);

describe('decide', () => {
  it('chooses one of the events that the state accepts, with its members [G2]', async () => {
    expect(await end({ route: [{ type: 'refund', cents: 500 }] })).toMatchObject({ value: 'refunding', output: 500 });
    expect(await end({ route: [{ type: 'escalate' }] })).toMatchObject({ value: 'waiting' });
  });

  it('offers only these events, with the descriptions of their transitions', async () => {
    const { machine, model } = desk({ route: [{ type: 'escalate' }, { type: 'escalate' }] });
    await endsOf(() => machine as never);
    const [request] = model.calls;
    expect(request?.turns.at(-1)?.content).toBe(
      'Mail: Where is my coat?\n\nChoose the next event, one of:\n- refund: Pays money back.\n- escalate',
    );
    expect(JSON.stringify(request?.outputSchema)).not.toContain('close');
  });

  it.each([
    ['an event that the state does not accept', { type: 'close', note: 'x' }, 'expected one of: refund, escalate'],
    ['members that the schema rejects', { type: 'refund', cents: 'ten' }, 'expected number'],
    ['members with which no guard holds', { type: 'refund', cents: 5_000 }, 'no guard of its transitions holds'],
    ['no event', { answer: 'I refund.' }, 'expected one of: refund, escalate'],
  ])('corrects %s', async (_, invalid, problem) => {
    const { machine, model } = desk({ route: [invalid, { type: 'escalate' }, invalid, { type: 'escalate' }] });
    expect(await endsOf(() => machine as never)).toMatchObject({ value: 'waiting' });
    expect(model.calls[1]?.turns.at(-1)?.content).toContain(problem);
  });

  it('fails if no reply is a valid event, and if the state accepts no event', async () => {
    const invalid = Array.from({ length: 9 }, () => ({ type: 'close', note: 'x' }));
    expect(await end({ route: invalid })).toMatchObject({ value: 'failed', code: 'attempts_exhausted' });
    expect(await end({ route: [] }, true)).toMatchObject({ value: 'failed', code: 'no_event' });
  });

  it('is explored without outcomes: with each event that the state accepts, and each way to fail', () => {
    const explored = explore(desk({}).machine);
    const ends = alwaysEventually('an end', ({ status }) => status === 'done');
    expect(findingsOf(explored, [...soundness, ends]).filter(({ witness }) => witness !== null)).toEqual([]);
    const reached = explored.states.map(({ snapshot }) => String(snapshot.value));
    expect(new Set(reached)).toEqual(new Set(['choosing', 'refunding', 'waiting', 'failed']));
  });

  it('refuses a schema that is not of an object, and no events', () => {
    const model = scriptedModel({});
    const refused = (events: object) => () => decide({ model, events: events as never });
    expect(refused({ go: z.string() })).toThrow(expect.objectContaining({ code: 'invalid_schema' }));
    expect(refused({})).toThrow(expect.objectContaining({ code: 'invalid_option' }));
  });
});

it('an event without members needs only its type', () => {
  const events = { escalate: z.object({}), refund: z.object({ cents: z.int() }) };
  expectTypeOf<ChosenEvent<typeof events>>().toEqualTypeOf<
    { readonly type: 'escalate' } | ({ readonly type: 'refund' } & { cents: number })
  >();
  expectTypeOf<{ type: 'refund' }>().not.toExtend<ChosenEvent<typeof events>>();
});
