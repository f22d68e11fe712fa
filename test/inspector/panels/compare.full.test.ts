import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { threeRecordedRuns } from '../../support/inspector/inspected-runs.ts';
import { axeViolations, tooWideElements } from '../../support/inspector/page-checks.ts';
import { openTestPage, pageTests, showRuns } from '../../support/inspector/test-page.ts';

const tests = await pageTests('comparing runs in a page');
const runs = await threeRecordedRuns();

async function open(ids = 'run-0/run-1', { width = 1280, held = runs } = {}): Promise<Page> {
  const page = await openTestPage(tests, `/compare/${ids}`, width);
  await showRuns(page, held);
  return page;
}

/** The last entry of a type in the journal of a run. */
function lastOf<Type extends JournalEntry['type']>(run: number, type: Type): Extract<JournalEntry, { type: Type }> {
  const entries = (runs[run]?.lines ?? []).map((line): JournalEntry => JSON.parse(line));
  const found = entries.findLast((entry) => entry.type === type);
  if (found === undefined) throw new Error(`no ${type}`);
  return found as Extract<JournalEntry, { type: Type }>;
}

describe.skipIf(tests.areSkipped)('comparing two runs in the page', () => {
  it('says with the numbers of the journal why a run and its fork ended, and where they first differ', async () => {
    const page = await open();
    const cause = page.locator('.cause');
    await cause.waitFor();
    const { confidence } = lastOf(1, 'decision').decision.inputs;
    const shown = Number(confidence).toFixed(2);
    expect(await cause.innerText()).toMatch(
      /^They ended for different reasons\s+A Degraded.*Ended in cycle \d: The cycle limit is reached.*\s+B Completed.*Ended in cycle \d: .*\s+First difference, after \d+ equal steps: Cycle \d, Yield/u,
    );
    expect(await cause.innerText()).toMatch(/Their answers are the same\.$/u);
    expect(await cause.innerText()).toContain(`confidence ${shown} was not above 0.90`);
    expect(await cause.innerText()).toContain(`Stopped because confidence ${shown} was above 0.10`);
    expect(await page.getByRole('table', { name: 'Settings that differ' }).innerText()).toMatch(
      /thresholds\.confidence\s+0\.90\s+0\.10/u,
    );
    const [a, b] = await page.locator('.pair > div').allInnerTexts();
    expect(a).toContain('original');
    expect(b).toMatch(/fork of A: confidence to finish from 0\.\d+ to 0\.1/u);
    // Each side links to the step at which it parts.
    await cause.getByRole('link', { name: 'Open the step' }).last().click();
    await page.locator('main[data-run="run-1"]').waitFor();
    expect(page.url()).toContain(`#/run/run-1/${lastOf(1, 'decision').seq}`);
  });

  it('shows both answers, or that they are the same, and the figures of the journals with their difference', async () => {
    const page = await open();
    await page.locator('.cause').waitFor();
    const [first, second] = [0, 1].map((run) => lastOf(run, 'answer').answer.answerText);
    expect(second).toBe(first);
    expect(await page.locator('.pair .answer').allInnerTexts()).toEqual([first]);
    await page.getByText('The same answer as A.').waitFor();
    const [before, after] = [0, 1].map((run) => lastOf(run, 'end').summary.usage.modelCalls);
    const row = page.locator('.compare-table tr', { hasText: 'Model calls' });
    expect(await row.locator('td').allInnerTexts()).toEqual([
      `${before}`,
      `${after}`,
      `${(before ?? 0) - (after ?? 0)} fewer`,
    ]);
    expect(await page.locator('.compare-page h1').innerText()).toBe('Is it so?');
  });

  it('folds equal steps, and unfolds them on request', async () => {
    const page = await open();
    await page.getByText('All steps side by side').click();
    const fold = page.locator('.compare-steps summary', { hasText: 'equal steps' }).first();
    await fold.waitFor();
    const links = page.locator('.compare-steps td a');
    const before = await links.count();
    await fold.focus();
    await page.keyboard.press('Enter');
    const folded = Number.parseInt(await fold.innerText(), 10);
    await expect.poll(() => links.count()).toBe(before + 2 * folded);
    expect((await links.allInnerTexts()).join()).toMatch(/action\.choosing\s+action\.running/u);
    // What follows the decision writes the answer.
    expect(await page.locator('.compare-steps summary').last().innerText()).toContain('Answer');
  });

  it('says that runs ended for the same reason, chooses another one, and goes back with Escape', async () => {
    const page = await open('run-1/run-0');
    await page.locator('.cause').waitFor();
    expect(await page.locator('.pair > div').first().innerText()).toContain('fork of B');
    await page.getByRole('combobox', { name: 'Run B' }).selectOption('run-2');
    await page.waitForFunction(() => location.hash === '#/compare/run-1/run-2');
    await page.getByText('Both ended for the same reason').waitFor();
    await page.locator('body').press('Escape');
    await page.getByRole('table', { name: 'Runs' }).waitFor();
  });

  it('says that a run is still loading or unknown, and offers others', async () => {
    const page = await open('run-0/nothing');
    const side = page.locator('.pair > section').last();
    await side.getByText('Loading…').waitFor();
    await page.evaluate(() => window.listener.end('nothing', 'There is no run "nothing".'));
    await side.getByText('There is no run "nothing". Choose another run.').waitFor();
    await page.getByRole('combobox', { name: 'Run B' }).selectOption('run-2');
    await page.locator('.cause').waitFor();
  });

  it('shows two actors that are not over, whose entries have no end yet', async () => {
    const held = runs.map((one, at) => ({
      ...one,
      run: { ...one.run, kind: 'system' as const, title: `actor ${at}`, status: 'waiting' as const },
    }));
    const page = await open('run-0/run-2', { held: held.slice(0, 2) });
    expect(await page.locator('h1').innerText()).toBe('Two actors compared');
    await page.evaluate(
      (one) => {
        window.listener.runs([...window.inspector.runs.value, one.run], null, 0);
        window.listener.entries('run-2', 0, one.lines, { format: 'run' });
      },
      held[2] as (typeof held)[number],
    );
    await page.locator('.cause').getByText('A and B have not ended').waitFor();
  });

  it('says that a run has not ended, and shows the settings that differ below', async () => {
    const held = runs.map((one, at) => {
      if (at !== 2) return one;
      const [start, ...lines] = one.lines;
      const changed = (start ?? '').replace(/"maxCycles":\d+/u, '"maxCycles":77');
      return { ...one, run: { ...one.run, status: 'waiting' as const }, lines: [changed, ...lines] };
    });
    const page = await open('run-0/run-2', { held });
    const cause = page.locator('.cause');
    await cause.waitFor();
    expect(await cause.innerText()).toMatch(/^B has not ended\s/u);
    expect(await page.locator('.cause ~ .pair, .cause ~ .compare-table').first().innerText()).toMatch(
      /^Settings that differ[\s\S]*77/u,
    );
  });

  it.each([
    { width: 1280, scheme: 'light' },
    { width: 390, scheme: 'dark' },
  ] as const)('passes the accessibility checks and fits: $width px, $scheme', async ({ width, scheme }) => {
    const title = 'What is asked may be long, and be so in every run. '.repeat(3);
    const page = await open('run-0/run-2', {
      width,
      held: runs.map((held, at) => ({ ...held, run: { ...held.run, title: `${title}${at}` } })),
    });
    await page.emulateMedia({ colorScheme: scheme });
    await page.locator('.cause').waitFor();
    await page.locator('main details').evaluateAll((all) => {
      for (const fold of all) (fold as HTMLDetailsElement).open = true;
    });
    expect(await axeViolations(page, 'html')).toEqual([]);
    expect(await page.evaluate(tooWideElements)).toEqual([]);
  });
});
