import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { PHASES } from '../../../machines/contracts/phase.ts';
import { startBrowser, WAIT_MS } from '../../support/browser.ts';
import {
  buildExamplePage,
  contrastsOf,
  overflowingElements,
  pageProblems,
  runClockUntil,
  serveFolder,
  unnamedControls,
} from '../../support/inspector/page-checks.ts';

const browser = await startBrowser();
if (typeof browser === 'string') process.stderr.write(`skipped: the example page. ${browser}\n`);

const folder = await mkdtemp(join(tmpdir(), 'postchain-page-'));
const site = await serveFolder(folder);

beforeAll(async () => {
  if (typeof browser === 'string') return;
  await buildExamplePage(join(folder, 'page'));
  await buildExamplePage(join(folder, 'scripted'), new URL('./page-model.ts', import.meta.url).pathname);
});

afterAll(async () => {
  if (typeof browser !== 'string') await browser.close();
  await site.stop();
  await rm(folder, { recursive: true });
});

/**
 * Opens the page in its own window. `page` answers at its own pace, on a paused clock; `scripted` answers immediately. Closing it fails if
 * the page reported errors.
 */
async function open(which: 'page' | 'scripted'): Promise<{ readonly page: Page; readonly close: () => Promise<void> }> {
  if (typeof browser === 'string') throw new Error(browser);
  const page = await browser.newPage();
  page.setDefaultTimeout(WAIT_MS);
  const complaints = pageProblems(page, site.url);
  if (which === 'page') await page.clock.install({ time: 0 });
  await page.goto(`${site.url}/${which}/`);
  if (which === 'page') await page.clock.pauseAt(60_000);
  const close = async (): Promise<void> => {
    await page.close();
    expect(complaints).toEqual([]);
  };
  return { page, close };
}

async function openHere(which: 'page' | 'scripted'): Promise<Page> {
  const { page, close } = await open(which);
  onTestFinished(close);
  return page;
}

async function ask(page: Page, request: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Your request' }).fill(request);
  await page.getByRole('button', { name: 'Ask' }).click();
}

const answerOf = (page: Page) => page.getByRole('region', { name: 'Answer' });
const dialogOf = (page: Page) => page.getByRole('dialog', { name: /shortened/ });
const messagesOf = (page: Page) => page.getByRole('region', { name: 'Messages' });
const answered = (page: Page) => () => answerOf(page).isVisible();
const currentPhase = (page: Page) => page.locator('[aria-current=step]').textContent();
const LONG = `The boat was late again. ${'It comes when the sea is calm, or so they say. '.repeat(40)}`.trim();

describe.skipIf(typeof browser === 'string')('the example page', () => {
  it('shows the six phases in order, then the answer with its confidence and source', async () => {
    const page = await openHere('page');
    await ask(page, 'When is the lamp lit in January?');
    const seen: (string | null)[] = [];
    await runClockUntil(page, async () => {
      if (await answered(page)()) return true;
      const current = await page.locator('[aria-current=step]').allTextContents();
      for (const phase of current) if (seen.at(-1) !== phase) seen.push(phase);
      return false;
    });
    expect(seen).toEqual(PHASES);
    const answer = answerOf(page);
    expect(await answer.locator('.text').textContent()).toContain('an hour before sunset in December and January');
    expect(await answer.textContent()).toMatch(/[7-9]\d %, completed/);
    expect(Number(await answer.getByRole('meter', { name: 'Confidence' }).getAttribute('value'))).toBeGreaterThan(0.7);
    expect(await answer.getByRole('listitem').textContent()).toMatch(/^lighthouse\/lamp\.md:1-7/);
    expect(await page.getByRole('status').textContent()).toBe('Answered.');
  });

  it('shows a reply while it streams, before there is an answer', async () => {
    const page = await openHere('page');
    await ask(page, 'Who is the deputy?');
    await runClockUntil(page, async () => (await currentPhase(page)) === 'experience', 30);
    const texts: string[] = [];
    await runClockUntil(
      page,
      async () => {
        texts.push((await page.locator('.writing').textContent()) ?? '');
        return (await currentPhase(page)) !== 'experience';
      },
      30,
    );
    const whole = texts.at(-1) ?? '';
    const grown = [...new Set(texts)].filter((text) => text !== '' && whole.startsWith(text));
    expect(grown.length).toBeGreaterThan(3);
    expect(await answerOf(page).isVisible()).toBe(false);
  });

  it('answers immediately with the results so far when canceled', async () => {
    const page = await openHere('page');
    await ask(page, 'How much oil does the lamp burn?');
    await runClockUntil(page, async () => (await currentPhase(page)) === 'intention', 30);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await answerOf(page).waitFor();
    expect(await answerOf(page).textContent()).toContain('cancelled');
    expect(await page.getByRole('button', { name: 'Cancel' }).count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Ask' }).isEnabled()).toBe(true);
    expect(await page.getByRole('textbox').evaluate((box) => box === document.activeElement)).toBe(true);
  });

  describe('asking before a long user message is changed', () => {
    let page: Page;
    let close: () => Promise<void>;
    beforeAll(async () => {
      ({ page, close } = await open('scripted'));
      await ask(page, LONG);
      await answerOf(page).waitFor();
      expect(await dialogOf(page).count()).toBe(0);
    });
    afterAll(() => close());

    /** Every further request includes the long message as history. */
    const asked = async (): Promise<void> => {
      await ask(page, 'When does the boat come?');
      await dialogOf(page).waitFor();
      expect(await said()).toContain(LONG);
    };
    const said = () => messagesOf(page).locator('[data-role=user] p').allTextContents();

    it.each([
      ['Keep all', LONG],
      ['Summarize all', expect.stringMatching(/^The boat was late again\..{0,180}$/)],
      ['Remove all', 'When does the boat come?'],
    ])('supports %s', async (name, first) => {
      await asked();
      await page.getByRole('button', { name }).click();
      await answerOf(page).waitFor();
      expect((await said())[0]).toEqual(first);
      expect(await dialogOf(page).count()).toBe(0);
    });

    it('lets a choice for one message override the choice for all', async () => {
      await asked();
      await page.getByRole('combobox', { name: 'This one' }).first().selectOption('keep');
      await page.getByRole('button', { name: 'Remove the rest' }).click();
      await answerOf(page).waitFor();
      expect(await said()).toContain(LONG);
    });

    it('keeps everything on Escape and works with the keyboard alone', async () => {
      await asked();
      const focused = () => page.evaluate(() => document.activeElement?.textContent);
      expect(await focused()).toBe('keep all');
      await page.keyboard.press('Tab');
      expect(await focused()).toBe('summarize all');
      await page.keyboard.press('Escape');
      await answerOf(page).waitFor();
      expect(await said()).toContain(LONG);
    });

    it('fits any window width in light and dark themes with readable text', async () => {
      await asked();
      for (const width of [320, 768, 1280])
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.setViewportSize({ width, height: 700 });
          await page.emulateMedia({ colorScheme });
          expect(await overflowingElements(page)).toEqual([]);
          expect((await contrastsOf(page)).filter(({ contrast }) => contrast < 4.5)).toEqual([]);
        }
      await page.keyboard.press('Escape');
    });

    it('names every control and has one title, one main element, and unique ids', async () => {
      await answerOf(page).waitFor();
      await asked();
      expect(await unnamedControls(page)).toEqual([]);
      expect(await page.title()).not.toBe('');
      expect(await page.locator('html').getAttribute('lang')).toBe('en');
      expect(await page.locator('main, h1').count()).toBe(2);
      const ids = await page.locator('[id]').evaluateAll((all) => all.map(({ id }) => id));
      expect(new Set(ids).size).toBe(ids.length);
      await page.keyboard.press('Escape');
    });
  });

  it('shows model output as text, even if it looks like HTML', async () => {
    const page = await openHere('scripted');
    await ask(page, '<b onclick="window.hacked = true">Is it so?</b>');
    await answerOf(page).waitFor();
    expect(await answerOf(page).textContent()).toContain('<img src="x" onerror="window.hacked = true">');
    expect(await messagesOf(page).textContent()).toContain('<b onclick=');
    expect(await page.locator('main').locator('img, script, b, [onerror], [onclick]').count()).toBe(0);
    expect(await page.evaluate(() => 'hacked' in window)).toBe(false);
  });

  it('rejects an empty request with a message, and starts nothing', async () => {
    const page = await openHere('scripted');
    await ask(page, '   ');
    expect(await page.getByRole('alert').textContent()).toMatch(/^request: expected a question or a task/);
    expect(await page.getByRole('list', { name: 'Phases' }).count()).toBe(0);
  });
});
