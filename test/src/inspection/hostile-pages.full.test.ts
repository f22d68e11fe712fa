import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fileJournals } from '../../../src/durable/journals/file-journals.ts';
import type { JournalStore } from '../../../src/durable/journals/journal-store.ts';
import type { PageRequest } from '../../../src/inspection/page-messages.ts';
import { anyText } from '../../support/any-id.ts';
import { temporaryFolder } from '../../support/cli.ts';
import { openPage, rawRequest, startInspector } from '../../support/inspection-server.ts';
import { killedAfter } from '../../support/journal-files.ts';
import { startScripted } from '../../support/run-chain.ts';

describe('a page that sends requests and never reads', () => {
  it('is not read beyond a limit while its responses are pending', async () => {
    const server = await startInspector();
    const { run } = startScripted({ intention: { hang: true } });
    server.watch(run);
    const page = await openPage(server.url);
    page.socket.pause();
    const message = JSON.stringify({ type: 'open', runId: 'run-1', from: 1e9 });
    const before = process.memoryUsage();
    for (let number = 0; number < 4_000; number += 1) {
      page.socket.send(message);
      await new Promise((resolve) => setImmediate(resolve));
    }
    // The page buffers what the server does not read.
    await expect.poll(() => page.socket.bufferedAmount).toBeLessThan(1);
    for (let turn = 0; turn < 300; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    const after = process.memoryUsage();
    expect(after.heapUsed + after.external - before.heapUsed - before.external).toBeLessThan(60_000_000);
    const other = await openPage(server.url);
    expect(await other.request({ type: 'send', runId: 'run-1', event: { type: 'run.cancelled' } })).toMatchObject({
      problem: null,
    });
  });
});

describe('a store that never responds', () => {
  it('does not prevent the server from starting or showing runs', async () => {
    const journals = { list: () => new Promise(() => {}), read: async function* () {} } as unknown as JournalStore;
    const server = await startInspector({ journals });
    const { run } = startScripted({ intention: { hang: true } });
    server.watch(run);
    const page = await openPage(server.url);
    expect((await page.runs(({ runs }) => runs.length === 1)).chosen).toBe('run-1');
  });
});

describe('exporting a run', () => {
  it('runs once at a time, however often a page requests it', async () => {
    let reading = 0;
    let go = (): void => {};
    const gone = new Promise<void>((resolve) => {
      go = resolve;
    });
    const { run } = startScripted();
    await run.answer;
    const stored = killedAfter(run.entries);
    const journals = {
      list: () => stored.list(),
      async *read(id: string) {
        reading += 1;
        await gone;
        yield* stored.read(id);
      },
    } as unknown as JournalStore;
    const page = await openPage((await startInspector({ journals })).url);
    const ask = () => page.request({ type: 'export', runId: 'run-1', redact: [] });
    const replies = Array.from({ length: 20 }, ask);
    expect((await replies.at(-1))?.problem).toMatch(/being exported/u);
    expect(reading).toBe(1);
    go();
    expect(await replies[0]).toMatchObject({ problem: null });
    expect(await ask()).toMatchObject({ problem: null });
  });
});

/** Every message of a page that names a run and gets a reply. */
const REQUESTS: readonly ((runId: string) => PageRequest)[] = [
  (runId) => ({ type: 'send', runId, event: { type: 'run.cancelled' } }),
  (runId) => ({ type: 'act', runId, action: { type: 'resume' }, confirmed: null }),
  (runId) => ({ type: 'act', runId, action: { type: 'fork', at: 1, set: {} }, confirmed: null }),
  (runId) => ({ type: 'act', runId, action: { type: 'replay' }, confirmed: null }),
  (runId) => ({ type: 'remove', runId }),
  (runId) => ({ type: 'export', runId, redact: [] }),
];

it('every request of a page with any run id gets a reply, and every path a response', async () => {
  const server = await startInspector({ journals: fileJournals(temporaryFolder()) });
  const page = await openPage(server.url);
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...REQUESTS), anyText, async (requestFor, text) => {
      // A longer one is an invalid message.
      const runId = text.slice(0, 4_096);
      page.say({ type: 'open', runId, from: 0 });
      page.say({ type: 'close', runId });
      const path = encodeURI(`/${runId.replace(/\p{Cs}/gu, '')}`);
      expect((await rawRequest(server.url, { path })).status).toBeLessThan(500);
      expect((await rawRequest(server.url, { path: `${new URL(server.url).pathname}${path}` })).status).toBeLessThan(
        500,
      );
      const { problem } = await page.request(requestFor(runId));
      expect(problem ?? '').not.toMatch(/internal|undefined|TypeError/u);
      server.choose(runId);
    }),
  );
});
