import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { type InspectionServer, inspectionServer } from '../../../src/inspection/inspection-server.ts';
import { type Look, openWatched, type WatchedPage } from './page-rig.ts';

/** One page for all tests of a file, on a server of its own that shows these runs. Both are closed after the last test, and the browser. */
export function pageOnRuns(
  browser: Browser | null,
  runs: readonly Parameters<InspectionServer['watch']>[0][],
  look: Look = {},
): () => Page {
  let server: InspectionServer;
  let watched: WatchedPage;
  beforeAll(async () => {
    if (browser === null) return;
    server = await inspectionServer();
    for (const run of runs) server.watch(run);
    watched = await openWatched(browser, server.url, look);
    await watched.page.locator('.chart-picture').waitFor();
  });
  afterAll(async () => {
    if (browser === null) return;
    await watched.close();
    await browser.close();
    await server.close();
  });
  return () => watched.page;
}
