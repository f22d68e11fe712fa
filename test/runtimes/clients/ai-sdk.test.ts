import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import { build } from 'vite';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { replies } from '../../../src/testing/replies.ts';
import { startBrowser, WAIT_MS } from '../../support/browser.ts';
import { refunds, type ServedOptions, startServer } from '../../support/chain-server.ts';
import { installClients } from '../../support/client-packages.ts';
import { testTemplate } from '../../support/new-project.ts';
import { partModel, textPart } from '../../support/scripted-models.ts';

const browser = await startBrowser();
if (typeof browser === 'string') process.stderr.write(`skipped: the chat example. ${browser}\n`);

const PACKAGES = ['@ai-sdk/react@4.0.177', '@ai-sdk/workflow@2.0.43'];

/** A project with the page and the packages that it imports. */
let project = '';

beforeAll(async () => {
  if (typeof browser === 'string') return;
  installClients('ai-sdk', PACKAGES);
  project = await mkdtemp(resolve('node_modules/.clients/ai-sdk/page-'));
  for (const name of ['index.html', 'main.tsx']) await copyFile(`examples/chat/${name}`, join(project, name));
  await build({ root: project, configFile: false, logLevel: 'error', build: { outDir: 'dist', minify: false } });
});

afterAll(async () => {
  if (typeof browser !== 'string') await browser.close();
  if (project !== '') await rm(project, { recursive: true });
});

/** Opens the page in the browser of one person, from the origin of the server. */
async function openChat(options: ServedOptions) {
  if (typeof browser === 'string') throw new Error(browser);
  const served = await startServer({ authorize: () => 'alice', ...options });
  const context: BrowserContext = await browser.newContext();
  onTestFinished(() => context.close());
  context.setDefaultTimeout(WAIT_MS);
  await context.route(/\/(?:assets\/.*)?(?:#.*)?$/u, (route) => {
    const { pathname } = new URL(route.request().url());
    return route.fulfill({ path: join(project, 'dist', pathname === '/' ? 'index.html' : pathname) });
  });
  const page = await context.newPage();
  await page.goto(served.url);
  return { ...served, context, page };
}

async function ask(page: Page, text: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Your message' }).fill(text);
  await page.keyboard.press('Enter');
}

const texts = (page: Page) => () => page.locator('p:not([role])').allTextContents();
const draft = (page: Page) => page.locator('pre', { hasText: /^It is/u });
const statusOf = (page: Page) => () => page.getByRole('status').textContent();

/** A model that writes the first half of its answer, and the other half when it is told to. */
function pausingModel() {
  let proceed = (): void => {};
  const promise = new Promise<void>((resume) => {
    proceed = resume;
  });
  const [start = '', end = ''] = JSON.stringify(replies.brief).split(' so.');
  const reply = [
    textPart(start),
    promise,
    textPart(` so.${end}`),
    { type: 'finish', reason: 'stop', usage: null },
  ] as const;
  return { model: partModel(reply), proceed };
}

const whole = ['Is it so?', replies.brief.answer];

describe.skipIf(typeof browser === 'string')('a chat app with useChat', () => {
  it('shows the whole answer after a reload in the middle of it', async () => {
    const { model, proceed } = pausingModel();
    const { page } = await openChat({ chain: { model } });
    await ask(page, 'Is it so?');
    await draft(page).waitFor();
    expect(await texts(page)()).toEqual(['Is it so?']);
    await page.reload();
    await draft(page).waitFor();
    proceed();
    await expect.poll(texts(page)).toEqual(whole);
    await page.reload();
    await expect.poll(statusOf(page)).toBe('ready');
    await expect.poll(texts(page)).toEqual(whole);
  });

  it('continues by itself when its connection is cut', async () => {
    const { model, proceed } = pausingModel();
    const { page, disconnect } = await openChat({ chain: { model } });
    await ask(page, 'Is it so?');
    await draft(page).waitFor();
    const again = page.waitForRequest(/\/stream\?startIndex=[1-9]/u);
    disconnect();
    await again;
    expect(await draft(page).count()).toBe(1);
    proceed();
    await expect.poll(texts(page)).toEqual(whole);
    expect(await draft(page).count()).toBe(0);
  });

  it('continues when the network returns', async () => {
    const { model, proceed } = pausingModel();
    const { page, context, disconnect, get } = await openChat({ chain: { model } });
    await ask(page, 'Is it so?');
    await draft(page).waitFor();
    await context.setOffline(true);
    disconnect();
    await expect.poll(statusOf(page)).toMatch(/fetch|network/iu);
    proceed();
    await expect.poll(async () => await (await get('/runs')).json()).toMatchObject({ runs: [{ status: 'completed' }] });
    expect(await texts(page)()).toEqual(['Is it so?']);
    await context.setOffline(false);
    await expect.poll(texts(page)).toEqual(whole);
    expect(await draft(page).count()).toBe(0);
  });

  it('continues in all tabs when an approval is given in one', async () => {
    const { page, context } = await openChat({ chain: refunds('A7').chain });
    await ask(page, 'Refund A7.');
    const approve = (tab: Page) => tab.getByRole('button', { name: 'Approve refund {"order":"A7"}' });
    await approve(page).waitFor();
    const other = await context.newPage();
    await other.goto(page.url());
    await approve(other).click();
    for (const tab of [page, other]) {
      await expect.poll(texts(tab)).toEqual(['Refund A7.', expect.any(String)]);
      expect(await approve(tab).count()).toBe(0);
    }
  });
});

it('the template `chat` passes its own tests', async () => {
  installClients('ai-sdk', PACKAGES);
  const clients = ['@ai-sdk/react', '@ai-sdk/workflow'].map((name) =>
    resolve('node_modules/.clients/ai-sdk/node_modules', name),
  );
  expect(await testTemplate('chat', clients)).toMatch(/Tests +\d+ passed \(\d+\)/u);
});
