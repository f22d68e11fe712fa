import type { Locator, Page } from 'playwright-core';
import { afterAll, describe, expect, it } from 'vitest';
import { isInternal } from '../../../inspector/fold/transition-log.ts';
import { failingRun, waitingRun } from '../../support/inspector/inspected-runs.ts';
import {
  inspectorTests,
  nextFrames,
  openRun,
  PANEL_NAMES,
  selectEntry,
  showPanel,
} from '../../support/inspector/inspector-page.ts';

const tests = await inspectorTests('the page without a mouse');

const run = await failingRun();
const waiting = waitingRun();

for (const one of [waiting, run]) tests.server.watch(one);
afterAll(() => waiting.cancel());

declare global {
  interface Window {
    /** Elements with pointer listeners, and elements that had the focus. */
    hearing: Set<Element>;
    walked: Set<Element>;
  }
}

/** Records every element that gets a pointer listener. */
function noteListeners(): void {
  window.hearing = new Set();
  window.walked = new Set();
  const add = EventTarget.prototype.addEventListener;
  EventTarget.prototype.addEventListener = function (this: EventTarget, type: string, ...rest: never[]) {
    if (this instanceof Element && /^(?:click|dblclick|pointerdown|mousedown)$/u.test(type)) window.hearing.add(this);
    Reflect.apply(add, this, [type, ...rest]);
  };
}

/** Presses Tab until the focus leaves the page and returns the number of steps. */
async function walk(page: Page, key: 'Tab' | 'Shift+Tab'): Promise<number> {
  await page.evaluate(() => {
    window.walked.clear();
    // Start at the top, because the focus would continue from the last clicked element.
    document.body.tabIndex = -1;
    document.body.focus();
    document.body.removeAttribute('tabindex');
  });
  // Shift+Tab enters the page from its end.
  if (key === 'Shift+Tab') await page.keyboard.press(key);
  for (let steps = 1; steps < 400; steps += 1) {
    await page.keyboard.press(key);
    const isOut = await page.evaluate(() => {
      const { activeElement } = document;
      // A field for a time has several tab stops.
      if (activeElement !== null && activeElement === [...window.walked].at(-1)) return false;
      if (activeElement === null || activeElement === document.body || window.walked.has(activeElement)) return true;
      window.walked.add(activeElement);
      return false;
    });
    if (isOut) return steps;
  }
  throw new Error('the focus does not come out of the page');
}

/** Visible elements with a pointer listener or focus that Tab did not reach, directly or through a container or a roving tab stop. */
function unreached(): readonly string[] {
  const FOCUSABLE = 'button, select, input, textarea, summary, a[href], [tabindex]:not(h1, h2)';
  const isUsable = (element: Element): boolean =>
    element.checkVisibility({ visibilityProperty: true }) && element.closest(':disabled, [inert]') === null;
  const isWalked = (element: Element): boolean => {
    for (let at: Element | null = element; at !== null; at = at.parentElement) if (window.walked.has(at)) return true;
    // In a group of buttons, a radio group and a chart, one item is the tab stop and the arrow keys move from there.
    const group =
      element.closest('[role=radiogroup], [data-arrows], .chart-picture') ??
      // What dragging and the wheel do, the keys of the chart do too.
      (element.matches('.chart-scroll') ? element.querySelector('.chart-picture') : null);
    if (group !== null) return [...window.walked].some((one) => group.contains(one));
    // The keys + and - of the trace zoom its axis, too.
    return element.matches('.ruler') && [...window.walked].some((one) => one.matches('.trace-list'));
  };
  const labelled = (element: Element): Element =>
    element instanceof HTMLLabelElement ? (element.control ?? element) : element;
  return [...new Set([...window.hearing, ...document.querySelectorAll(FOCUSABLE)])]
    .map(labelled)
    .filter(
      (element) => element.isConnected && element.closest('#page') !== null && isUsable(element) && !isWalked(element),
    )
    .map((element) => element.outerHTML.slice(0, 120));
}

/** Returns the key name used in the help sheet. */
const asWritten = (name: string): string =>
  name
    .replace('Arrow', '')
    .replace(/(?<=Shift|Ctrl)\+/u, ' ')
    .replace(/Page(?=Up|Down)/u, 'Page ');

const blur = (page: Page): Promise<void> => page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());

const picture = (page: Page): Locator => page.locator('.chart-area .chart-picture');

async function openChart(page: Page): Promise<void> {
  await page.keyboard.press('c');
  await picture(page).waitFor();
}

async function closeChart(page: Page): Promise<void> {
  await page.keyboard.press('c');
  await page.getByRole('tree', { name: 'Trace' }).waitFor();
}

/** Where the active row of the trace is among the rendered rows, which are in order. */
const activeRow = (page: Page) =>
  page.getByRole('tree', { name: 'Trace' }).evaluate((tree) => {
    const rows = [...tree.querySelectorAll<HTMLElement>('[role=treeitem]')].sort(
      (one, other) => one.offsetTop - other.offsetTop,
    );
    const index = rows.findIndex(({ id }) => id === tree.getAttribute('aria-activedescendant'));
    const row = rows[index];
    return {
      index,
      next: rows[index + 1]?.id,
      id: row?.id,
      isFirst: row?.offsetTop === 0,
      isLast: row !== undefined && row.offsetTop + row.offsetHeight === tree.clientHeight,
      isSelected: row?.getAttribute('aria-selected') === 'true',
    };
  });

describe.skipIf(tests.areSkipped)('keyboard operation', () => {
  it('reaches every control with Tab, forward and backward, in every panel and with the chart', async () => {
    const { page } = await tests.open('', { before: async (one) => void (await one.addInitScript(noteListeners)) });
    const reachesAll = async (what: string): Promise<void> => {
      const forwards = await walk(page, 'Tab');
      expect(await page.evaluate(unreached), what).toEqual([]);
      expect(await walk(page, 'Shift+Tab'), `${what} backwards`).toBe(forwards);
    };
    for (const runId of [run.id, waiting.id]) {
      await openRun(page, runId);
      for (const name of PANEL_NAMES) {
        await showPanel(page, name);
        await reachesAll(`${name} of ${runId}`);
      }
    }
    await blur(page);
    await openChart(page);
    await reachesAll('the chart');
    await blur(page);
    await closeChart(page);
    expect(await page.evaluate(() => window.hearing.size)).toBeGreaterThan(30);
  });

  it('moves the focus to the chart if the control that had it is hidden', async () => {
    const { page } = await tests.open('/');
    await openRun(page, 'waiting');
    await page.locator('.head-area').getByRole('button').last().focus();
    await page.keyboard.press('c');
    await page.waitForFunction(() => document.activeElement !== document.body);
  });

  it('does what the help sheet documents for each key', async () => {
    const { page } = await tests.open(`/run/${run.id}`);
    await page.locator('.position').waitFor({ state: 'attached' });
    await showPanel(page, 'step');
    await blur(page);
    const last = run.entries.length - 1;
    const moves = run.entries.flatMap((entry) =>
      entry.type === 'transition' && !isInternal(entry) ? [entry.seq] : [],
    );
    const cycles = run.entries.flatMap((entry, seq) =>
      entry.type === 'phase-start' &&
      run.entries.findIndex((other) => other.type === 'phase-start' && other.cycle === entry.cycle) === seq
        ? [seq]
        : [],
    );
    expect(cycles.length).toBeGreaterThan(2);
    const from = (cycles[1] ?? 0) + 40;
    const before = (seqs: readonly number[]) => seqs.findLast((seq) => seq < from);
    const after = (seqs: readonly number[]) => seqs.find((seq) => seq > from);
    const leads = (seq: number | undefined) => async (key: string) => {
      await selectEntry(page, from);
      await blur(page);
      await page.keyboard.press(key);
      await nextFrames(page);
      expect(await page.locator('.position').getAttribute('data-at'), key).toBe(String(seq));
    };
    const pressed = (check: (key: string) => Promise<void>) => async (key: string) => {
      await blur(page);
      await page.keyboard.press(key);
      await nextFrames(page);
      await check(key);
    };
    const closed = async (): Promise<void> => {
      await page.keyboard.press('Escape');
      await page.locator('dialog').waitFor({ state: 'detached' });
    };
    const trace = page.getByRole('tree', { name: 'Trace' });
    /** With the focus on the trace and after another key. */
    const inTrace = (first: string, check: (key: string) => Promise<void>) => async (key: string) => {
      await trace.focus();
      await page.keyboard.press(first);
      await nextFrames(page);
      await check(key);
      await blur(page);
    };
    const down = inTrace('Home', async (key) => {
      const { next } = await activeRow(page);
      await page.keyboard.press(key);
      await expect.poll(() => activeRow(page)).toMatchObject({ id: next, index: 1, isSelected: true });
    });
    const up = inTrace('Home', async (key) => {
      const start = await activeRow(page);
      await page.keyboard.press('ArrowDown');
      await expect.poll(() => activeRow(page)).toMatchObject({ id: start.next });
      await page.keyboard.press(key);
      await expect.poll(() => activeRow(page)).toMatchObject({ id: start.id, isSelected: start.isSelected });
    });
    const toggles = inTrace('Home', async (key) => {
      const open = trace.locator('.active[aria-expanded]');
      const isOpen = await open.getAttribute('aria-expanded');
      for (const to of [isOpen === 'true' ? 'false' : 'true', isOpen]) {
        await page.keyboard.press(key);
        await expect.poll(() => open.getAttribute('aria-expanded')).toBe(to);
      }
    });
    const whole = page.getByRole('button', { name: 'Show the whole time axis', disabled: false });
    /** With a zoomed time axis. */
    const zoomed = (act: (key: string) => Promise<void>) =>
      inTrace('+', async (key) => {
        await whole.waitFor();
        await act(key);
        await whole.waitFor({ state: 'detached' });
      });
    const states = picture(page).locator('.state');
    const inChart = (check: (key: string) => Promise<void>) => async (key: string) => {
      await blur(page);
      await openChart(page);
      await states.first().focus();
      await check(key);
      if (await picture(page).isVisible()) await closeChart(page);
    };
    const focusMoves = (start: number, to: number) =>
      inChart(async (key) => {
        await states.nth(start).focus();
        await page.keyboard.press(key);
        expect(await page.evaluate(() => document.activeElement?.getAttribute('data-state')), key).toBe(
          await states.nth(to).getAttribute('data-state'),
        );
      });
    const width = async (): Promise<number> => Number(await picture(page).getAttribute('width'));
    const note = page.getByRole('complementary', { name: 'Selected in the chart' });
    const outer = page.getByRole('navigation', { name: 'Level of the chart' }).getByRole('button');
    const openInside = async (): Promise<void> => {
      await picture(page).locator('.state:has(.fold)').first().focus();
      await page.keyboard.press('Enter');
      await note.waitFor();
      await page.keyboard.press('Enter');
      await outer.waitFor();
    };
    const does: Readonly<Record<string, (key: string) => Promise<void>>> = {
      'Move ArrowLeft': leads(from - 1),
      'Move ArrowRight': leads(from + 1),
      'Move Shift+ArrowLeft': leads(before(moves)),
      'Move Shift+ArrowRight': leads(after(moves)),
      'Move Home': leads(0),
      'Move End': leads(last),
      'Trace ArrowDown': down,
      'Trace j': down,
      'Trace ArrowUp': up,
      'Trace k': up,
      'Trace PageDown': inTrace('Home', async (key) => {
        await page.keyboard.press(key);
        await expect.poll(() => activeRow(page)).toMatchObject({ index: 10 });
      }),
      'Trace PageUp': inTrace('Home', async (key) => {
        for (const to of ['PageDown', 'ArrowDown', key]) await page.keyboard.press(to);
        await expect.poll(() => activeRow(page)).toMatchObject({ index: 1 });
      }),
      'Trace Home': inTrace('End', async (key) => {
        await page.keyboard.press(key);
        await expect.poll(() => activeRow(page)).toMatchObject({ isFirst: true });
      }),
      'Trace End': inTrace('Home', async (key) => {
        await page.keyboard.press(key);
        await expect.poll(() => activeRow(page)).toMatchObject({ isLast: true });
      }),
      'Trace +': zoomed(() => whole.click()),
      'Trace -': zoomed((key) => page.keyboard.press(key)),
      'Trace Escape': zoomed((key) => page.keyboard.press(key)),
      'Trace Enter': toggles,
      'Trace Space': toggles,
      'Panels o': async (key) => {
        await blur(page);
        const words = page.locator('.step-view h2').first();
        await words.evaluate((element) => getSelection()?.selectAllChildren(element));
        await page.getByRole('button', { name: 'Where is this from?' }).waitFor();
        const selected = await page.evaluate(() => getSelection()?.toString().trim());
        await page.keyboard.press(key);
        const dialog = page.getByRole('dialog', { name: 'Where is this from?' });
        expect(await dialog.getByRole('searchbox').inputValue()).toBe(selected);
        // Keys typed into a text field are text.
        await page.keyboard.type('?c1');
        expect(await dialog.getByRole('searchbox').inputValue()).toContain('?c1');
        await page.keyboard.press('Escape');
        await dialog.waitFor({ state: 'detached' });
        await page.evaluate(() => getSelection()?.empty());
      },
      'Page ?': pressed(async () => {
        await page.getByRole('dialog', { name: 'Keys' }).waitFor();
        await closed();
      }),
      'Page c': pressed(async (key) => {
        await picture(page).waitFor();
        expect(await trace.count()).toBe(0);
        await page.keyboard.press(key);
        await trace.waitFor();
        expect(await picture(page).count()).toBe(0);
      }),
      'Chart ArrowRight': focusMoves(0, 1),
      'Chart ArrowDown': focusMoves(0, 1),
      'Chart ArrowLeft': focusMoves(1, 0),
      'Chart ArrowUp': focusMoves(1, 0),
      'Chart +': inChart(async (key) => {
        const fit = await width();
        await page.keyboard.press(key);
        await expect.poll(width).toBeGreaterThan(fit);
      }),
      'Chart -': inChart(async (key) => {
        const fit = await width();
        await page.keyboard.press(key);
        await expect.poll(width).toBeLessThan(fit);
      }),
      'Chart 0': inChart(async (key) => {
        await page.keyboard.press(key);
        const area = page.locator('.chart-scroll');
        const isWhole = () =>
          area.evaluate((one) => one.scrollHeight <= one.clientHeight && one.scrollWidth <= one.clientWidth);
        await expect.poll(isWhole).toBe(true);
        const whole = await width();
        await page.keyboard.press('+');
        await expect.poll(width).toBeGreaterThan(whole);
        await page.keyboard.press(key);
        await expect.poll(width).toBe(whole);
      }),
      'Chart Enter': inChart(async () => {
        await openInside();
        await note.getByRole('button', { name: 'Close' }).press('Enter');
        await note.waitFor({ state: 'detached' });
      }),
      'Chart Escape': inChart(async (key) => {
        await openInside();
        await page.keyboard.press(key);
        await outer.waitFor({ state: 'detached' });
        await page.keyboard.press(key);
        await trace.waitFor();
      }),
    };
    const listed = async (): Promise<readonly string[]> => {
      await page.keyboard.press('?');
      const keys = await page
        .locator('dialog section')
        .evaluateAll((sections) =>
          sections.flatMap((section) =>
            [...section.querySelectorAll('kbd')].map(
              (key) => `${section.getAttribute('aria-label')} ${key.textContent}`,
            ),
          ),
        );
      await closed();
      return keys;
    };
    const withTrace = await listed();
    await openChart(page);
    const withChart = await listed();
    await closeChart(page);
    const written = Object.keys(does).map(asWritten);
    expect([...withTrace].sort()).toEqual(written.filter((name) => !name.startsWith('Chart ')).sort());
    expect([...withChart].sort()).toEqual(written.filter((name) => !name.startsWith('Trace ')).sort());
    for (const [name, check] of Object.entries(does)) await check(name.slice(name.indexOf(' ') + 1));
  });
});
