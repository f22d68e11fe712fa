import type { Page } from 'playwright-core';
import { afterAll, describe, expect, it } from 'vitest';
import { isInternal } from '../../../inspector/fold/transition-log.ts';
import { failingRun } from '../../support/inspector/inspected-runs.ts';
import {
  browserFor,
  displayedState,
  nextFrames,
  openRun,
  PANEL_NAMES,
  pageForRuns,
  selectEntry,
  showPanel,
} from '../../support/inspector/inspector-page.ts';
import { LONG_HISTORY } from '../../support/journal-files.ts';
import { startScripted, unsureAnswer } from '../../support/run-chain.ts';

const browser = await browserFor('the page without a mouse');

const run = await failingRun();
const { run: waiting } = startScripted(
  { yield: (call: number) => unsureAnswer(call) },
  { newId: () => 'waiting' },
  { request: 'Which way?', mode: 'manual', history: LONG_HISTORY },
);

const thePage = pageForRuns(browser, [waiting, run], {
  before: async (page) => void (await page.addInitScript(noteListeners)),
});
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
  const FOCUSABLE = 'button, select, input, textarea, summary, a[href], [tabindex]';
  const isUsable = (element: Element): boolean =>
    element.checkVisibility({ visibilityProperty: true }) && element.closest(':disabled, [inert]') === null;
  const isWalked = (element: Element): boolean => {
    for (let at: Element | null = element; at !== null; at = at.parentElement) if (window.walked.has(at)) return true;
    // In a tab list, a tree, and a radio group, one item is the tab stop and the arrow keys move from there.
    const group = element.closest('[role=tablist], [role=tree], [role=listbox], [role=radiogroup]');
    return group !== null && [...window.walked].some((one) => group.contains(one));
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
    .replace('Shift+', 'Shift ')
    .replace('Page Page', 'Page ')
    .replace(/Page(?=Up|Down)/u, 'Page ');

const at = async (page: Page): Promise<number> =>
  Number(/entry (?<at>\d+)/u.exec((await displayedState(page)).position)?.groups?.['at']);

describe.skipIf(browser === null)('keyboard operation', () => {
  it('reaches every control with Tab, forward and backward, in every panel', async () => {
    const page = thePage();
    for (const runId of [run.runId, waiting.runId]) {
      await openRun(page, runId);
      for (const name of PANEL_NAMES) {
        if (!(await showPanel(page, name))) continue;
        const forwards = await walk(page, 'Tab');
        expect(await page.evaluate(unreached), `${name} of ${runId}`).toEqual([]);
        expect(await walk(page, 'Shift+Tab'), `${name} backwards`).toBe(forwards);
      }
    }
    expect(await page.evaluate(() => window.hearing.size)).toBeGreaterThan(30);
  });

  it('does what the help sheet documents for each key', async () => {
    const page = thePage();
    await openRun(page, run.runId);
    await showPanel(page, 'step');
    await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
    const seqsOf = (type: string): readonly number[] =>
      run.journal.filter((entry) => entry.type === type).map(({ seq }) => seq);
    const last = run.journal.length - 1;
    const moves = run.journal.flatMap((entry) =>
      entry.type === 'transition' && !isInternal(entry) ? [entry.seq] : [],
    );
    const phases = seqsOf('phase-start');
    const cycles = run.journal.flatMap((entry, seq) =>
      entry.type === 'phase-start' &&
      run.journal.findIndex((other) => other.type === 'phase-start' && other.cycle === entry.cycle) === seq
        ? [seq]
        : [],
    );
    expect(cycles.length).toBeGreaterThan(2);
    const from = (cycles[1] ?? 0) + 40;
    const before = (seqs: readonly number[]) => seqs.findLast((seq) => seq < from);
    const after = (seqs: readonly number[]) => seqs.find((seq) => seq > from);
    const leads = (seq: number | undefined) => async (key: string) => {
      await selectEntry(page, from);
      await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
      if (key.startsWith('Page')) await page.getByRole('slider', { name: 'Time' }).focus();
      await page.keyboard.press(key);
      await nextFrames(page);
      expect(await at(page), key).toBe(seq);
      await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
    };
    const shows = (name: (typeof PANEL_NAMES)[number]) =>
      page
        .locator(name === 'raw' ? '.event-row' : '.step-head')
        .first()
        .waitFor();
    const pressed = (check: (key: string) => Promise<void>) => async (key: string) => {
      await page.keyboard.press(key);
      await nextFrames(page);
      await check(key);
    };
    const closed = async (): Promise<void> => {
      await page.keyboard.press('Escape');
      await page.locator('dialog').waitFor({ state: 'detached' });
    };
    const picture = page.locator('.chart-picture > svg');
    const view = () => picture.locator('> g').getAttribute('transform');
    const moved = async (key: string): Promise<void> => {
      await picture.focus();
      const cached = await view();
      await page.keyboard.press(key);
      await page.waitForFunction(
        (old) => document.querySelector('.chart-picture > svg > g')?.getAttribute('transform') !== old,
        cached,
      );
    };
    const onTrack = (check: (key: string) => Promise<void>) => async (key: string) => {
      await page.getByRole('slider', { name: 'Time' }).focus();
      await check(key);
      await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
    };
    const lane = () => page.locator('.lane-names .chosen').textContent();
    const range = () => page.locator('.range-sums p').textContent();
    const isZoomed = () => page.getByRole('button', { name: 'whole run' }).isEnabled();
    const does: Readonly<Record<string, (key: string) => Promise<void>>> = {
      'Move ArrowLeft': leads(from - 1),
      'Move ArrowRight': leads(from + 1),
      'Move Shift+ArrowLeft': leads(before(moves)),
      'Move Shift+ArrowRight': leads(after(moves)),
      'Move [': leads(before(phases)),
      'Move ]': leads(after(phases)),
      'Move {': leads(before(cycles)),
      'Move }': leads(after(cycles)),
      'Move Home': leads(0),
      'Move End': leads(last),
      'Move Space': async () => {
        await page.keyboard.press('Home');
        await page.keyboard.press('Space');
        await page.getByRole('button', { name: 'Pause' }).waitFor();
        await page.keyboard.press('Space');
        await page.getByRole('button', { name: 'Play', exact: true }).waitFor();
      },
      'Timeline ArrowUp': onTrack(async (key) => {
        for (const to of ['ArrowDown', key]) await page.keyboard.press(to);
        expect(await lane()).toBe('Cycles');
      }),
      'Timeline ArrowDown': onTrack(async (key) => {
        await page.keyboard.press(key);
        expect(await lane()).toBe('Phases');
      }),
      'Timeline PageUp': leads(before(cycles)),
      'Timeline PageDown': leads(after(cycles)),
      'Timeline Enter': onTrack(async (key) => {
        await page.keyboard.press(key);
        expect(await range()).toMatch(/^Range: /u);
      }),
      'Timeline Escape': onTrack(async (key) => {
        await page.keyboard.press(key);
        expect(await range()).toBe('');
      }),
      'Timeline r': onTrack(async (key) => {
        for (const one of [key, 'ArrowRight', key]) await page.keyboard.press(one);
        expect(await range()).toMatch(/^Range: /u);
      }),
      'Timeline +': onTrack(async (key) => {
        await page.keyboard.press(key);
        expect(await isZoomed()).toBe(true);
      }),
      'Timeline -': onTrack(async (key) => {
        await page.keyboard.press(key);
        expect(await isZoomed()).toBe(false);
      }),
      'Timeline 0': onTrack(async (key) => {
        for (const one of ['+', '+', key]) await page.keyboard.press(one);
        expect(await isZoomed()).toBe(false);
      }),
      'Panels o': async (key) => {
        await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
        await page.keyboard.press(key);
        await page.getByRole('dialog', { name: 'Where is this from?' }).waitFor();
        await page.keyboard.press('Escape');
        expect(await page.getByRole('dialog').count()).toBe(0);
      },
      'Page /': pressed(async (key) => {
        await shows('raw');
        expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label')), key).toBe(
          'Search the events',
        );
        // Keys typed into a text field are text.
        await page.keyboard.type('?1');
        expect(await page.locator('.event-search input[type=search]').inputValue()).toBe('?1');
        await page.keyboard.press('Escape');
        await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
      }),
      'Page ?': pressed(async () => {
        await page.getByRole('dialog', { name: 'Keys' }).waitFor();
        await closed();
      }),
      'Page t': pressed(async () => {
        const dialog = page.getByRole('dialog', { name: 'Replay test of this run' });
        await dialog.waitFor();
        expect(await dialog.getByRole('textbox').inputValue()).toContain('replay');
        await closed();
      }),
      'Chart +': moved,
      'Chart -': moved,
      'Chart 0': async (key) => {
        await moved('+');
        await moved(key);
      },
      ...Object.fromEntries(['Left', 'Right', 'Up', 'Down'].map((way) => [`Chart Arrow${way}`, moved])),
      'Chart Tab': async (key) => {
        await picture.focus();
        await page.keyboard.press(key);
        expect(await page.evaluate(() => document.activeElement?.getAttribute('role'))).toBe('treeitem');
      },
      'Chart Enter': async () => {
        await page.locator('.chart-picture [data-state][tabindex="0"]').focus();
        await page.keyboard.press('ArrowDown');
        await page.keyboard.press('Enter');
        const note = page.getByRole('complementary', { name: 'Selected in the chart' });
        await note.waitFor();
        await note.getByRole('button', { name: 'Close' }).press('Enter');
        await note.waitFor({ state: 'detached' });
      },
      'Chart Space': async () => {
        const state = page.locator('.chart-picture [data-state][aria-label^="experience,"]');
        await state.press('0');
        await expect.poll(() => state.getAttribute('aria-expanded')).toBe('false');
        for (const isOpen of ['true', 'false']) {
          await state.press('Space');
          await expect.poll(() => state.getAttribute('aria-expanded')).toBe(isOpen);
        }
      },
    };
    await page.keyboard.press('?');
    const listed = await page
      .locator('dialog section')
      .evaluateAll((sections) =>
        sections.flatMap((section) =>
          [...section.querySelectorAll('kbd')].map((key) => `${section.getAttribute('aria-label')} ${key.textContent}`),
        ),
      );
    await closed();
    expect([...listed].sort()).toEqual(Object.keys(does).map(asWritten).sort());
    for (const [name, check] of Object.entries(does)) await check(name.slice(name.indexOf(' ') + 1));
  });
});
