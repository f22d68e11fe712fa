import fc from 'fast-check';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { isExternal } from '../../../src/durable/entries.ts';
import type { PageMessage } from '../../../src/inspection/page-messages.ts';
import { type ServerMessage, WIRE_VERSION } from '../../../src/inspection/wire.ts';
import { failingRun, manualRun, ownCharts, recordedEntries } from '../../support/inspector/inspected-runs.ts';
import { inspectorTests, openRun, selectEntry, waitForEntries } from '../../support/inspector/inspector-page.ts';

const tests = await inspectorTests('that no panel shows what came later');

const journals = [recordedEntries(await failingRun()), recordedEntries(await manualRun())];

/** What one event causes is stored at once, so a journal ends between two steps. */
const endOfStep = (entries: readonly JournalEntry[], seq: number): number => {
  const next = entries.findIndex((entry, at) => at > seq && isExternal(entry));
  return next < 0 ? entries.length - 1 : next - 1;
};

/** Returns the text of the selected step. If nothing follows an entry, its step is running; otherwise, it has not finished there. */
async function toldBy(page: Page): Promise<string> {
  const text = await page.locator('#panel').innerText();
  return text.replace(/\b(?:running|not finished at this point)\b/gu, '(open)');
}

describe.skipIf(tests.areSkipped)('the selected step at an entry', () => {
  it('shows the same as when that entry is the newest', async () => {
    const looks = journals.flatMap((entries, index) => {
      const seqs = fc.sample(fc.nat(entries.length - 1), { seed: 7 + index, numRuns: 4 });
      // Operations are shown before the state that resulted from them.
      const done = entries.findIndex(({ type }) => type === 'operations');
      const ends = [...seqs, done].map((seq) => endOfStep(entries, seq));
      return ends.map((at) => ({ at, whole: `whole-${index}`, part: `part-${index}-${at}`, entries }));
    });
    const given = new Map(
      looks.flatMap(({ at, whole, part, entries }) => [
        [whole, entries] as const,
        [part, entries.slice(0, at + 1)] as const,
      ]),
    );
    const listed = [...given.keys()].map((runId) => {
      const run = { runId, kind: 'run', title: 'A run', startedAt: '', status: 'running', live: false } as const;
      return { ...run, fidelity: [], summary: null };
    });
    const { page } = await tests.open('', {
      before: (opened) =>
        opened.routeWebSocket(/\/socket$/u, (socket) => {
          const tell = (message: ServerMessage, lines: readonly string[] = []): void =>
            socket.send([JSON.stringify(message), ...lines].join('\n'));
          socket.onMessage((text) => {
            const message = JSON.parse(String(text)) as PageMessage;
            if (message.type !== 'open') return;
            const { runId } = message;
            const lines = (given.get(runId) ?? []).map((entry) => JSON.stringify(entry));
            tell({ type: 'charts', runId, ...ownCharts });
            tell({ type: 'entries', runId, from: 0 }, lines);
          });
          tell({ type: 'hello', version: WIRE_VERSION, events: [], continues: false });
          tell({ type: 'runs', runs: listed, removed: [], isAll: true, chosen: listed[0]?.runId ?? null, unread: 0 });
        }),
    });
    const choose = async (runId: string): Promise<void> => {
      await openRun(page, runId);
      await waitForEntries(page, given.get(runId)?.length ?? 0);
    };
    for (const { at, whole, part, entries } of looks) {
      // For a received event, Why shows what it led to, which is later.
      const entry = entries[at];
      if (entry === undefined || isExternal(entry)) continue;
      await choose(part);
      const expected = await toldBy(page);
      await choose(whole);
      await selectEntry(page, at);
      expect(await toldBy(page), `at entry ${at} of ${whole}`).toEqual(expected);
    }
  });
});
