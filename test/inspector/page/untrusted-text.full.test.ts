import type { Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { revealHidden } from '../../../inspector/fold/text.ts';
import { type JournalEntry, journalEntrySchema } from '../../../machines/contracts/journal.ts';
import { exportRun } from '../../../src/inspection/export-run.ts';
import { inspectionServer } from '../../../src/inspection/inspection-server.ts';
import { withTexts } from '../../../src/inspection/redaction.ts';
import { NAUGHTY_STRINGS } from '../../support/hostile-input.ts';
import { failingRun, manualRun, recordedEntries, storeOf } from '../../support/inspector/inspected-runs.ts';
import { inspectorTests, nextFrames, openRun, PANEL_NAMES, showPanel } from '../../support/inspector/inspector-page.ts';
import { tooWideElements } from '../../support/inspector/page-checks.ts';
import { startScripted } from '../../support/run-chain.ts';

const journals = [recordedEntries(await failingRun()), recordedEntries(await manualRun())];

/** Text fields from a model, user, document, or capability; the others control the run. */
const IS_GIVEN =
  /(?:^|\.)(?:request|content|text|path|prompt|preview|description|heading\.\d+|message|reason|result|output|arguments|rationale)$/u;

/** Puts these texts into every such field, as long as the journal stays valid. */
function told(entries: readonly JournalEntry[], pieces: readonly string[], runId: string): readonly JournalEntry[] {
  let index = 0;
  return entries.map((entry) => {
    const changed = withTexts(entry, (text, path) => {
      if (/\.runId$/u.test(path) || path === 'runId') return runId;
      if (!IS_GIVEN.test(path) && !text.includes(' ')) return text;
      index += 1;
      return pieces[index % pieces.length] ?? text;
    });
    const given = { runId, request: pieces.join(' ') };
    const made = changed.type === 'start' ? { ...changed, input: { ...changed.input, ...given } } : changed;
    return journalEntrySchema.safeParse(made).success ? (made as JournalEntry) : entry;
  });
}

const runs = Object.entries(NAUGHTY_STRINGS).map(([name, pieces], index) => ({
  name,
  pieces,
  entries: told(journals[index % journals.length] ?? [], pieces, name),
}));

const tests = await inspectorTests('the page on naughty texts', {
  journals: storeOf(runs.map(({ entries }) => entries)),
});

/** All readable text of the page, including titles and accessible names. */
const readable = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const texts: string[] = [];
    for (const element of document.querySelectorAll('#page *')) {
      for (const { name, value } of element.attributes)
        if (/^(?:title|aria-.*|placeholder)$/u.test(name)) texts.push(value);
      for (const node of element.childNodes) if (node.nodeType === Node.TEXT_NODE) texts.push(node.nodeValue ?? '');
      if (element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement) texts.push(element.value);
    }
    return texts.join('\n');
  });

/** Side effects that no text may have. */
const made = (page: Page): Promise<readonly string[]> =>
  page.evaluate(() =>
    [
      ...document.querySelectorAll(
        '#page :is(script, img, iframe, a:not([href^="#/"]), link, meta, style, object, embed, base)',
      ),
    ]
      .concat([
        ...document.querySelectorAll(
          'body > :not(#page, script[type="application/json"]), #page [onerror], #page [onload]',
        ),
      ])
      .map(({ outerHTML }) => outerHTML.slice(0, 100)),
  );

const HIDDEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern looks for them
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]|[\u{e0000}-\u{e007f}]/u;

/** Opens every panel at some entries and returns all readable text. */
async function readAll(page: Page, where: string): Promise<string> {
  const texts: string[] = [];
  const looks = { End: PANEL_NAMES, 'Shift+ArrowLeft': ['step'] } as const;
  for (const [key, names] of Object.entries(looks)) {
    await page.keyboard.press(key);
    for (const name of names) {
      await showPanel(page, name);
      for (const part of [null, ...(await page.locator('.parts button').all())]) {
        await part?.click();
        await nextFrames(page);
        const text = await readable(page);
        expect(
          HIDDEN.exec(text)?.[0].codePointAt(0)?.toString(16),
          `${where}, ${name}: ${text.slice(text.search(HIDDEN) - 40, text.search(HIDDEN) + 40)}`,
        ).toBe(undefined);
        expect(await made(page), `${where}, ${name}`).toEqual([]);
        expect(await page.evaluate(tooWideElements), `${where}, ${name}`).toEqual([]);
        expect(await page.locator('.problem').allTextContents(), `${where}, ${name}`).toEqual([]);
        texts.push(text);
      }
    }
    await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
  }
  expect(await page.evaluate(() => window.pwned)).toBe(undefined);
  return texts.join('\n');
}

describe.skipIf(tests.areSkipped)('text from a model, a document, or a user', () => {
  it('is shown as text in every panel and neither executes nor hides anything', async () => {
    const { page } = await tests.open();
    for (const { name, pieces } of runs) {
      await openRun(page, name);
      await page.locator('.trace-row').first().waitFor();
      const text = await readAll(page, name);
      for (const piece of pieces) expect(text, name).toContain(revealHidden(piece.slice(0, 100)).split('\n')[0]);
    }
  });

  it('is shown in the table of runs, also as a currency, which comes from an untrusted program', async () => {
    const rule = 'cycleLimit\u202e\u0007';
    const currency = 'EUR\u202e';
    const decision = { rule, rationale: 'r', complete: true, nextPhase: null, inputs: {} };
    const { run } = startScripted();
    await run.answer;
    const forged = run.entries.map((entry): JournalEntry => {
      if (entry.type !== 'answer') return entry;
      const cost = { ...entry.answer.metadata.cost, amount: 1, currency };
      return {
        ...entry,
        answer: { ...entry.answer, metadata: { ...entry.answer.metadata, decision, cost } },
      } as JournalEntry;
    });
    const stranger = await inspectionServer({ journals: storeOf([forged]) });
    onTestFinished(() => stranger.close());
    const { page } = await tests.open('/', { url: stranger.url });
    await page.locator('.runs-grid tbody tr').waitFor();
    const text = await readable(page);
    expect(text).toContain(revealHidden(currency));
    expect(text).not.toMatch(HIDDEN);
  });

  it('is also safe in an exported page', async () => {
    for (const { name, entries } of runs.slice(0, 2)) {
      const { page } = await tests.openFile(`${name}.html`, (await exportRun(entries)).html);
      await page.locator('.trace-row').first().waitFor();
      await readAll(page, `${name} in a file`);
    }
  });
});
