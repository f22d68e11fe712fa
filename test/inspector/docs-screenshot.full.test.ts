import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { loadDocuments } from '../../src/documents/load-documents.ts';
import { createPassageIndex } from '../../src/documents/passage-index.ts';
import { memoryJournals } from '../../src/durable/journals/memory-journals.ts';
import { createPostChain } from '../../src/entries/index.ts';
import { exportRun } from '../../src/inspection/export-run.ts';
import { startBrowser } from '../support/browser.ts';

const PICTURES = { light: '', dark: '-dark' } as const;
const SCREENSHOTS = Object.values(PICTURES).flatMap((suffix) => [
  `docs/inspector${suffix}.png`,
  `docs/chart${suffix}.png`,
]);
const [WIDTH, HEIGHT] = [1280, 720];
/** Room for the whole chart at a readable size. */
const CHART_HEIGHT = 745;

/** The README run in an exported page, and its chart. */
async function draw(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'postchain-picture-'));
  const browser = await startBrowser();
  if (typeof browser === 'string') throw new Error(browser);
  try {
    const { documents } = await loadDocuments(['docs']);
    const chain = createPostChain({ documents: createPassageIndex(documents), journals: memoryJournals() });
    const run = chain.run({ request: 'What does the Yield phase decide, and in which order?' });
    await run.answer;
    writeFileSync(join(folder, 'run.html'), (await exportRun(run.entries)).html);
    const decision = run.entries.find(({ type }) => type === 'decision')?.seq ?? 0;
    for (const [colorScheme, suffix] of Object.entries(PICTURES)) {
      const page = await browser.newPage({
        viewport: { width: WIDTH, height: HEIGHT },
        colorScheme: colorScheme as keyof typeof PICTURES,
        reducedMotion: 'reduce',
      });
      await page.goto(`${pathToFileURL(join(folder, 'run.html')).href}#/run/${run.id}/${decision}`);
      await page.locator('.step-area').getByRole('heading', { name: 'Why' }).waitFor();
      await page.screenshot({ path: `docs/inspector${suffix}.png` });
      await page.goto(`${pathToFileURL(join(folder, 'run.html')).href}#/run/${run.id}`);
      await page.setViewportSize({ width: WIDTH, height: CHART_HEIGHT });
      await page.keyboard.press('c');
      const chart = page.locator('.chart-area');
      await chart.locator('svg text').first().waitFor();
      await chart.screenshot({ path: `docs/chart${suffix}.png`, style: 'button { visibility: hidden }' });
      await page.close();
    }
  } finally {
    await browser.close();
    rmSync(folder, { recursive: true });
  }
}

it('the documentation shows the current inspector (`npm run docs` takes the screenshot again)', async () => {
  if (process.env['UPDATE_DOCS']) await draw();
  for (const path of SCREENSHOTS) {
    expect(existsSync(path)).toBe(true);
    const header = readFileSync(path).subarray(0, 24);
    expect(header.subarray(1, 4).toString('latin1')).toBe('PNG');
    if (path.includes('inspector')) expect([header.readUInt32BE(16), header.readUInt32BE(20)]).toEqual([WIDTH, HEIGHT]);
  }
});
