import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { JournalEntry } from '../../../machines/contracts/journal-entry.ts';
import { fileJournals, journalFile } from '../../../src/journal/stores/file-journals.ts';
import type { JournalStore, RunSummary } from '../../../src/journal/stores/journal-store.ts';
import { memoryJournals } from '../../../src/journal/stores/memory-journals.ts';
import { temporaryFolder } from '../../support/cli.ts';
import { openPage, startInspector } from '../../support/inspector-page.ts';
import { fileWith, linesOf } from '../../support/journal-file.ts';
import { scriptedChain, settle, startScripted } from '../../support/run-chain.ts';

/** A run that is over, and its journal as the store has it. */
async function recorded(journals: JournalStore, runId = 'run-1') {
  const { chain } = scriptedChain({}, { journals, newId: () => runId });
  const run = chain.run({ request: `Is it ${runId}?` });
  await run.answer;
  return run.journal;
}

const SUMMARY: RunSummary = {
  runId: 'long',
  request: 'How long?',
  startedAt: '2026-01-01T00:00:00.000Z',
  forkedFrom: null,
  status: 'completed',
};

/** A journal that goes on as long as it is read; it counts how far that was, and whether it was left. */
function endlessJournal(start: JournalEntry, before: (seq: number) => Promise<void> = async () => {}) {
  const state = { read: 0, isLeft: false };
  const store = {
    list: async () => [SUMMARY],
    async *read(): AsyncGenerator<JournalEntry> {
      try {
        yield start;
        for (let seq = 1; ; seq += 1) {
          await before(seq);
          state.read = seq;
          yield { seq, atMs: seq, type: 'text-delta', attemptId: 'a', text: 'so '.repeat(300) };
        }
      } finally {
        state.isLeft = true;
      }
    },
  } as unknown as JournalStore;
  return { state, store };
}

const aStart = (): JournalEntry => startScripted().run.journal[0] as JournalEntry;

describe('a recording', () => {
  it.each([
    ['in memory', () => memoryJournals()],
    ['in files', () => fileJournals(temporaryFolder())],
  ])('%s is listed, the newest first, and told whole', async (_, make) => {
    const journals = make();
    const journal = await recorded(journals);
    const { url } = await startInspector({ journals });
    const page = await openPage(url);
    const { runs, chosen } = await page.runs();
    expect(chosen).toBeNull();
    expect(runs).toEqual([
      expect.objectContaining({
        runId: 'run-1',
        title: 'Is it run-1?',
        status: 'completed',
        live: false,
        fidelity: [],
      }),
    ]);
    page.say({ type: 'open', runId: 'run-1', from: 0 });
    expect((await page.end('run-1')).problem).toBeNull();
    expect(page.lines('run-1')).toEqual(journal.map((entry) => JSON.stringify(entry)));
    expect(page.all('charts')).toHaveLength(1);
  });

  it('goes on from where a page had it', async () => {
    const journals = memoryJournals();
    const journal = await recorded(journals);
    const page = await openPage((await startInspector({ journals })).url, 20);
    page.say({ type: 'open', runId: 'run-1', from: 20 });
    await page.end('run-1');
    expect(page.entries('run-1')).toEqual(journal.slice(20));
  });

  it('that was made meanwhile is known to the next page, and opened by its id at once', async () => {
    const journals = memoryJournals();
    const { url } = await startInspector({ journals });
    const early = await openPage(url);
    expect((await early.runs()).runs).toEqual([]);
    await recorded(journals, 'run-2');
    early.say({ type: 'open', runId: 'run-2', from: 0 });
    expect((await early.end('run-2')).problem).toBeNull();
    const page = await openPage(url);
    expect((await page.runs(({ runs }) => runs.length === 1)).runs[0]?.runId).toBe('run-2');
  });

  it('is opened first where it was chosen', async () => {
    const journals = memoryJournals();
    await recorded(journals);
    const server = await startInspector({ journals });
    server.choose('run-1');
    expect((await (await openPage(server.url)).runs()).chosen).toBe('run-1');
  });

  it('that there is not is told, as is what cannot be told anything', async () => {
    const journals = memoryJournals();
    await recorded(journals);
    const page = await openPage((await startInspector({ journals })).url);
    page.say({ type: 'open', runId: '../run-1', from: 0 });
    expect(await page.end('../run-1')).toMatchObject({ problem: 'There is no run "../run-1" here.' });
    page.say({ type: 'send', id: 3, runId: 'run-1', event: { type: 'run.cancelled' } });
    expect(await page.reply(3)).toMatchObject({ problem: 'It is not under way here: it cannot be told anything.' });
  });

  it('that is damaged is told as far as it is whole, with the reason', async () => {
    const memory = memoryJournals();
    const journal = await recorded(memory);
    const lines = linesOf(journal).split('\n');
    const path = fileWith(lines.with(9, `${lines[9]?.slice(0, -3)}0"}`).join('\n'));
    const journals = journalFile(path);
    const page = await openPage((await startInspector({ journals })).url);
    const { runs } = await page.runs();
    page.say({ type: 'open', runId: path, from: 0 });
    expect(runs[0]?.runId).toBe(path);
    expect((await page.end(path)).problem).toMatch(/entry 9 cannot be read: its checksum does not fit/u);
    expect(page.entries(path)).toEqual(journal.slice(0, 9));
  });

  it('whose store fails is no reason for the server to', async () => {
    const journals = {
      list: async () => {
        throw new Error('no such disk');
      },
    } as unknown as JournalStore;
    const server = await startInspector({ journals });
    const { run } = startScripted();
    server.watch(run);
    const page = await openPage(server.url);
    await page.runs(({ runs }) => runs[0]?.live === false);
    page.say({ type: 'open', runId: 'other', from: 0 });
    expect((await page.end('other')).problem).toBe('There is no run "other" here.');
  });

  it('says what it leaves out, when it was opened', async () => {
    const place = temporaryFolder();
    const journals = fileJournals(place);
    const { run } = startScripted();
    const [start, ...others] = run.journal;
    const older = { ...start, chart: { id: 'postChain', digest: 'another' }, redacted: true } as JournalEntry;
    writeFileSync(`${place}/run-1.jsonl`, linesOf([older, ...others]));
    const page = await openPage((await startInspector({ journals })).url, 5);
    expect((await page.runs()).runs[0]?.fidelity).toEqual([]);
    page.say({ type: 'open', runId: 'run-1', from: 5 });
    const { runs } = await page.runs((list) => list.runs[0]?.fidelity.length === 3);
    expect(runs[0]?.fidelity).toEqual([
      'The chart has changed since it was recorded: what is drawn is the chart of now.',
      'Texts of it were replaced as they were written, and the pieces of replies left out.',
      'It keeps no states of the chart: what a state held at an entry is not known.',
    ]);
    expect(readFileSync(`${place}/run-1.jsonl`, 'utf8')).toContain('another');
  });

  it('that another process writes says so, until it does no longer', async () => {
    const journals = memoryJournals();
    const writer = journals.create('run-1');
    writer.write(aStart());
    const { url } = await startInspector({ journals });
    const [run] = (await (await openPage(url)).runs()).runs;
    const elsewhere = [expect.stringMatching(/^It is under way elsewhere/u)];
    expect(run).toMatchObject({ status: 'running', live: false, fidelity: elsewhere });
    writer.close();
    const later = await openPage(url);
    const { runs } = await later.runs((list) => list.runs[0]?.status !== 'running');
    expect(runs).toMatchObject([{ status: 'interrupted', fidelity: [] }]);
  });
});

describe('a long recording', () => {
  it('is on its way before it is read to its end', async () => {
    const { store } = endlessJournal(aStart(), (seq) => (seq < 1_000 ? Promise.resolve() : new Promise(() => {})));
    const page = await openPage((await startInspector({ journals: store })).url);
    page.say({ type: 'open', runId: 'long', from: 0 });
    await expect.poll(() => page.lines('long').length).toBeGreaterThan(500);
    expect(page.all('end')).toEqual([]);
    const [frame] = page.all('entries');
    expect(frame?.from).toBe(0);
    expect(page.all('entries').length).toBeGreaterThan(1);
  });

  it('is read no further than a page takes it, and no further at all when the page has gone', async () => {
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

  it('that is closed by the page is left, and others go on', async () => {
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

  it('is left when the server closes', async () => {
    const { state, store } = endlessJournal(aStart());
    const server = await startInspector({ journals: store });
    const page = await openPage(server.url);
    page.say({ type: 'open', runId: 'long', from: 0 });
    await expect.poll(() => page.lines('long').length).toBeGreaterThan(100);
    await server.close();
    await expect.poll(() => state.isLeft).toBe(true);
  });

  it('is one of sixteen that a page has open, at most', async () => {
    const { store } = endlessJournal(aStart(), () => new Promise(() => {}));
    const journals = {
      ...store,
      list: async () => Array.from({ length: 17 }, (_, number) => ({ ...SUMMARY, runId: `long-${number}` })),
    };
    const page = await openPage((await startInspector({ journals })).url);
    for (let number = 0; number < 17; number += 1) page.say({ type: 'open', runId: `long-${number}`, from: 0 });
    expect((await page.end('long-16')).problem).toBe('16 runs are open in this page: close one first.');
    page.say({ type: 'close', runId: 'long-3' });
    page.say({ type: 'open', runId: 'none', from: 0 });
    expect((await page.end('none')).problem).toBe('There is no run "none" here.');
  });

  it('is none of those sixteen when it was told to its end', async () => {
    const start = aStart();
    const journals = {
      list: async () => Array.from({ length: 17 }, (_, number) => ({ ...SUMMARY, runId: `short-${number}` })),
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

  it('that is closed while it is looked for is not told', async () => {
    let give = (_: readonly RunSummary[]): void => {};
    const given = new Promise<readonly RunSummary[]>((resolve) => {
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
    page.say({ type: 'send', id: 1, runId: 'none', event: null });
    await expect.poll(() => looks).toBe(2);
    give([SUMMARY]);
    expect(await page.reply(1)).toMatchObject({ problem: 'There is no run "none" here.' });
    expect(page.all('charts')).toEqual([]);
  });
});

describe('a test of a recording', () => {
  it('is one for Vitest', async () => {
    const journals = memoryJournals();
    await recorded(journals);
    const page = await openPage((await startInspector({ journals })).url);
    page.say({ type: 'test', id: 1, runId: 'run-1' });
    const reply = await page.reply(1);
    expect(reply).toMatchObject({ type: 'test', problem: null });
    expect((reply as { text: string }).text).toContain("new URL('./run.jsonl', import.meta.url)");
  });

  it('is none where it does not come out the same, and where there is none', async () => {
    const journals = memoryJournals();
    const [start, ...others] = (await recorded(memoryJournals())) as [JournalEntry, ...JournalEntry[]];
    const writer = journals.create('run-1');
    for (const entry of [start, ...others.map((other) => ({ ...other, atMs: 1 }))])
      writer.write(entry.type === 'phase-end' ? ({ ...entry, phase: 'yield' } as JournalEntry) : entry);
    writer.close();
    const page = await openPage((await startInspector({ journals })).url);
    page.say({ type: 'test', id: 1, runId: 'run-1' });
    page.say({ type: 'test', id: 2, runId: 'run-2' });
    expect(await page.reply(1)).toMatchObject({ text: '', problem: expect.stringMatching(/record it anew first/u) });
    expect(await page.reply(2)).toMatchObject({ text: '', problem: 'There is no run "run-2" here.' });
  });
});
