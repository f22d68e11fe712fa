import { readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createMachine } from 'xstate';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { storedEntry } from '../../../src/chain/journal/stored-entries.ts';
import { fileJournals, journalFile } from '../../../src/durable/journals/file-journals.ts';
import { journalText } from '../../../src/durable/journals/journal-lines.ts';
import type { JournalStore } from '../../../src/durable/journals/journal-store.ts';
import { memoryJournals } from '../../../src/durable/journals/memory-journals.ts';
import { createDurableMachine } from '../../../src/entries/durable.ts';
import { createPostChain } from '../../../src/entries/index.ts';
import { recordingsOf } from '../../../src/inspection/recordings.ts';
import { scriptedModel } from '../../../src/models/scripted.ts';
import { replies } from '../../../src/testing/replies.ts';
import { temporaryFolder } from '../../support/cli.ts';
import { openPage, startInspector } from '../../support/inspection-server.ts';
import { fileWith } from '../../support/journal-files.ts';
import { ONE_CALL_PER_PHASE, scriptedChain, startScripted } from '../../support/run-chain.ts';

/** An ended run and its stored journal. */
async function recorded(journals: JournalStore, runId = 'run-1') {
  const { chain } = scriptedChain({}, { journals, newId: () => runId });
  const run = chain.run({ request: `Is it ${runId}?` });
  await run.answer;
  return run.entries;
}

const textOf = (entries: readonly JournalEntry[]): string => journalText(entries.map(storedEntry));

/** A page of a server with a directory that has the journal of `run-1`, with changed lines. */
async function pageOfFolder(change: (lines: string[]) => string[] = (lines) => lines) {
  const place = temporaryFolder();
  const journal = await recorded(memoryJournals());
  writeFileSync(`${place}/run-1.jsonl`, change(textOf(journal).split('\n')).join('\n'));
  return { journal, page: await openPage((await startInspector({ journals: fileJournals(place) })).url) };
}

/** A page of a server that has one recorded run, `run-1`. */
async function recordedPage(from = 0) {
  const journals = memoryJournals();
  const journal = await recorded(journals);
  const server = await startInspector({ journals });
  return { journal, server, page: await openPage(server.url, from) };
}

describe('a recording', () => {
  it.each([
    ['in memory', () => memoryJournals()],
    ['in files', () => fileJournals(temporaryFolder())],
  ])('%s is listed newest first and sent in full', async (_, make) => {
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
    expect(page.all('entries').at(-1)).toMatchObject({ more: false });
    expect(page.all('charts')).toHaveLength(1);
  });

  it('is sent with the bytes of its pictures, but not of other files, live and from a store', async () => {
    const journals = memoryJournals();
    const model = scriptedModel({}, { otherwise: replies, accepts: ['image/*', 'application/pdf'] });
    const run = createPostChain({ profile: ONE_CALL_PER_PHASE, model, journals, newId: () => 'run-1' }).run({
      request: [
        { type: 'image', image: 'iVBORw0KGgo=', filename: 'photo.png' },
        { type: 'file', data: 'JVBERi0xLjQ=', filename: 'bill.pdf', mediaType: 'application/pdf' },
      ],
    });
    await run.answer;
    const live = await startInspector();
    live.watch(run);
    for (const { url } of [live, await startInspector({ journals })]) {
      const page = await openPage(url);
      await page.runs();
      page.say({ type: 'open', runId: 'run-1', from: 0 });
      expect((await page.end('run-1')).problem).toBeNull();
      const lines = page.lines('run-1');
      expect(lines).toHaveLength(run.entries.length);
      expect(lines.join()).toContain('"name":"photo.png","bytes":8,"data":"iVBORw0KGgo="');
      expect(lines.join()).toContain('"name":"bill.pdf","bytes":8,"data":""');
      expect(lines.join()).not.toContain('JVBERi0xLjQ=');
    }
  });

  it('is sent without its states if the page does not need them', async () => {
    const { journal, page } = await recordedPage();
    page.say({ type: 'open', runId: 'run-1', from: 0, states: false });
    await page.end('run-1');
    expect(page.lines('run-1')).toHaveLength(journal.length);
    expect(page.all('states')).toEqual([]);
    page.say({ type: 'open', runId: 'run-1', from: journal.length });
    await expect.poll(() => page.all('states').length).toBeGreaterThan(0);
  });

  it('continues from the position that a page already has', async () => {
    const { journal, page } = await recordedPage(20);
    page.say({ type: 'open', runId: 'run-1', from: 20 });
    await page.end('run-1');
    expect(page.entries('run-1')).toEqual(journal.slice(20));
  });

  it('created later is listed for the next page and can be opened by id immediately', async () => {
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

  it('is opened first if requested', async () => {
    const { server } = await recordedPage();
    server.choose('run-1');
    expect((await (await openPage(server.url)).runs()).chosen).toBe('run-1');
  });

  it('of a durable actor of another machine in the store is a system, even after the store is read again', async () => {
    const place = temporaryFolder();
    const machine = createMachine({ id: 'order', on: { GO: {} } });
    const actor = await createDurableMachine(machine, { journals: fileJournals(place) }).open('o-1');
    onTestFinished(() => actor.close());
    const recordings = recordingsOf(
      fileJournals(place),
      () => {},
      () => {},
    );
    for (const _ of ['first', 'again']) {
      await recordings.refresh();
      expect([...recordings.all()].map((source) => source.info())).toMatchObject([{ runId: 'o-1', kind: 'system' }]);
    }
  });

  it('that does not exist is reported, and so is an event sent to a recording', async () => {
    const { page } = await recordedPage();
    page.say({ type: 'open', runId: '../run-1', from: 0 });
    expect(await page.end('../run-1')).toMatchObject({ problem: 'There is no run "../run-1".' });
    expect(await page.request({ type: 'send', runId: 'run-1', event: { type: 'run.cancelled' } })).toMatchObject({
      problem: 'This run is not live; it accepts no events.',
    });
  });

  it('that is damaged is sent up to the damage, with the reason', async () => {
    const memory = memoryJournals();
    const journal = await recorded(memory);
    const lines = textOf(journal).split('\n');
    const damaged = lines[9]?.replace(/.(?="\}$)/u, (digit) => (digit === '0' ? '1' : '0')) ?? '';
    const path = fileWith(lines.with(9, damaged).join('\n'));
    const journals = journalFile(path);
    const page = await openPage((await startInspector({ journals })).url);
    const { runs } = await page.runs();
    page.say({ type: 'open', runId: path, from: 0 });
    expect(runs[0]?.runId).toBe(path);
    expect((await page.end(path)).problem).toMatch(/cannot read entry 9: checksum mismatch/u);
    expect(page.entries(path)).toEqual(journal.slice(0, 9));
  });

  it('with an invalid entry is damaged, and the page, which checks all entries, still gets all of them', async () => {
    const journal = await recorded(memoryJournals());
    const invalid = { ...journal[9], seq: 9, type: 'transition', candidates: 7 } as unknown as JournalEntry;
    const path = fileWith(textOf(journal.with(9, invalid)));
    const page = await openPage((await startInspector({ journals: journalFile(path) })).url);
    page.say({ type: 'open', runId: path, from: 0 });
    expect((await page.end(path)).problem).toMatch(/cannot read entry 9: not a journal entry/u);
    expect(page.lines(path)).toHaveLength(journal.length);
    await page.runs(({ runs }) => runs[0]?.status === 'damaged');
  });

  it('that is damaged in the middle is listed as damaged once it was read in full', async () => {
    const { page } = await pageOfFolder((lines) => lines.with(5, 'garbage{'));
    const { runs } = await page.runs((list) => list.runs[0]?.status === 'damaged');
    expect(runs[0]?.problem).toMatch(/cannot read entry \d+: not valid JSON/u);
  });

  it('that was read to its end is listed with the result of its checksums', async () => {
    const { journal, page } = await pageOfFolder();
    expect((await page.runs()).runs[0]?.integrity).toBe(undefined);
    page.say({ type: 'open', runId: 'run-1', from: 0 });
    const { runs } = await page.runs((list) => list.runs[0]?.integrity !== undefined);
    expect(runs[0]?.integrity).toBe(`Intact: the checksums of all ${journal.length} entries are correct.`);
  });

  it.each([
    ['start', 0],
    ['end', -2],
  ])('with a damaged %s is listed with the reason, without being opened', async (_, at) => {
    const { page } = await pageOfFolder((lines) => lines.with(at, 'garbage{'));
    const { runs } = await page.runs((list) => list.runs[0]?.problem !== undefined);
    expect(runs).toMatchObject([{ status: 'damaged', problem: expect.stringMatching(/not valid JSON/u) }]);
  });

  it('in a directory is read before those that were written earlier, and counted down', async () => {
    const place = temporaryFolder();
    const text = textOf(await recorded(memoryJournals()));
    for (const [index, name] of ['middle', 'oldest', 'newest'].entries()) {
      writeFileSync(`${place}/${name}.jsonl`, text);
      const writtenAt = [2_000, 1_000, 3_000][index] ?? 0;
      utimesSync(`${place}/${name}.jsonl`, writtenAt, writtenAt);
    }
    const listed: [string, number][] = [];
    let isAllRead = false;
    const recordings = recordingsOf(
      fileJournals(place),
      (runId) => listed.push([runId, recordings.unread]),
      () => {
        isAllRead = true;
      },
    );
    await recordings.refresh();
    expect(listed).toEqual([
      ['newest', 2],
      ['middle', 1],
      ['oldest', 0],
    ]);
    expect(isAllRead).toBe(true);
  });

  it('whose store fails does not stop the server', async () => {
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
    expect((await page.end('other')).problem).toBe('There is no run "other".');
  });

  it('reports omitted entries when it is opened', async () => {
    const place = temporaryFolder();
    const journals = fileJournals(place);
    const { run } = startScripted();
    const [start, ...others] = run.entries;
    const product = { ...Object(start).product, redacted: true };
    const machine = { id: 'postChain', version: null, digest: 'another' };
    const older = { ...start, machine, product } as JournalEntry;
    writeFileSync(`${place}/run-1.jsonl`, textOf([older, ...others]));
    const page = await openPage((await startInspector({ journals })).url, 5);
    expect((await page.runs()).runs[0]?.fidelity).toEqual([]);
    page.say({ type: 'open', runId: 'run-1', from: 5 });
    const { runs } = await page.runs((list) => list.runs[0]?.fidelity.length === 3);
    expect(runs[0]?.fidelity).toEqual([
      'The chart has changed since the run was recorded; the current chart is shown.',
      'The journal was redacted when it was written; streamed text is left out.',
      'Another version of the chart recorded the run, so its state is unknown.',
    ]);
    expect(readFileSync(`${place}/run-1.jsonl`, 'utf8')).toContain('another');
  });

  it('written by another process is followed until that process ends', async () => {
    const journals = memoryJournals();
    const writer = journals.create('run-1');
    writer.write(startScripted().run.entries.slice(0, 1).map(storedEntry));
    const { url } = await startInspector({ journals });
    const [run] = (await (await openPage(url)).runs()).runs;
    expect(run).toMatchObject({ status: 'running', live: false, fidelity: [] });
    writer.close();
    const later = await openPage(url);
    const { runs } = await later.runs((list) => list.runs[0]?.status !== 'running');
    expect(runs).toMatchObject([{ status: 'interrupted', fidelity: [] }]);
  });
});

describe("a run in a store that is not PostChain's own", () => {
  it('appears by itself and is followed while it is written', async () => {
    const memory = memoryJournals();
    const { run } = startScripted();
    await run.answer;
    const stored = run.entries.map(storedEntry);
    const page = await openPage((await startInspector({ journals: { ...memory } })).url);
    const writer = memory.create('run-1');
    writer.write(stored.slice(0, 30));
    await page.runs((list) => list.runs[0]?.status === 'running');
    page.say({ type: 'open', runId: 'run-1', from: 0 });
    await expect.poll(() => page.lines('run-1').length).toBe(30);
    writer.write(stored.slice(30));
    writer.close();
    await page.end('run-1');
    expect(page.entries('run-1')).toEqual(run.entries);
    await page.runs((list) => list.runs[0]?.summary?.confidence != null);
  });
});
