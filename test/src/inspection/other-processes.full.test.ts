import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { storedEntry } from '../../../src/chain/journal/stored-entries.ts';
import { fileJournals } from '../../../src/durable/journals/file-journals.ts';
import { sqliteJournals } from '../../../src/durable/journals/sqlite-journals.ts';
import { temporaryFolder } from '../../support/cli.ts';
import { openPage, startInspector } from '../../support/inspection-server.ts';
import { startWriter } from '../../support/journal-writers.ts';
import { startScripted } from '../../support/run-chain.ts';

const { run } = startScripted();
await run.answer;
const all = run.entries;
const stored = all.map(storedEntry);
const half = all.findIndex(({ type }) => type === 'phase-end') + 1;

describe.each(['file', 'sqlite'] as const)('a run of another process, in a %s store', (kind) => {
  async function stores() {
    const place = join(temporaryFolder(), kind === 'file' ? 'journals' : 'runs.db');
    const journals = kind === 'file' ? fileJournals(place) : sqliteJournals(place);
    const page = await openPage((await startInspector({ journals })).url);
    expect((await page.runs()).runs).toEqual([]);
    return { place, journals, page, writer: await startWriter(kind, place, false) };
  }

  it('appears by itself, is followed while it is written, and is listed with its figures when it has ended', async () => {
    const { page, writer } = await stores();
    await writer.order({ create: 'run-1' });
    await writer.order({ write: stored.slice(0, half) });
    const { runs } = await page.runs((list) => list.runs.length === 1);
    expect(runs[0]).toMatchObject({ runId: 'run-1', title: 'Is it so?', status: 'running', live: false });
    page.say({ type: 'open', runId: 'run-1', from: 0 });
    await expect.poll(() => page.entries('run-1').length).toBe(half);
    await expect.poll(() => page.all('states').length).toBeGreaterThan(0);
    expect(page.all('end')).toEqual([]);
    await writer.order({ write: stored.slice(half) });
    await writer.order({ close: true });
    expect((await page.end('run-1')).problem).toBeNull();
    expect(page.entries('run-1')).toEqual(all);
    const ended = await page.runs((list) => list.runs[0]?.status === 'completed');
    const { metadata, confidence, reasons, answerText, grounding } = await run.answer;
    expect(ended.runs[0]?.summary).toEqual({
      rule: metadata.decision?.rule,
      explanation: reasons.map(({ message }) => message).join(' '),
      reason: metadata.reason,
      answer: answerText,
      unsupported: grounding?.unsupported.length ?? null,
      phase: null,
      waitingFor: null,
      tokens: {
        input: metadata.usage.inputTokens,
        output: metadata.usage.outputTokens,
        estimated: metadata.usage.estimated,
      },
      cost: null,
      durationMs: all.at(-1)?.atMs,
      clockStartMs: 0,
      models: ['scripted'],
      confidence,
      sessionId: null,
    });
  });

  it('whose process is killed becomes interrupted, with what it did so far', async () => {
    const { page, writer } = await stores();
    await writer.order({ create: 'run-1' });
    await writer.order({ write: stored.slice(0, half) });
    await page.runs((list) => list.runs[0]?.status === 'running');
    page.say({ type: 'open', runId: 'run-1', from: 0 });
    writer.signal('SIGKILL');
    await writer.ended;
    const counted = await page.runs(
      ({ runs }) => runs[0]?.status === 'interrupted' && runs[0].summary?.durationMs != null,
    );
    expect(counted.runs[0]?.summary).toMatchObject({ confidence: null, rule: null });
    expect((await page.end('run-1')).problem).toBeNull();
    expect(page.entries('run-1')).toEqual(all.slice(0, half));
  });

  it('disappears when it is deleted', async () => {
    const { page, writer, journals } = await stores();
    await writer.order({ create: 'run-1' });
    await writer.order({ write: stored });
    await writer.order({ close: true });
    await page.runs((list) => list.runs[0]?.status === 'completed');
    await journals.delete?.('run-1');
    await page.runs((list) => list.runs.length === 0);
  });
});
