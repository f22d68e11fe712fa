import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, expect, onTestFinished } from 'vitest';
import { complaintsOf } from '../../examples/react/page-rig.ts';
import { startBrowser, WAIT_MS } from '../../support/browser.ts';

/** What tests of a page need: a browser, and a folder for its files. Both go when the tests of the file are over. */
export interface PageTests {
  /** No browser starts here. */
  readonly areSkipped: boolean;
  readonly folder: string;
  /** A new page, closed when the test is over. It must have complained of nothing, and asked nobody but its own files. */
  newPage(options?: BrowserContextOptions): Promise<Page>;
}

export async function pageTests(subject: string): Promise<PageTests> {
  const browser = await startBrowser();
  if (typeof browser === 'string') process.stderr.write(`skipped: ${subject}. ${browser}\n`);
  const folder = await mkdtemp(join(tmpdir(), 'postchain-page-'));
  afterAll(async () => {
    if (typeof browser !== 'string') await browser.close();
    await rm(folder, { recursive: true });
  });
  return {
    areSkipped: typeof browser === 'string',
    folder,
    async newPage(options) {
      if (typeof browser === 'string') throw new Error(browser);
      const page = await browser.newPage({ viewport: { width: 1280, height: 720 }, ...options });
      page.setDefaultTimeout(WAIT_MS);
      const complaints = complaintsOf(page, 'file:');
      onTestFinished(async () => {
        await page.close();
        expect(complaints).toEqual([]);
      });
      return page;
    },
  };
}
