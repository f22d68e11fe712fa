import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stateAt } from '../../../../src/chain/journal/state-at.ts';
import { decode } from '../../../../src/inspection/stately/messages.ts';
import { statelyReceiver } from '../../../../src/inspection/stately/receiver.ts';
import type { SystemLimits } from '../../../../src/inspection/stately/system-journal.ts';

const definition = {
  id: 'm',
  initial: 'a',
  states: {
    a: { on: { GO: [{ guard: 'g', target: 'b' }, { target: 'c' }] } },
    b: { type: 'parallel', states: { x: { initial: 'one', states: { one: {}, two: {} } }, y: {} }, on: { GO: 'a' } },
    c: { always: 'a' },
  },
};

const actor = (sessionId: string, members: object = {}) => ({
  type: '@xstate.actor',
  sessionId,
  rootId: 'x:0',
  createdAt: '1000',
  name: 'm',
  definition: JSON.stringify(definition),
  snapshot: { status: 'active', value: 'a', context: {} },
  ...members,
});
const snapshot = (sessionId: string, value: unknown, members: object = {}, type = 'GO') => ({
  type: '@xstate.snapshot',
  sessionId,
  rootId: 'x:0',
  createdAt: '1001',
  event: { type },
  snapshot: { status: 'active', value, ...members },
});

function received(messages: Iterable<unknown>, limits?: SystemLimits) {
  const receiver = statelyReceiver({ id: 'a', ...(limits && { limits }) });
  for (const message of messages) receiver.receive(typeof message === 'string' ? message : JSON.stringify(message));
  return receiver;
}

const session = fc.constantFrom('x:0', 'x:1', 'x:2', '__proto__');
const value = fc.oneof(
  fc.constantFrom('a', 'b', 'c', { b: { x: 'two', y: {} } }, { b: { x: 'one' } }, { __proto__: null, b: 3 }),
  fc.jsonValue(),
);
const aMessage = fc.oneof(
  fc.record({ id: session, members: fc.jsonValue() }).map(({ id, members }) => actor(id, Object(members))),
  session.map((id) => actor(id)),
  fc.record({ id: session, value, context: fc.jsonValue() }).map((it) => snapshot(it.id, it.value, it)),
  fc
    .record({ id: session, status: fc.constantFrom('done', 'error', 'stopped', 'other') })
    .map(({ id, status }) => snapshot(id, 'a', { status })),
  session.map((sessionId) => ({ type: '@xstate.event', sessionId, rootId: 'x:0', event: { type: 'GO' } })),
  fc.jsonValue(),
  fc.string(),
);

describe('malformed inspection messages', () => {
  it('still produce a valid journal: increasing numbers and times, readable from any position', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(aMessage, { maxLength: 60 }), fc.nat(), async (messages, share) => {
        const receiver = received(messages);
        receiver.close();
        for (const system of receiver.systems) {
          const { entries } = system;
          expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, index) => index));
          expect(entries.every(({ atMs }, index) => atMs >= (entries[index - 1]?.atMs ?? 0))).toBe(true);
          expect(entries[0]?.type ?? 'keyframe').toBe('keyframe');
          const followed: string[] = [];
          const from = share % (entries.length + 1);
          const problem = await new Promise((end) => {
            system.follow(from, {
              charts: () => {},
              states: async () => {},
              lines: async (lines) => void followed.push(...lines),
              end,
            });
          });
          expect(problem).toBeNull();
          expect(followed).toEqual(entries.slice(from).map((entry) => JSON.stringify(entry)));
          const ids = system.charts().charts.map(({ id }) => id);
          expect(new Set(ids).size).toBe(ids.length);
          stateAt(entries, entries.length);
          JSON.stringify([entries, system.info(), system.charts()]);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('are counted if unreadable and ignored if of another kind', () => {
    const unreadable = ['{', '7', 'null', '[]', { type: '@xstate.event' }, { type: '@xstate.actor', sessionId: 7 }];
    const other = [{ type: '@xstate.microstep', sessionId: 'x:0' }, { type: '@statelyai.connected' }];
    const [system] = received([...unreadable, actor('x:0'), ...other]).systems;
    expect(system?.info().fidelity).toContain('6 messages could not be parsed.');
    expect(system?.entries).toHaveLength(1);
  });

  it('are cut when they are nested too deeply', () => {
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
    const text = JSON.stringify(snapshot('x:0', 'a')).replace('"value":"a"', `"value":"a","context":${deep}`);
    const [system] = received([actor('x:0'), text, actor('x:1', { definition: `{"states":${deep}}` })]).systems;
    expect(system?.info().fidelity.join(' ')).toContain('Deeply nested values were truncated');
    expect(decode(deep).kind).toBe('malformed');
  });

  it('lose members that would pollute prototypes', () => {
    const text = JSON.stringify(snapshot('x:0', 'a', { context: { n: 1 } }, 'xstate.init')).replace(
      '"n":1',
      '"n":1,"__proto__":{"polluted":true}',
    );
    const evil = JSON.stringify(definition).replace('"states":{', '"states":{"__proto__":{"id":"evil"},');
    const [system] = received([actor('x:0', { definition: evil }), text]).systems;
    expect(stateAt(system?.entries ?? [], 9)).toEqual({ m: { n: 1 } });
    expect(system?.charts().charts[0]?.states.map(({ id }) => id)).not.toContain('evil');
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it('with too large a definition yield a chart that is cut and marked as such', () => {
    const states = Object.fromEntries(Array.from({ length: 9000 }, (_, at) => [`s${at}`, {}]));
    const on = { GO: Array.from({ length: 30_000 }, () => ({ guard: 'g', target: '.s1' })) };
    const [system] = received([actor('x:0', { definition: JSON.stringify({ id: 'm', states, on }) })]).systems;
    expect(system?.charts().charts[0]?.states).toHaveLength(2000);
    expect(system?.charts().charts[0]?.transitions).toHaveLength(64);
    expect(system?.info().fidelity.join(' ')).toContain('its chart is incomplete');
  });

  it('are kept up to a limit of actors and entries', () => {
    const many = Array.from({ length: 50 }, (_, at) => actor(`x:${at}`));
    const steps = Array.from({ length: 100 }, (_, at) => snapshot('x:0', at % 2 ? 'a' : 'b'));
    const [system] = received([...many, ...steps], { actors: 10, entries: 60 }).systems;
    expect(system?.charts().charts).toHaveLength(10);
    expect(system?.entries).toHaveLength(60);
    expect(system?.info().fidelity).toEqual(
      expect.arrayContaining([
        '40 actors exceeded the limit and are not shown.',
        'The journal is full: the latest messages are missing.',
      ]),
    );
  });
});

describe('lost or reordered messages', () => {
  it('are buffered up to a limit, however long each is', () => {
    const steps = Array.from({ length: 50 }, (_, at) =>
      snapshot('x:0', 'a', { context: { text: `${at}`.repeat(500) } }, 'go'),
    );
    const [system] = received([actor('x:0'), ...steps], { actors: 10, entries: 1_000, chars: 10_000 }).systems;
    expect(JSON.stringify(system?.entries).length).toBeLessThan(20_000);
    expect(system?.entries.length).toBeGreaterThan(5);
    expect(system?.info().fidelity).toContain('The journal is full: the latest messages are missing.');
  });

  it('start an actor without a start message at its first mention, with a note', () => {
    const [system] = received([
      actor('x:0', { snapshot: { status: 'active', value: 'b' } }),
      snapshot('x:0', 'a'),
    ]).systems;
    const seen = system?.entries.flatMap((entry) =>
      entry.type === 'transition' ? [[entry.event, ...entry.target]] : [],
    );
    expect(seen).toEqual([
      ['xstate.init', 'm.b'],
      ['GO', 'm.a'],
    ]);
    expect(system?.info().fidelity).toContain('The start is missing for m.');
  });

  it('leave an actor without a chart until it is announced', () => {
    const messages = [
      snapshot('x:0', 'a', { context: { n: 1 } }),
      actor('x:0'),
      snapshot('x:0', 'c', { context: { n: 2 } }),
    ];
    const [system] = received(messages).systems;
    expect(system?.info().fidelity.join(' ')).toContain('1 message for actors that were not announced');
    expect(system?.charts().charts.map(({ id }) => id)).toEqual(['m']);
    expect(stateAt(system?.entries ?? [], 99)).toMatchObject({ m: { n: 2 } });
  });

  it('end with the connection, with a note if the program had not ended', () => {
    const receiver = received([actor('x:0')]);
    expect(receiver.systems[0]?.info()).toMatchObject({ status: 'running', live: true });
    receiver.close();
    expect(receiver.systems[0]?.info()).toMatchObject({ status: 'disconnected', live: false });
    expect(receiver.systems[0]?.info().fidelity).toContain('The connection closed before the program ended.');
    expect(receiver.systems[0]?.entries.at(-1)?.type).toBe('run-stopped');
  });
});

describe('two actors with the same definition', () => {
  it('have two charts while both are active, and one if they follow each other', () => {
    const both = received([actor('x:0'), actor('x:1')]).systems[0];
    expect(both?.charts().charts.map(({ id }) => id)).toEqual(['m', 'm x:1']);
    const one = received([actor('x:0'), actor('x:1'), snapshot('x:1', 'a', { status: 'done' }), actor('x:2')])
      .systems[0];
    expect(one?.charts().charts.map(({ id }) => id)).toEqual(['m', 'm x:1']);
    const machines = one?.entries.flatMap((entry) => (entry.type === 'transition' ? [entry.machine] : []));
    expect(machines).toEqual(['m x:1']);
  });
});
