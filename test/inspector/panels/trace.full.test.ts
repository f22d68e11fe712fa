import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import {
  failingRun,
  filePage,
  inSmallPieces,
  longRun,
  manualRun,
  readmeRun,
  recordedEntries,
  runToAnswer,
} from '../../support/inspector/inspected-runs.ts';
import { runClockUntil } from '../../support/inspector/page-checks.ts';
import { openLivePage, pageTests } from '../../support/inspector/test-page.ts';

const tests = await pageTests('the trace');
const PRICES = { currency: 'EUR', prices: [{ inputPerMillion: 2, outputPerMillion: 10 }] };
const entries = recordedEntries(await failingRun()).map((entry) =>
  entry.type === 'start' ? { ...entry, input: { ...entry.input, ...PRICES } } : entry,
);

const runIdOf = ([start]: readonly JournalEntry[]): string => (start?.type === 'start' ? start.input.runId : '');

async function open(run: readonly JournalEntry[] = entries, width = 1440): Promise<Page> {
  const url = filePage(run, tests.folder);
  const { page } = await tests.open(`/run/${runIdOf(run)}`, { url, width, height: 900 });
  await page.locator('.trace-row').first().waitFor();
  return page;
}

const rowsOf = (page: Page) => page.getByRole('treeitem');
const rowOf = (page: Page, name: RegExp) => page.getByRole('treeitem', { name });
const atOf = async (page: Page): Promise<number> => Number(await page.locator('.position').getAttribute('data-at'));
/** Opens every row by keyboard, and returns the words of all. */
async function openAll(page: Page, width = 1440): Promise<readonly string[]> {
  await page.setViewportSize({ width, height: 6_000 });
  for (;;) {
    const closed = page.locator('.trace-row[aria-expanded=false]').first();
    if ((await closed.count()) === 0) return (await rowsOf(page).allInnerTexts()).map((text) => text.trim());
    await closed.locator('.toggle').click();
  }
}

describe.skipIf(tests.areSkipped)('the trace', () => {
  it('has a row for every call of the journal, with its tokens and its failure', async () => {
    const page = await open();
    const rows = await openAll(page);
    const ends = entries.filter((entry) => entry.type === 'attempt-end');
    const calls = rows.filter((text) => text.startsWith('Call '));
    expect(calls).toHaveLength(entries.filter(({ type }) => type === 'attempt-start').length);
    for (const [index, { usage, failure }] of ends.entries()) {
      const lines = (calls[index] ?? '').split(/\s*\n\s*/u);
      expect(lines[0]).toBe(`Call ${index + 1}`);
      const tokens = usage.inputTokens + usage.outputTokens;
      expect(lines.join(' ').includes(`${tokens.toLocaleString('en-US')} tokens`)).toBe(tokens > 0);
      expect(lines.includes('failed')).toBe(failure !== null);
    }
  });

  it('names the failures of a folded cycle', async () => {
    const page = await open();
    await rowOf(page, /^Cycle 1/u)
      .locator('.toggle')
      .click();
    expect(await rowOf(page, /^Cycle 1/u).textContent()).toMatch(/2 phases failed.*calls failed, \d+ retried/u);
  });

  it('selects a step by click, dims what comes after it, and keeps the figures of the whole run', async () => {
    const page = await open();
    const end = entries.find((entry) => entry.type === 'attempt-end' && entry.attempt === 2);
    const row = (name: RegExp) => rowOf(page, name).first();
    const whole = await row(/^Action/u).innerText();
    await row(/^Call 2/u).click();
    await expect.poll(() => atOf(page)).toBe(end?.seq);
    expect(await row(/^Call 2/u).getAttribute('aria-selected')).toBe('true');
    expect(await row(/^Action/u).innerText()).toBe(whole);
    expect(await row(/^Experience/u).getAttribute('class')).toContain('later');
    expect(await row(/^Call 1/u).getAttribute('class')).not.toContain('later');
    const [observation, call6, call7] = [row(/^Observation/u), row(/^Call 6/u), row(/^Call 7/u)];

    await page.getByRole('tree', { name: 'Trace' }).blur();
    await page.keyboard.press('Home');
    await expect.poll(() => atOf(page)).toBe(0);
    await page.getByRole('button', { name: 'Go to the end' }).click();
    await expect.poll(() => atOf(page)).toBe(entries.length - 1);
    expect(await observation.textContent()).toMatch(/failed.*does not match/u);
    for (const call of [call6, call7]) {
      expect(await call.locator('.note').textContent()).toMatch(/same error as the phase$/u);
      expect(await call.locator('.result').count()).toBe(0);
    }
  });

  it.each([1280, 390])('has no blank line in a row: %d px', async (width) => {
    const cut = entries.slice(0, entries.findIndex(({ type }) => type === 'capability-start') + 1);
    for (const run of [entries, cut, recordedEntries(await manualRun())]) {
      const page = await open(run, width);
      await openAll(page, width);
      const blank = await rowsOf(page).evaluateAll((rows) =>
        rows.flatMap((row) => {
          const boxes = [...row.querySelectorAll('.name, .result')].map((text) => text.getBoundingClientRect());
          const used = Math.max(...boxes.map(({ bottom }) => bottom)) - Math.min(...boxes.map(({ top }) => top));
          const left = row.getBoundingClientRect().height - used;
          const axis = row.closest('.narrow') === null ? 0 : 10;
          return left < axis || left > axis + 14 ? [`${left} ${row.textContent}`] : [];
        }),
      );
      expect(blank).toEqual([]);
    }
  });

  it('zooms with buttons beside the axis, and marks the rows that are outside', async () => {
    const page = await open(entries, 1440);
    const button = (name: string) => page.getByRole('button', { name });
    const outside = page.locator('.trace-row .outside');
    const labels = () => page.locator('.ruler .tick').allTextContents();
    const whole = await labels();
    expect(whole[0]).toBe('0 s');
    expect(
      await Promise.all(['Zoom in', 'Show the whole time axis'].map((name) => button(name).getAttribute('title'))),
    ).toEqual(['Zoom in (+)', 'Show the whole time axis (Escape)']);
    await expect.poll(() => outside.count()).toBe(0);
    for (let step = 0; step < 4; step += 1) await button('Zoom in').click();
    await expect.poll(() => outside.count()).toBeGreaterThan(1);
    expect(await labels()).not.toEqual(whole);
    const first = page.locator('.trace-row:has(.outside)', { hasText: 'Call' }).first();
    expect(await first.locator('.outside').getAttribute('title')).toBe('Before the part that the axis shows');
    await button('Show the whole time axis').click();
    expect([await outside.count(), await labels(), await button('Zoom out').isDisabled()]).toEqual([0, whole, true]);
  });

  it.each([1440, 390])('has the length of a gap at the gap, in the axis and in each row: %d px', async (width) => {
    const run = recordedEntries(await manualRun());
    const asked = run.findIndex(({ type }) => type === 'consent-asked');
    const later = run.map((entry, seq) => (seq > asked ? { ...entry, atMs: entry.atMs + 7_200_000 } : entry));
    const page = await open(later, width);
    const boxes = (selector: string) =>
      page.locator(selector).evaluateAll((all) => all.map((one) => one.getBoundingClientRect().toJSON() as DOMRect));
    const [label] = await boxes('.ruler .skipped');
    const [gap] = await boxes('.ruler .cut');
    if (label === undefined || gap === undefined) throw new Error('the axis has no gap');
    expect(await page.locator('.ruler .skipped').first().textContent()).toBe('waited 2 h');
    expect(gap.width).toBeLessThan(26);
    expect(label.left <= gap.left + gap.width / 2 && label.right >= gap.left + gap.width / 2).toBe(true);
    const inRows = (await boxes('.trace-row:not(.sentence) .cut:first-child')).map(({ left }) => Math.round(left));
    expect(new Set(inRows)).toEqual(new Set([Math.round(gap.left)]));
  });

  it('has the duration of a phase as its panel has it, also if a call for it started early', async () => {
    const run = recordedEntries(await runToAnswer({}, { profile: 'thorough' }));
    const page = await open(run.map((entry, seq) => ({ ...entry, atMs: entry.atMs + 10 * seq })));
    const row = page.locator('.trace-row.phase:has(.bar.early)').first();
    await row.click();
    const duration = await row.locator('.number').first().textContent();
    await expect.poll(() => page.locator('.step-head').textContent()).toContain(`${duration} · `);
  });

  it('lets the bar and the time of what is running grow, and nothing else', async () => {
    const { run, model } = readmeRun([2]);
    await model.reached(2);
    const { page, update } = await openLivePage(tests, run, '');
    await page.clock.install();
    await update();
    const action = rowsOf(page).filter({ hasText: 'running' }).first();
    const seconds = async (): Promise<number> =>
      Number.parseFloat((await action.locator('.number').first().textContent()) ?? '');
    const boxes = () =>
      rowsOf(page).evaluateAll((all) => all.map((row) => JSON.stringify(row.getBoundingClientRect())));
    const before = await boxes();
    await runClockUntil(
      page,
      async () => (await action.textContent())?.includes(' s') === true && (await seconds()) > 2,
    );
    expect(await boxes()).toEqual(before);
    model.release(2);
    await run.answer;
  });

  it('opens a run of 20,000 entries with few elements, and keeps its rows reachable', async () => {
    const long = longRun(inSmallPieces(entries), 20_000);
    const page = await open(long);
    expect(await rowsOf(page).count()).toBeLessThan(80);
    await page.getByRole('tree', { name: 'Trace' }).focus();
    await page.keyboard.press('End');
    await expect.poll(() => rowsOf(page).last().getAttribute('class')).toContain('active');
  });
});
