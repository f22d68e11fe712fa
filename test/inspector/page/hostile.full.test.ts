import { createHash } from 'node:crypto';
import fc from 'fast-check';
import type { Page, WebSocketRoute } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { exportRun } from '../../../src/inspection/export-run.ts';
import type { PageMessage } from '../../../src/inspection/page-messages.ts';
import { type ExportedRun, type ServerMessage, WIRE_VERSION } from '../../../src/inspection/wire.ts';
import { type LineMutations, lineMutations, mutateLines, mutateValue } from '../../support/hostile-input.ts';
import { failingRun, manualRun, ownCharts, plainRun, recordedEntries } from '../../support/inspector/inspected-runs.ts';
import { inspectorTests, openRun } from '../../support/inspector/inspector-page.ts';
import { SEED } from '../../support/random.ts';
import { isSoak, sampleSize } from '../../support/soak.ts';

const tests = await inspectorTests('the page on hostile journals');
/** Logged when something is found. */
const again = `POSTCHAIN_SEED=${SEED}${isSoak ? ' POSTCHAIN_SOAK=1' : ''} finds it again`;

const journals = [await plainRun(), await failingRun(), await manualRun()].map((run) =>
  recordedEntries(run).map((entry: JournalEntry) => JSON.stringify(entry)),
);

interface Hostile {
  readonly journal: number;
  readonly changes: LineMutations;
  /** Changes to the charts and to the listed run. */
  readonly around: LineMutations | null;
}

const aHostile: fc.Arbitrary<Hostile> = fc.record({
  journal: fc.nat(journals.length - 1),
  changes: lineMutations,
  around: fc.option(lineMutations, { freq: 4 }),
});

function exportedOf({ journal, changes, around }: Hostile, runId: string): ExportedRun {
  const lines = mutateLines(journals[journal] ?? [], changes);
  const run = { runId, kind: 'run', title: `Run ${runId}`, startedAt: '', status: 'completed', live: false } as const;
  const prompts = { lines: [], bySeq: {}, problem: null };
  const whole = {
    version: WIRE_VERSION,
    states: [],
    prompts,
    run: { ...run, fidelity: [], summary: null },
    charts: ownCharts,
  } as const;
  return { ...whole, lines, ...(around !== null && { charts: mutateValue(ownCharts, around) }) };
}

/** Opens all parts of the page at some entries and returns the blank ones. */
async function visit(page: Page): Promise<readonly string[]> {
  return page.evaluate(async () => {
    const frame = (): Promise<void> =>
      new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve())));
    const press = (key: string): boolean =>
      document.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
    const blank: string[] = [];
    const look = (where: string): void => {
      const text = document.querySelector('#page')?.textContent ?? '';
      if (text.trim().length < 10) blank.push(`${where}: the page`);
      else if (document.querySelector('main.page') !== null)
        for (const index of ['#panel', '.chart-area', '.trace-area'])
          if (document.querySelector(index)?.childElementCount === 0) blank.push(`${where}: ${index}`);
    };
    await frame();
    for (const move of ['End', 'Shift+ArrowLeft', 'Home', 'Shift+ArrowRight']) {
      press(move);
      await frame();
      look(`at ${move}`);
      for (const part of document.querySelectorAll<HTMLElement>('#panel summary, #panel .branch')) part.click();
      await frame();
      look(`parts at ${move}`);
    }
    return blank;
  });
}

describe.skipIf(tests.areSkipped)('the page with invalid journals', () => {
  it('shows the valid part of runs from a server and can open the next one', async () => {
    const cases = fc.sample(aHostile, { numRuns: sampleSize('hostile journals from a server', 6, 120) });
    const given = new Map(cases.map((hostile, index) => [`h${index}`, exportedOf(hostile, `h${index}`)]));
    let socket: WebSocketRoute | null = null;
    const tell = (message: ServerMessage, lines: readonly string[] = []): void =>
      socket?.send([JSON.stringify(message), ...lines].join('\n'));
    const watched = await tests.open('', {
      before: (page) =>
        page.routeWebSocket(/\/socket$/u, (opened) => {
          socket = opened;
          tell({ type: 'hello', version: WIRE_VERSION, events: [], continues: false });
          opened.onMessage((text) => {
            const message = JSON.parse(String(text)) as PageMessage;
            const run = given.get('runId' in message ? message.runId : '');
            if (message.type !== 'open' || run === undefined) return;
            const { runId } = message;
            tell({ type: 'charts', runId, ...run.charts });
            tell({ type: 'entries', runId, from: 0 }, run.lines);
            tell({ type: 'end', runId, problem: null });
          });
        }),
    });
    const { page } = watched;
    const faults: string[] = [];
    const ids = [...given.keys()];
    await page.locator('.page-header').waitFor();
    for (const [index, runId] of ids.entries()) {
      const before = watched.problems.length;
      const listed = ids.slice(Math.max(0, index - 1), index + 1).reverse();
      tell({
        type: 'runs',
        runs: listed.flatMap((id) => given.get(id)?.run ?? []),
        removed: [],
        isAll: true,
        chosen: null,
        unread: 0,
      });
      await openRun(page, runId);
      const blank = await visit(page);
      if (index > 0) {
        await page.evaluate((hash) => location.assign(hash), `#/compare/${ids[index - 1]}/${runId}`);
        await page.locator('.compare-page .cause, .compare-page [role=alert], .problem').first().waitFor();
      }
      for (const fault of [...blank, ...watched.problems.slice(before)])
        faults.push(`${runId}: ${fault} ${JSON.stringify(cases[index]?.changes).slice(0, 300)}`);
    }
    expect(faults, again).toEqual([]);
  });

  it('shows the valid part of a run in a file with a correct checksum', async () => {
    const { html } = await exportRun((journals[0] ?? []).map((line) => JSON.parse(line) as JournalEntry));
    const faults: string[] = [];
    for (const [index, hostile] of fc
      .sample(aHostile, { seed: SEED + 1, numRuns: sampleSize('hostile journals in a file', 2, 20) })
      .entries()) {
      const exported = mutateValue(
        exportedOf(hostile, `f${index}`),
        index % 2 === 0 ? [] : (hostile.around ?? hostile.changes),
      );
      const data = JSON.stringify(exported).replaceAll('<', '\\u003c');
      const checksum = createHash('sha256').update(data).digest('hex');
      const page = html.replace(/data-sha256="[^>]*>[^<]*/u, () => `data-sha256="${checksum}">${data}`);
      const watched = await tests.openFile(`${index}.html`, page);
      for (const fault of [...(await visit(watched.page)), ...watched.problems])
        faults.push(`${index}: ${fault} ${JSON.stringify(hostile).slice(0, 300)}`);
    }
    expect(faults, again).toEqual([]);
  });
});
