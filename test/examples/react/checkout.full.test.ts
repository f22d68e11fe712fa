import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testCheckout } from '../../../examples/react/checkout/test-checkout.ts';
import { systemReportText } from '../../../src/testing/system/system-report.ts';
import { startBrowser, WAIT_MS } from '../../support/browser.ts';
import { pausesClock } from '../../support/eager-clock.ts';
import { serveFolder } from '../../support/inspector/page-checks.ts';

const browser = await startBrowser();
if (typeof browser === 'string') process.stderr.write(`skipped: the tested page. ${browser}\n`);

const folder = await mkdtemp(join(tmpdir(), 'postchain-checkout-'));
const site = await serveFolder(folder);

beforeAll(async () => {
  if (typeof browser === 'string') return;
  await build({
    root: 'examples/react/checkout',
    base: './',
    logLevel: 'error',
    build: { outDir: folder, emptyOutDir: true, minify: false },
  });
});

afterAll(async () => {
  if (typeof browser !== 'string') await browser.close();
  await site.stop();
  await rm(folder, { recursive: true });
});

async function tested(query: string) {
  if (typeof browser === 'string') throw new Error(browser);
  const page = await browser.newPage();
  page.setDefaultTimeout(WAIT_MS);
  try {
    return systemReportText(
      await testCheckout(page, `${site.url}/${query}`, { timeoutMs: 1_000, clock: pausesClock(), seed: 1 }),
    );
  } catch (error) {
    return (error as Error).message;
  } finally {
    await page.close();
  }
}

describe.skipIf(typeof browser === 'string')('a React page in Chromium, tested with its model', () => {
  it('does what the model does, in every transition', async () => {
    expect(await tested('')).toMatch(
      /^The system does what checkout does: \d+ paths and 15 walks of seed 1, \d+ steps, 7 of 7 transitions\.$/u,
    );
  });

  it.each([
    [
      'stale-message',
      'expected what is read to be "paying, items: 1", received "paying, items: 1, the card was declined", after start → ADD {"count":1} → PAY → charge: declined → PAY',
    ],
    [
      'first-digit',
      'expected what is read to be "cart, items: 10", received "cart, items: 1", after start → ADD {"count":10} (walk',
    ],
  ])('shows the shortest path to its fault with ?fault=%s', async (fault, what) => {
    expect(await tested(`?fault=${fault}`)).toContain(`The system differs from checkout: ${what}`);
  });
});
