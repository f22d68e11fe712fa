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
const MOST_READ = 250;

const entries: readonly JournalEntry[] = longRun(recordedEntries(await failingRun()), ENTRIES);
const tests = await inspectorTests('the page on a long run', { journals: storeOf([entries]) });

declare global {
  interface Window {
    /** Counts the texts parsed as JSON: one for each entry that a panel requests. */
    parsed: number;
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

describe.skipIf(tests.areSkipped)(`a run of ${ENTRIES} entries`, () => {
  it('opens and scrubs with bounded memory and reads few entries per move', async () => {
    const { page } = await tests.open(`/run/${entries[0]?.type === 'start' ? entries[0].input.runId : ''}`, {
      before: async (opened) => void (await opened.addInitScript(countParsed)),
    });
    await waitForEntries(page, ENTRIES);
    const found: string[] = [];
    for (const name of PANEL_NAMES) {
      await showPanel(page, name);
      for (const share of [0.02, 0.9, 0.34]) {
        const before = await page.evaluate(() => window.parsed);
        await page.evaluate(
          (seq) => {
            location.hash = location.hash.replace(/^(#\/run\/[^/?]+)(?:\/\d+)?/u, `$1/${seq}`);
          },
          Math.round(share * ENTRIES),
        );
        await nextFrames(page);
        const [nodes, parsed] = await page.evaluate(() => [document.querySelectorAll('*').length, window.parsed]);
        if ((nodes ?? 0) > MOST_NODES) found.push(`${name}: ${nodes} elements`);
        if ((parsed ?? 0) - before > MOST_READ)
          found.push(`${name} at ${share}: ${(parsed ?? 0) - before} entries read`);
      }
    }
    expect(found).toEqual([]);
  });
});
