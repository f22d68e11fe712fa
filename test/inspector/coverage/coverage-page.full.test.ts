import { afterAll, describe, expect, it } from 'vitest';
import { formatPercent, percentOf } from '../../../src/testing/coverage/coverage-report.ts';
import type { MachineCoverage } from '../../../src/testing/coverage/machine-coverage.ts';
import {
  coverageFiles,
  foreignCoverage,
  machineButton,
  missingButtons,
  missingItems,
  ownCoverage,
  stateLabels,
} from '../../support/inspector/coverage-page.ts';
import { browserFor, nextFrames } from '../../support/inspector/inspector-page.ts';

const browser = await browserFor('the page of coverage');
const files = await coverageFiles(browser);
const own = await ownCoverage();
const [chain, attempt] = own as readonly [MachineCoverage, MachineCoverage];

afterAll(async () => {
  await browser?.close();
  await files.close();
});

const timesOf = ({ items }: MachineCoverage, key: string): number => items.find((item) => item.key === key)?.times ?? 0;

/** Whether part of the element lies within the chart area. */
function isInSight(element: Element): boolean {
  const place = document.querySelector('.coverage-chart')?.getBoundingClientRect();
  const { left, right, top, bottom } = element.getBoundingClientRect();
  return place !== undefined && right > place.left && left < place.right && bottom > place.top && top < place.bottom;
}

describe.skipIf(browser === null)('the coverage page', () => {
  it('shows the percentage and counts of each machine in a single file without network requests', async () => {
    const watched = await files.open(own, {}, 'The run of the README, today');
    const { page, requests, url } = watched;
    expect(await page.title()).toBe('Chart coverage: The run of the README, today');
    await page.locator('.coverage-header').getByText('The run of the README, today').waitFor();
    const rows = await page
      .locator('.coverage-table tbody tr')
      .evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent)));
    for (const [place, one] of own.entries()) {
      const { items } = one;
      const cell = (kind?: 'state' | 'transition' | 'guard' | 'outcome' | 'delay'): string => {
        const asked = items.filter((item) => kind === undefined || item.kind === kind);
        const reached = asked.filter(({ times }) => times > 0).length;
        return `${formatPercent(percentOf(one, kind))} ${reached} of ${asked.length}`;
      };
      const kinds = ['state', 'transition', 'guard', 'outcome', 'delay', undefined] as const;
      expect(rows[place]).toEqual([one.machine, ...kinds.map(cell)]);
    }
    expect(requests).toEqual([url]);
    await watched.close();
  });

  it('shows in the chart how often each state was entered and which transitions were taken', async () => {
    const watched = await files.open(own);
    const { page } = watched;
    await page.locator('.chart-picture').waitFor();
    const heard = await stateLabels(page);
    for (const { id, name } of chain.chart.states.filter(({ parent }) => parent !== null)) {
      const times = timesOf(chain, `state ${id}`);
      const words = times === 0 ? 'never entered' : `${times} time${times === 1 ? '' : 's'} entered`;
      expect(heard.some((label) => label.startsWith(`${name},`) && label.includes(words))).toBe(true);
    }
    expect(heard.some((label) => label.includes('active,') || label.endsWith('active'))).toBe(false);
    const count = (classes: string): Promise<number> => page.locator(`.chart-picture [data-line]${classes}`).count();
    expect(await count('.taken')).toBeGreaterThan(10);
    expect(await count('.never')).toBeGreaterThan(10);
    expect(await count('.taken.never')).toBe(0);
    expect(await count('.taken.partly')).toBeGreaterThan(0);
    expect(await count(':not(.taken, .never)')).toBe(0);
    // A nested machine is highlighted wherever it is drawn.
    const insets = page.locator('.chart-picture [data-chart] [data-chart]');
    expect(await insets.count()).toBeGreaterThan(5);
    for (const inset of await insets.all())
      if ((await inset.locator('> .visited').count()) > 0)
        expect(await inset.locator('> .taken').count()).toBeGreaterThan(0);
    expect(await page.getByRole('button', { name: 'Follow the active state' }).count()).toBe(0);
    await watched.close();
  });

  it('shows another machine when its row is clicked anywhere', async () => {
    const watched = await files.open(own);
    const { page } = watched;
    expect(await machineButton(page, 'postChain').getAttribute('aria-pressed')).toBe('true');
    const { x, y } = (await page.locator('.coverage-table tbody tr').nth(1).locator('td').last().boundingBox()) ?? {
      x: 0,
      y: 0,
    };
    await page.mouse.click(x + 20, y + 10);
    expect(await machineButton(page, 'attempt').getAttribute('aria-pressed')).toBe('true');
    await page.getByRole('region', { name: 'Chart of attempt' }).waitFor();
    expect((await stateLabels(page)).length).toBe(attempt.chart.states.length - 1);
    expect(await missingButtons(page).count()).toBe(missingItems(attempt).length);
    await watched.close();
  });

  it.each([
    { whose: 'a built-in chart', machines: own, names: ['postChain', 'attempt'] },
    { whose: 'a third-party chart', machines: foreignCoverage(), names: ['checkout', 'player'] },
  ])('marks a missing item in the chart, scrolls to it, and describes it: $whose', async ({ machines, names }) => {
    const watched = await files.open(machines);
    const { page } = watched;
    await page.emulateMedia({ reducedMotion: 'reduce' });
    for (const name of names) {
      await machineButton(page, name).click();
      await nextFrames(page);
      const buttons = await missingButtons(page).all();
      expect(buttons.length).toBeGreaterThan(0);
      for (const button of buttons.filter((_, place) => place % 9 === 0)) {
        await button.click();
        expect(await button.getAttribute('aria-pressed')).toBe('true');
        expect(await page.locator('.chart-picture .selected').first().evaluate(isInSight)).toBe(true);
        expect(await page.locator('.selection-note').textContent()).toMatch(/never/u);
      }
    }
    await page.getByRole('button', { name: 'Close' }).click();
    expect(await page.locator('.selected, [aria-pressed=true].missing-item').count()).toBe(0);
    await watched.close();
  });

  it('reports a guard that only returned true in the list and on its selected transition', async () => {
    const watched = await files.open(foreignCoverage());
    const { page } = watched;
    await missingButtons(page).getByText('never false').first().click();
    expect(await page.locator('.missing [aria-pressed=true]').textContent()).toBe(
      'shipping, done, [stateIn] › over never false',
    );
    expect(await page.locator('.selection-note').textContent()).toContain(
      'shipping, done, [stateIn] › over taken 1 time; guard: true 1 time, never false',
    );
    await watched.close();
  });

  it('draws third-party machines without a worker', async () => {
    const watched = await files.open(foreignCoverage());
    const { page, requests } = watched;
    for (const name of ['checkout', 'player', 'fetching']) {
      await machineButton(page, name).click();
      await page.getByRole('group', { name: `Statechart ${name}.` }).waitFor();
    }
    expect([...(await stateLabels(page))].sort()).toEqual([
      'done, never entered, final',
      'failed, never entered, final',
      'idle, never entered',
      'loading, never entered, load',
      'waiting, never entered',
    ]);
    expect(page.workers()).toEqual([]);
    expect(requests).toHaveLength(1);
    await watched.close();
  });

  it('works with the keyboard alone', async () => {
    const watched = await files.open(foreignCoverage());
    const { page } = watched;
    const focused = (): Promise<string> => page.evaluate(() => document.activeElement?.textContent ?? '');
    const tabTo = async (wanted: RegExp): Promise<void> => {
      for (let turn = 0; turn < 30 && !wanted.test(await focused()); turn += 1) await page.keyboard.press('Tab');
      expect(await focused()).toMatch(wanted);
    };
    await tabTo(/^player$/u);
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'Chart of player' }).waitFor();
    await tabTo(/^sound\.off$/u);
    await page.keyboard.press(' ');
    expect(await page.locator('.chart-picture .state.selected').getAttribute('aria-label')).toBe('off, never entered');
    expect(await focused()).toBe('sound.off');
    for (
      let turn = 0;
      turn < 30 && !(await page.evaluate(() => document.activeElement?.matches('[role=treeitem]')));
      turn += 1
    )
      await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    expect(await page.locator('.selection-note').textContent()).toContain('paused entered 1 time');
    await watched.close();
  });
});
