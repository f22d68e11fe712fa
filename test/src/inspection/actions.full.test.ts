import { describe, expect, it, vi } from 'vitest';
import { storedEntry } from '../../../src/chain/journal/stored-entries.ts';
import { memoryJournals } from '../../../src/durable/journals/memory-journals.ts';
import type { RunActions } from '../../../src/inspection/run-actions.ts';
import type { ActResult, NeedsTrust, RequestResult, RunAction } from '../../../src/inspection/wire.ts';
import { openPage, startInspector, type TestPage } from '../../support/inspection-server.ts';
import { writeJournal } from '../../support/journal-files.ts';
import { scriptedChain, startScripted, unsureAnswer } from '../../support/run-chain.ts';

/** A store with an ended run, `whole`, and an interrupted one, `half`; the chain that recorded them, and its actions. */
async function recordings() {
  const journals = memoryJournals();
  let made = 0;
  const { chain, model } = scriptedChain({}, { journals, newId: () => (made++ === 0 ? 'whole' : `new-${made}`) });
  const run = chain.run({ request: 'Is it so?' });
  await run.answer;
  const interrupted = scriptedChain({}, { newId: () => 'half' }).chain.run({ request: 'Is it so?' });
  await interrupted.answer;
  const end = interrupted.entries.findIndex(({ type }) => type === 'phase-end') + 1;
  await writeJournal(journals, 'half', interrupted.entries.slice(0, end).map(storedEntry));
  const actions: RunActions = {
    resume: (runId, { force }) => chain.resume(runId, { force }),
    fork: (runId, change) => chain.fork(runId, change),
  };
  return { journals, actions, chain, model, journal: run.entries };
}

const act = (page: TestPage, runId: string, action: RunAction, confirmed: NeedsTrust | null = null) =>
  page.request({ type: 'act', runId, action, confirmed });

const done = (result: Partial<ActResult>): RequestResult<ActResult> => ({
  result: { runId: null, note: '', needsTrust: null, ...result },
  problem: null,
});

describe('a page acts on a recorded run', () => {
  it('resumes an interrupted run, which continues where it was, for the page that has it open', async () => {
    const { journals, actions, model } = await recordings();
    const page = await openPage((await startInspector({ journals, actions })).url);
    const { runs } = await page.runs((list) => list.runs.length === 2);
    expect(runs.find(({ runId }) => runId === 'half')).toMatchObject({ status: 'interrupted' });
    const before = model.calls.length;
    expect(await act(page, 'half', { type: 'resume' })).toEqual(done({ runId: 'half' }));
    await page.runs((list) => list.runs.some(({ runId, status }) => runId === 'half' && status === 'completed'));
    page.say({ type: 'open', runId: 'half', from: 0 });
    await page.end('half');
    expect(page.entries('half').some(({ type }) => type === 'resumed')).toBe(true);
    expect(page.entries('half').at(-1)).toMatchObject({ type: 'end', summary: { status: 'completed' } });
    expect(model.calls.length - before).toBeLessThan(before);
  });

  it('forks at an entry with changes; the new run is watched', async () => {
    const { journals, actions, journal } = await recordings();
    const page = await openPage((await startInspector({ journals, actions })).url);
    const at = journal.find(({ type }) => type === 'decision')?.seq ?? 0;
    const set = { 'limits.maxCycles': 2, 'thresholds.confidence': 0.99 };
    expect(await act(page, 'whole', { type: 'fork', at, set })).toEqual(done({ runId: 'new-2' }));
    // Its page opened it already; the address without a run still opens the list.
    const { runs, chosen } = await page.runs((list) => list.runs.length === 3);
    expect(chosen).toBe(null);
    expect(runs.find((run) => run.runId === 'new-2')?.forkedFrom).toEqual({ runId: 'whole', seq: at });
    page.say({ type: 'open', runId: 'new-2', from: 0 });
    await page.end('new-2');
    expect(page.entries('new-2')[0]).toMatchObject({
      forkedFrom: { actorId: 'whole', seq: at },
      product: { fork: { changes: ['limits.maxCycles=2', 'thresholds.confidence=0.99'] } },
    });
  });

  it('learns what is wrong with a change', async () => {
    const { journals, actions } = await recordings();
    const page = await openPage((await startInspector({ journals, actions })).url);
    const action = { type: 'fork', at: 5, set: { 'thresholds.nothing': 1 } } as const;
    expect((await act(page, 'whole', action)).problem).toMatch(
      /^"thresholds.nothing" does not exist; expected one of/u,
    );
  });

  it('is asked for trust first, and continues after it was given', async () => {
    const { journals, actions, chain } = await recordings();
    const doubt = { doubt: 'it was started by someone else', actions: ['start mcp "rm -rf /"'] };
    const careful: RunActions = {
      ...actions,
      resume: async (runId, { confirmed }) => (confirmed?.doubt === doubt.doubt ? chain.resume(runId) : doubt),
    };
    const page = await openPage((await startInspector({ journals, actions: careful })).url);
    expect(await act(page, 'half', { type: 'resume' })).toEqual(done({ needsTrust: doubt }));
    expect((await page.runs()).runs.every(({ live }) => !live)).toBe(true);
    expect(await act(page, 'half', { type: 'resume' }, doubt)).toEqual(done({ runId: 'half' }));
  });

  it('takes a run over from another process only while it waits, and only once', async () => {
    const { journals, actions } = await recordings();
    const other = startScripted({ yield: unsureAnswer(1, {}) }, { journals, newId: () => 'asks' }, { mode: 'manual' });
    await vi.waitUntil(() => other.run.entries.some(({ type }) => type === 'direction-asked'));
    const page = await openPage((await startInspector({ journals, actions })).url);
    expect(await act(page, 'half', { type: 'resume', force: true })).toMatchObject({
      problem: expect.stringMatching(/^The run was not taken over: it no longer waits for you/u),
    });
    expect((await act(page, 'asks', { type: 'resume' })).problem).toMatch(/is still running in this process/u);
    const taken = done({ runId: 'asks' });
    expect(await act(page, 'asks', { type: 'resume', force: true })).toEqual(taken);
    expect(await act(page, 'asks', { type: 'resume', force: true })).toEqual(taken);
    other.run.send({ type: 'run.finished' });
    expect((await other.run.answer).metadata.reason).toBe('interrupted');
    expect(await page.request({ type: 'send', runId: 'asks', event: { type: 'run.finished' } })).toMatchObject({
      problem: null,
    });
    await page.runs((list) => list.runs.some(({ runId, status }) => runId === 'asks' && status !== 'running'));
  });

  it('cannot continue runs on a server without actions', async () => {
    const { journals } = await recordings();
    const page = await openPage((await startInspector({ journals })).url);
    expect((await act(page, 'half', { type: 'resume' })).problem).toMatch(/^This inspector cannot continue runs/u);
  });
});
