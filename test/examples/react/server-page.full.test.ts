import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { scriptedModel } from '../../../src/models/scripted.ts';
import { replies } from '../../../src/testing/replies.ts';
import { startBrowser, WAIT_MS } from '../../support/browser.ts';
import { ALICE, refunds, startServer } from '../../support/chain-server.ts';
import {
  buildExamplePage,
  contrastsOf,
  overflowingElements,
  serveFolder,
  unnamedControls,
} from '../../support/inspector/page-checks.ts';
import { neverSettles, partModel } from '../../support/scripted-models.ts';

const browser = await startBrowser();
if (typeof browser === 'string') process.stderr.write(`skipped: the example page of a server. ${browser}\n`);

const folder = await mkdtemp(join(tmpdir(), 'postchain-page-'));
const site = await serveFolder(folder);

beforeAll(async () => {
  if (typeof browser !== 'string') await buildExamplePage(folder);
});

afterAll(async () => {
  if (typeof browser !== 'string') await browser.close();
  await site.stop();
  await rm(folder, { recursive: true });
});

/** Opens the page with a server that allows its origin. */
async function open(chain: Parameters<typeof startServer>[0] = {}) {
  if (typeof browser === 'string') throw new Error(browser);
  const server = await startServer({ allowedOrigins: [site.url], ...chain });
  const page = await browser.newPage();
  page.setDefaultTimeout(WAIT_MS);
  const errors: string[] = [];
  page.on('pageerror', ({ message }) => errors.push(message));
  onTestFinished(async () => {
    await page.close();
    expect(errors).toEqual([]);
  });
  await page.goto(`${site.url}/server.html`);
  await connect(page, server.url, ALICE);
  return { page, ...server };
}

async function connect(page: Page, url: string, token: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Address of the server' }).fill(url);
  await page.getByLabel('Token').fill(token);
  await page.getByRole('button', { name: 'Connect' }).click();
}

async function ask(page: Page, request: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Your request' }).fill(request);
  await page.getByRole('button', { name: 'Ask' }).click();
}

const answerOf = (page: Page) => page.getByRole('region', { name: 'Answer' });

describe.skipIf(typeof browser === 'string')('the example page of a server', () => {
  it('shows a run, even after a reload in the middle of it, over one connection at a time', async () => {
    let go = (): void => {};
    const gone = new Promise<void>((resolve) => {
      go = resolve;
    });
    const answering = scriptedModel({}, { otherwise: replies });
    const model: typeof answering = {
      ...answering,
      async *stream(request, options) {
        if (request.task === 'intention') await gone;
        yield* answering.stream(request, options);
      },
    };
    const { page, health } = await open({ chain: { model, profile: 'thorough' } });
    await ask(page, 'Is it so?');
    const current = page.locator('[aria-current=step]');
    await current.getByText('intention').waitFor();
    expect(await health()).toMatchObject({ streams: 1 });
    await page.reload();
    await current.getByText('intention').waitFor();
    await expect.poll(health).toMatchObject({ streams: 1 });
    expect(await page.getByRole('button', { name: 'Ask' }).isEnabled()).toBe(false);
    go();
    await answerOf(page).waitFor();
    expect(await answerOf(page).locator('.text').textContent()).toBe(replies.synthesis.answerText);
    expect(await page.getByRole('status').textContent()).toBe('Answered.');
    await expect.poll(health).toMatchObject({ streams: 0 });
    await ask(page, 'And now?');
    await page.getByRole('heading', { name: 'And now?' }).waitFor();
    await answerOf(page).waitFor();
  });

  it('cancels a run, and leaves nothing open when it is closed', async () => {
    const { page, health } = await open({ chain: { model: partModel([neverSettles]) } });
    await ask(page, 'Is it so?');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await answerOf(page).getByText('cancelled').first().waitFor();
    await ask(page, 'Is it so?');
    await page.getByRole('button', { name: 'Cancel' }).waitFor();
    await page.goto('about:blank');
    await expect.poll(health).toMatchObject({ streams: 0 });
  });

  it('asks whether a tool may run, and shows its arguments', async () => {
    const { page } = await open({ chain: refunds('A7').chain });
    await ask(page, 'Refund A7.');
    const question = page.getByRole('region', { name: 'May refund run?' });
    await question.waitFor();
    expect(JSON.parse((await question.locator('pre').textContent()) ?? '')).toEqual({ order: 'A7' });
    expect(await unnamedControls(page)).toEqual([]);
    expect(await overflowingElements(page)).toEqual([]);
    expect((await contrastsOf(page)).filter(({ contrast }) => contrast < 4.5)).toEqual([]);
    await page.getByRole('button', { name: 'Approve' }).click();
    await answerOf(page).waitFor();
    expect(await question.count()).toBe(0);
  });

  it('shows why the server rejects a request, and works once it has the right token', async () => {
    const { page, url } = await open();
    await connect(page, url, 'wrong');
    await ask(page, 'Is it so?');
    await page.getByRole('alert').getByText('Send a token of this server').waitFor();
    await connect(page, url, ALICE);
    await ask(page, ' ');
    await page.getByRole('alert').getByText('expected a question or a task').waitFor();
    await ask(page, 'Is it so?');
    await answerOf(page).waitFor();
    expect(await page.getByRole('alert').textContent()).toBe('');
  });
});
