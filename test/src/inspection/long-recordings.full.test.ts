import { describe, expect, it } from 'vitest';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { storedEntry } from '../../../src/chain/journal/stored-entries.ts';
import type { DurableEntry } from '../../../src/durable/entries.ts';
import type { ActorSummary, JournalStore } from '../../../src/durable/journals/journal-store.ts';
import { openPage, startInspector } from '../../support/inspection-server.ts';
import { settle, startScripted } from '../../support/run-chain.ts';

const SUMMARY: ActorSummary = {
  id: 'long',
  machine: { id: 'postChain', version: null },
  title: 'How long?',
  startedAt: '2026-01-01T00:00:00.000Z',
  forkedFrom: null,
  status: 'done',
  reason: null,
  lastSeq: 1e9,
  summary: { status: 'completed' },
  attributes: {},
  waiting: null,
};

/** An endless journal that counts how far it was read and whether reading was stopped. */
function endlessJournal(start: DurableEntry, before: (seq: number) => Promise<void> = async () => {}) {
  const state = { read: 0, isLeft: false };
  const store = {
    list: async () => [SUMMARY],
    async *read(): AsyncGenerator<DurableEntry> {
      try {
        yield start;
        for (let seq = 1; ; seq += 1) {
          await before(seq);
          state.read = seq;
          yield storedEntry({ seq, atMs: seq, type: 'text-delta', attemptId: 'a', text: 'so '.repeat(300) });
        }
      } finally {
        state.isLeft = true;
      }
    },
  } as unknown as JournalStore;
  return { state, store };
}

const aStart = (): DurableEntry => storedEntry(startScripted().run.entries[0] as JournalEntry);

describe('a long recording', () => {
  it('is sent before it is read to its end', async () => {
    const { store } = endlessJournal(aStart(), (seq) => (seq < 1_000 ? Promise.resolve() : new Promise(() => {})));
    const page = await openPage((await startInspector({ journals: store })).url);
    page.say({ type: 'open', runId: 'long', from: 0 });
    await expect.poll(() => page.lines('long').length).toBeGreaterThan(500);
    expect(page.all('end')).toEqual([]);
    const [frame] = page.all('entries');
    expect(frame).toMatchObject({ from: 0, more: true });
    expect(page.all('entries').length).toBeGreaterThan(1);
  });

  it('is read only as fast as the page consumes it, and not at all after the page has closed', async () => {
    const { state, store } = endlessJournal(aStart());
    const { url } = await startInspector({ journals: store });
    const page = await openPage(url);
    await page.runs();
    page.socket.pause();
    page.say({ type: 'open', runId: 'long', from: 0 });
    await expect.poll(() => state.read).toBeGreaterThan(2_000);
    let before = 0;
    const since = (): number => {
      const more = state.read - before;
      before = state.read;
      return more;
    };
    await expect.poll(since, { interval: 100 }).toBe(0);
    expect(state.isLeft).toBe(false);
    page.socket.terminate();
    await expect.poll(() => state.isLeft).toBe(true);
    expect(state.read).toBe(before);
  });

  it('is no longer read once the page closes it, and others continue', async () => {
    const { state, store } = endlessJournal(aStart());
    const page = await openPage((await startInspector({ journals: store })).url);
    page.say({ type: 'open', runId: 'long', from: 0 });
    await expect.poll(() => page.lines('long').length).toBeGreaterThan(1_000);
    page.say({ type: 'close', runId: 'long' });
    await expect.poll(() => state.isLeft).toBe(true);
    page.say({ type: 'open', runId: 'nothing', from: 0 });
    await page.end('nothing');
    const had = page.lines('long').length;
    await settle();
    expect(page.lines('long')).toHaveLength(had);
  });

  it('is no longer read once the server closes', async () => {
    const { state, store } = endlessJournal(aStart());
    const server = await startInspector({ journals: store });
    const page = await openPage(server.url);
    page.say({ type: 'open', runId: 'long', from: 0 });
    await expect.poll(() => page.lines('long').length).toBeGreaterThan(100);
    await server.close();
    await expect.poll(() => state.isLeft).toBe(true);
  });

  it('counts toward the limit of sixteen open recordings per page', async () => {
    const { store } = endlessJournal(aStart(), () => new Promise(() => {}));
    const journals = {
      ...store,
      list: async () => Array.from({ length: 17 }, (_, number) => ({ ...SUMMARY, id: `long-${number}` })),
    };
    const page = await openPage((await startInspector({ journals })).url);
    for (let number = 0; number < 17; number += 1) page.say({ type: 'open', runId: `long-${number}`, from: 0 });
    expect((await page.end('long-16')).problem).toBe('This page has 16 runs open; close one first.');
    page.say({ type: 'close', runId: 'long-3' });
    page.say({ type: 'open', runId: 'none', from: 0 });
    expect((await page.end('none')).problem).toBe('There is no run "none".');
  });

  it('stops counting toward that limit once it was sent in full', async () => {
    const start = aStart();
    const journals = {
      list: async () => Array.from({ length: 17 }, (_, number) => ({ ...SUMMARY, id: `short-${number}` })),
      async *read() {
        yield start;
      },
    } as unknown as JournalStore;
    const page = await openPage((await startInspector({ journals })).url);
    for (let number = 0; number < 17; number += 1) {
      page.say({ type: 'open', runId: `short-${number}`, from: 0 });
      expect((await page.end(`short-${number}`)).problem).toBeNull();
    }
  });

  it('is not sent if it is closed while it is being looked up', async () => {
    let give = (_: readonly ActorSummary[]): void => {};
    const given = new Promise<readonly ActorSummary[]>((resolve) => {
      give = resolve;
    });
    let looks = 0;
    const { store } = endlessJournal(aStart());
    const list = async () => {
      looks += 1;
      return looks === 1 ? [] : given;
    };
    const page = await openPage((await startInspector({ journals: { ...store, list } as JournalStore })).url);
    page.say({ type: 'open', runId: 'long', from: 0 });
    page.say({ type: 'close', runId: 'long' });
    const sent = page.request({ type: 'send', runId: 'none', event: null });
    await expect.poll(() => looks).toBe(2);
    give([SUMMARY]);
    expect(await sent).toMatchObject({ problem: 'There is no run "none".' });
    expect(page.all('charts')).toEqual([]);
  });
});
