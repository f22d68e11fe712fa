import { createServer } from 'node:net';
import { createBrowserReceiver, createWebSocketReceiver } from '@statelyai/inspect';
import { createInspectorServer } from '@statelyai/inspect/server';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WebSocketServer } from 'ws';
import { memoryJournals } from '../../../../src/chain/journal/stores.ts';
import { type BridgedRun, statelyBridge } from '../../../../src/inspection/stately/bridge.ts';
import type { StatelyMessage } from '../../../../src/inspection/stately/journal-messages.ts';
import { scriptedChain } from '../../../support/run-chain.ts';

function startedRun() {
  return scriptedChain({}, { journals: memoryJournals() }).chain.run({ request: 'Is it so?' });
}

async function messagesOf(run: BridgedRun): Promise<StatelyMessage[]> {
  const messages: StatelyMessage[] = [];
  await statelyBridge(run, (message) => void messages.push(message)).done;
  return messages;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function openServer() {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => new Promise((resolve) => server.close(() => resolve())));
  return { server, url: `ws://127.0.0.1:${(server.address() as { port: number }).port}` };
}

const asSent = (messages: readonly unknown[]): unknown[] => messages.map((one) => JSON.parse(JSON.stringify(one)));

describe('the bridge to an inspector', () => {
  it('sends messages to the receiver of the Stately package through its own server, in order', async () => {
    const port = await freePort();
    const server = createInspectorServer({ port, autoOpen: false });
    onTestFinished(() => server.stop());
    const got: unknown[] = [];
    const url = `ws://localhost:${port}`;
    createWebSocketReceiver({ server: url }).subscribe((message) => void got.push(message));
    const run = startedRun();
    await run.answer;
    // The server replays earlier messages to a late receiver, up to a limit.
    await statelyBridge(run.journal.slice(0, 20), url).done;
    await statelyBridge(run, url).done;
    const wanted = asSent([...(await messagesOf(run.journal.slice(0, 20))), ...(await messagesOf(run))]);
    await expect.poll(() => got.length).toBeGreaterThanOrEqual(wanted.length);
    expect(got).toEqual(wanted);
  });

  it('is understood by the receiver of the package in a browser window', async () => {
    const listeners: ((event: { data: unknown }) => void)[] = [];
    const window = { addEventListener: (_: string, listener: never) => void listeners.push(listener), opener: null };
    const got: unknown[] = [];
    createBrowserReceiver({ window: window as never }).subscribe((message) => void got.push(message));
    const run = startedRun();
    await run.answer;
    const messages = await messagesOf(run);
    for (const data of messages) for (const listener of listeners) listener({ data });
    expect(got).toEqual(messages);
  });

  it('sends a run as it progresses without delaying its answer', async () => {
    const { server, url } = await openServer();
    const got: string[] = [];
    server.on('connection', (socket) => socket.on('message', (data) => void got.push(String(data))));
    const run = startedRun();
    await statelyBridge(run, url).done;
    await expect.poll(async () => got.length === (await messagesOf(run.journal)).length).toBe(true);
    expect(got.map((text) => JSON.parse(text))).toEqual(asSent(await messagesOf(run.journal)));
  });

  it('rejects its promise without a connection, and the run continues', async () => {
    const run = startedRun();
    const { done } = statelyBridge(run, `ws://127.0.0.1:${await freePort()}`);
    await expect(done).rejects.toThrow(/Cannot reach an inspector at ws:\/\/127\.0\.0\.1:\d+: .*ECONNREFUSED/u);
    expect((await run.answer).status).toBe('completed');
    await expect(statelyBridge(run, 'nonsense').done).rejects.toThrow('Cannot reach an inspector at nonsense');
  });

  it('omits secrets in the address from its error', async () => {
    const { done } = statelyBridge([], 'ws://ann:a-password@127.0.0.1:1/a-token/stately?key=a-key');
    const { message } = await done.then(
      () => new Error('it is there'),
      (error: Error) => error,
    );
    expect(message).toContain('Cannot reach an inspector at ws://127.0.0.1:1');
    expect(message).not.toMatch(/a-password|a-token|a-key/u);
  });

  it('reports that the other side disconnected midway', async () => {
    const { server, url } = await openServer();
    server.on('connection', (socket) => socket.once('message', () => socket.close()));
    const never = {
      async *[Symbol.asyncIterator]() {
        const run = startedRun();
        await run.answer;
        yield* run.journal.slice(0, 5);
        await new Promise(() => {});
      },
    };
    await expect(statelyBridge(never, url).done).rejects.toThrow('the inspector closed the connection');
  });

  it('stops when it is closed, and the run continues', async () => {
    const { chain } = scriptedChain({ action: { never: true } as never });
    const run = chain.run({ request: 'Is it so?' });
    const messages: StatelyMessage[] = [];
    const bridge = statelyBridge(run, (message) => void messages.push(message));
    await expect.poll(() => messages.length).toBeGreaterThan(3);
    bridge.close();
    await bridge.done;
    const { length } = messages;
    run.cancel();
    await run.answer;
    expect(messages).toHaveLength(length);
  });

  it('rejects with the error of its callback, which does not affect the run', async () => {
    const run = startedRun();
    const bridge = statelyBridge(run, () => {
      throw new Error('no more');
    });
    await expect(bridge.done).rejects.toThrow('no more');
    expect((await run.answer).status).toBe('completed');
  });
});
