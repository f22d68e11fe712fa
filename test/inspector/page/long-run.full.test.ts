import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { failingRun, longRun, recordedEntries, storeOf } from '../../support/inspector/inspected-runs.ts';
import {
  inspectorTests,
  nextFrames,
  PANEL_NAMES,
  showPanel,
  waitForEntries,
} from '../../support/inspector/inspector-page.ts';
import { sampleSize } from '../../support/soak.ts';

const ENTRIES = sampleSize('entries of a run on the page', 20_000, 100_000);
/** The chart accounts for more than half of them. */
const MOST_NODES = 5_000;
/** Those around a cursor and the visible rows of a list. */
const MOST_READ = 100;
/** Places far from each other, as shares of the run. */
const SHARES = [0.1, 0.9, 0.2, 0.8, 0.3, 0.7, 0.4, 0.6];
/** The rows around such a place have twice as many elements. */
const MOST_CREATED = 300;
/** If there are more, parts of the page that did not change are among them. */
const MOST_STYLED = 440;

const entries: readonly JournalEntry[] = longRun(recordedEntries(await failingRun()), ENTRIES);
const runId = entries[0]?.type === 'start' ? entries[0].input.runId : '';
const tests = await inspectorTests('the page on a long run', { journals: storeOf([entries]) });

declare global {
  interface Window {
    /** Counts the texts parsed as JSON: one for each entry that a panel requests. */
    parsed: number;
    /** Counts the elements that the page creates. */
    created: number;
  }
}

function countParsed(): void {
  window.parsed = 0;
  const { parse } = JSON;
  JSON.parse = (...given: Parameters<typeof parse>) => {
    window.parsed += 1;
    return parse(...given);
  };
}

function countCreated(): void {
  window.created = 0;
  const { createElementNS } = document;
  Object.assign(document, {
    createElementNS: (...given: Parameters<typeof createElementNS>) => {
      window.created += 1;
      return createElementNS.apply(document, given);
    },
  });
}

/** Returns how many elements the browser computes styles for while `act` runs. */
async function styledDuring(page: Page, act: () => Promise<void>): Promise<number> {
  const client = await page.context().newCDPSession(page);
  let styled = 0;
  client.on('Tracing.dataCollected', ({ value }) => {
    for (const { name, args } of value as readonly { name?: string; args?: { elementCount?: number } }[])
      if (name === 'UpdateLayoutTree') styled += args?.elementCount ?? 0;
  });
  const isComplete = new Promise((resolve) => client.once('Tracing.tracingComplete', resolve));
  const traceConfig = { includedCategories: ['devtools.timeline'] };
  await client.send('Tracing.start', { transferMode: 'ReportEvents', traceConfig });
  await act();
  await client.send('Tracing.end');
  await isComplete;
  return styled;
}

/** Moves the cursor to this share of the run. */
async function moveTo(page: Page, share: number): Promise<void> {
  await page.evaluate(
    (seq) => {
      location.hash = location.hash.replace(/^(#\/run\/[^/?]+)(?:\/\d+)?/u, `$1/${seq}`);
    },
    Math.round(share * ENTRIES),
  );
  await nextFrames(page);
}

describe.skipIf(tests.areSkipped)(`a run of ${ENTRIES} entries`, () => {
  it('opens and scrubs with bounded memory and reads few entries per move', async () => {
    const { page } = await tests.open(`/run/${runId}`, {
      before: async (opened) => void (await opened.addInitScript(countParsed)),
    });
    await waitForEntries(page, ENTRIES);
    const found: string[] = [];
    for (const name of PANEL_NAMES) {
      await showPanel(page, name);
      for (const share of [0.02, 0.9, 0.34]) {
        const before = await page.evaluate(() => window.parsed);
        await moveTo(page, share);
        const [nodes, parsed] = await page.evaluate(() => [document.querySelectorAll('*').length, window.parsed]);
        if ((nodes ?? 0) > MOST_NODES) found.push(`${name}: ${nodes} elements`);
        if ((parsed ?? 0) - before > MOST_READ)
          found.push(`${name} at ${share}: ${(parsed ?? 0) - before} entries read`);
      }
    }
    expect(found).toEqual([]);
  });

  it('creates few elements per move, and styles only what has changed', async () => {
    const { page } = await tests.open(`/run/${runId}`, {
      before: async (opened) => void (await opened.addInitScript(countCreated)),
    });
    await waitForEntries(page, ENTRIES);
    await moveTo(page, 0.5);
    // Work that the page does once, when it is idle, would count as part of a move.
    await page.evaluate(() => new Promise((resolve) => requestIdleCallback(resolve)));
    const created = await page.evaluate(() => window.created);
    const styled = await styledDuring(page, async () => {
      for (const share of SHARES) await moveTo(page, share);
    });
    const perMove = (count: number): number => count / SHARES.length;
    expect(perMove((await page.evaluate(() => window.created)) - created)).toBeLessThan(MOST_CREATED);
    expect(perMove(styled)).toBeLessThan(MOST_STYLED);
  });
});
