import { createRequire } from 'node:module';
import { createWebSocketInspector } from '@statelyai/inspect';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WebSocketServer } from 'ws';
import { createActor } from 'xstate';
import { statelyReceiver } from '../../../../src/inspection/stately/receiver.ts';
import { playerMachine } from '../../../support/example-machines.ts';

// The serializer that the package uses for Sky.
const { stringify } = createRequire(createRequire(import.meta.url).resolve('@statelyai/inspect'))('superjson');

/** A server that gives each connection a receiver. */
async function inspectedAt() {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => new Promise((resolve) => server.close(() => resolve())));
  const receivers: ReturnType<typeof statelyReceiver>[] = [];
  server.on('connection', (socket) => {
    const receiver = statelyReceiver({ id: `c${receivers.length}` });
    receivers.push(receiver);
    socket.on('message', (data) => receiver.receive(String(data)));
    socket.on('close', () => receiver.close());
  });
  return { receivers, url: `ws://127.0.0.1:${(server.address() as { port: number }).port}` };
}

const machine = playerMachine.provide({
  guards: { isOpen: () => true, isGood: () => false, isNight: () => false },
  actions: { beep: () => {}, log: () => {} },
  delays: { FADE: 60_000 },
});

describe('an inspected third-party program', () => {
  it('is shown in every state that it visits, in all regions', async () => {
    const { receivers, url } = await inspectedAt();
    const inspector = createWebSocketInspector({ url });
    onTestFinished(() => inspector.stop());
    const actor = createActor(machine, { inspect: inspector.inspect });
    actor.start();
    const words = ['PLAY', 'MUTE', 'PAUSE', 'MUTE', 'PLAY', 'button.eject', 'STOP', 'LOAD'];
    for (const type of words) actor.send({ type } as never);
    actor.stop();
    await expect.poll(() => receivers[0]?.systems[0]?.info().live).toBe(false);
    const [system] = receivers[0]?.systems ?? [];
    const seen = (system?.entries ?? []).flatMap((entry) => (entry.type === 'transition' ? [entry] : []));
    expect(seen.map(({ event, target }) => [event, ...target])).toEqual([
      ['xstate.init', 'player.disc.stopped', 'player.sound.loud'],
      ['PLAY', 'player.disc.playing.slow', 'player.sound.loud'],
      ['MUTE', 'player.disc.playing.slow', 'player.sound.off'],
      ['PAUSE', 'player.disc.paused', 'player.sound.off'],
      ['MUTE', 'player.disc.paused', 'player.sound.loud'],
      ['PLAY', 'deep', 'player.sound.loud'],
      ['STOP', 'player.disc.stopped', 'player.sound.loud'],
      ['LOAD', 'player.disc.broken', 'player.sound.loud'],
    ]);
    expect(seen.at(-1)?.candidates).toEqual([
      { guard: 'isGood', target: ['deep'], result: 'false', inputs: null },
      { guard: null, target: ['player.disc.broken'], result: 'taken', inputs: null },
    ]);
    expect(system?.info()).toMatchObject({ title: 'player', status: 'cancelled' });
    expect(system?.info().fidelity).toHaveLength(3);
  });

  it('is also understood through Sky, whose messages are superjson', () => {
    const receiver = statelyReceiver({ id: 'sky' });
    const common = { rootId: 'x:0', sessionId: 'x:0', createdAt: '1000', _version: '0.7.2', id: null };
    const snapshot = { status: 'active', value: 'a', context: { at: new Date(0), none: undefined } };
    const event = { type: 'xstate.init' };
    const definition = JSON.stringify({ id: 'm', initial: 'a', states: { a: {} } });
    for (const message of [
      { ...common, type: '@xstate.actor', name: 'm', definition, parentId: undefined, snapshot },
      { ...common, type: '@xstate.snapshot', event, snapshot },
    ])
      receiver.receive(stringify({ apiKey: 'k', ...message }));
    const [system] = receiver.systems;
    expect(system?.charts().charts.map(({ id }) => id)).toEqual(['m']);
    expect(system?.entries.map(({ type }) => type)).toEqual(['keyframe', 'transition', 'state']);
    expect(JSON.stringify(system?.entries)).not.toContain('apiKey');
  });
});
