import { createInspector } from '@statelyai/inspect';
import { describe, expect, it } from 'vitest';
import { createActor, createMachine, fromPromise, setup } from 'xstate';
import type { JournalEntry } from '../../../../machines/contracts/journal.ts';
import { stateAt } from '../../../../src/chain/journal/state-at.ts';
import { type ReceivedSystem, statelyReceiver } from '../../../../src/inspection/stately/receiver.ts';
import type { RunCharts } from '../../../../src/inspection/wire.ts';
import { settle } from '../../../../src/testing/settle.ts';

type Sent = Record<string, unknown>;

/** Returns the messages of a program that the package inspects. */
async function messagesOf(play: (inspect: ReturnType<typeof createInspector>['inspect']) => unknown): Promise<Sent[]> {
  const sent: Sent[] = [];
  const { inspect } = createInspector({ send: (message) => void sent.push(JSON.parse(JSON.stringify(message))) });
  await play(inspect);
  await settle();
  await new Promise((resolve) => setTimeout(resolve, 0));
  return sent;
}

function systemsOf(messages: readonly Sent[]): readonly ReceivedSystem[] {
  const receiver = statelyReceiver({ id: 'a' });
  for (const message of messages) receiver.receive(JSON.stringify(message));
  return receiver.systems;
}

const child = createMachine({ id: 'child', initial: 'a', states: { a: { on: { X: 'b' } }, b: { type: 'final' } } });
const parent = setup({
  types: { context: {} as { n: number; seen: { at: number }[] } },
  actors: { kid: child, three: fromPromise(async () => 3) },
  guards: { isMany: ({ context }) => context.n > 2 },
}).createMachine({
  id: 'parent',
  context: { n: 1, seen: [] },
  initial: 'waiting',
  invoke: { src: 'kid', id: 'first' },
  states: {
    waiting: { on: { GO: [{ guard: 'isMany', target: 'over' }, { target: 'asking' }] } },
    asking: { invoke: { src: 'three', onDone: 'over' } },
    over: { type: 'final' },
  },
});

const played = () =>
  messagesOf(async (inspect) => {
    const actor = createActor(parent, { inspect }).start();
    actor.send({ type: 'NOPE' });
    actor.send({ type: 'GO' });
  });

const transitions = (entries: readonly JournalEntry[]) =>
  entries.flatMap((entry) => (entry.type === 'transition' ? [entry] : []));

describe('the journal of an inspected system', () => {
  it('contains the charts of its machines, root first, and the nesting of its actors', async () => {
    const [system] = systemsOf(await played());
    expect(system?.charts().charts.map(({ id }) => id)).toEqual(['parent', 'child']);
    expect(system?.charts().invoked).toEqual({ kid: 'child' });
  });

  it('records where every event led and which candidate was taken, as far as known', async () => {
    const [system] = systemsOf(await played());
    const told = transitions(system?.entries ?? []).filter(({ machine }) => machine === 'parent');
    expect(told.map(({ event, source, target }) => [event, source, target])).toEqual([
      ['xstate.init', 'parent', ['parent.waiting']],
      ['GO', 'parent.waiting', ['parent.asking']],
      ['xstate.done.actor.0.parent.asking', 'parent.asking', ['parent.over']],
    ]);
    expect(told[1]?.candidates).toEqual([
      { guard: 'isMany', target: ['parent.over'], result: 'false', inputs: null },
      { guard: null, target: ['parent.asking'], result: 'taken', inputs: null },
    ]);
  });

  it('starts with a keyframe, counts from 0, and ends when all actors have ended', async () => {
    const [system] = systemsOf(await played());
    const entries = system?.entries ?? [];
    expect(entries[0]).toMatchObject({ type: 'keyframe', atMs: 0 });
    expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, index) => index));
    expect(entries.at(-1)?.type).toBe('run-stopped');
    expect(system?.info()).toMatchObject({ kind: 'system', title: 'parent', status: 'completed', live: false });
    expect(stateAt(entries, entries.length)).toEqual({ parent: { n: 1, seen: [] }, first: {} });
    expect(entries.flatMap((entry) => (entry.type === 'delivery' ? [entry.event.type] : []))).toContain('NOPE');
  });

  it('can be followed live: charts before their entries, every entry once, and the end', async () => {
    const receiver = statelyReceiver({ id: 'a' });
    const told: unknown[] = [];
    const known = new Set<string>();
    const learn = ({ charts }: RunCharts): void => charts.forEach(({ id }) => void known.add(id));
    let isFollowed = false;
    for (const message of await played()) {
      receiver.receive(JSON.stringify(message));
      await settle(1);
      const [system] = receiver.systems;
      if (system === undefined || isFollowed) continue;
      isFollowed = true;
      learn(system.charts());
      system.follow(0, {
        charts: learn,
        states: async () => {},
        async lines(lines) {
          const entries = lines.map((line): JournalEntry => JSON.parse(line));
          told.push(...entries);
          for (const { machine } of transitions(entries)) expect(known).toContain(machine);
        },
        end: (problem) => void told.push(problem),
      });
    }
    await settle(2);
    expect(told).toEqual([...JSON.parse(JSON.stringify(receiver.systems[0]?.entries)), null]);
  });
});
