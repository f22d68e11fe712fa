import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { replies } from '../../src/testing/replies.ts';
import { WAIT_MS } from '../support/browser.ts';
import { chatServer, completion, taskOf } from '../support/chat-server.ts';
import { browserFor } from '../support/inspector/inspector-page.ts';
import { axeViolations, pageProblems, serveFolder, tooWideElements } from '../support/inspector/page-checks.ts';

const KEY = 'sk-only-for-the-server';

const browser = await browserFor('the playground');
let site: Awaited<ReturnType<typeof serveFolder>>;
beforeAll(async () => {
  if (browser === null) return;
  const npm = (...args: readonly string[]) => execFileSync('npm', args, { stdio: 'inherit' });
  if (!existsSync('site/node_modules')) npm('ci', '--prefix', 'site', '--no-audit', '--no-fund');
  npm('run', '--silent', 'site');
  site = await serveFolder('site/dist');
});
afterAll(async () => {
  await browser?.close();
  await site?.stop();
});

/** Opens a page; the test fails if the page logs a problem or makes a request to another origin than these. */
async function open(path: string, options: { theme?: 'light' | 'dark'; width?: number } = {}, allowed = site.url) {
  const { theme = 'light', width = 1280 } = options;
  const page = await (browser as NonNullable<typeof browser>).newPage({
    viewport: { width, height: 800 },
    colorScheme: theme,
  });
  page.setDefaultTimeout(WAIT_MS);
  const problems = pageProblems(page, site.url);
  onTestFinished(async () => {
    await page.close();
    // The accessibility checks look into frames; the inspector's has another origin.
    const expected = (problem: string) => problem.startsWith(`request: ${allowed}`) || /'postMessage'/u.test(problem);
    expect(problems.filter((problem) => !expected(problem))).toEqual([]);
  });
  await page.goto(`${site.url}/${path}`);
  return page;
}

const answerOf = (page: Page) => page.getByRole('region', { name: 'Answer' });
const ask = (page: Page) => page.getByRole('button', { name: 'Ask', exact: true }).click();

const runOf = (page: Page) => page.frameLocator('.run-frame iframe:not(.next)');
const openTab = (page: Page, name: string) => page.getByRole('tab', { name }).click();

async function explore(page: Page, code: string): Promise<void> {
  await openTab(page, 'Explore a machine');
  await page.getByLabel('An XState 5 machine').fill(code);
  await page.getByRole('button', { name: 'Explore', exact: true }).click();
}

describe.skipIf(browser === null)('the start page', () => {
  it.each(['light', 'dark'] as const)('shows four real runs, one of them killed and continued: %s', async (theme) => {
    const page = await open('', { theme });
    const terminals = await page.locator('.terminal').allInnerTexts();
    expect(terminals).toEqual([
      expect.stringMatching(/completed[^$]*returns\.md:3\n\$[^$]*Degraded \(no evidence\)/u),
      expect.stringMatching(
        /^\$ node order\.mjs\no-17 is waiting; expires in 72.*\n\$ kill -9 \d+\n\$ node[^$]*waiting.*71\.9[\s\S]*completed$/u,
      ),
      expect.stringContaining('FAILS: no unhandled error'),
      expect.stringMatching(/mail-3 asks[\s\S]*waiting[\s\S]*completed$/u),
    ]);
    expect([...(await axeViolations(page, 'main')), ...(await page.evaluate(tooWideElements))]).toEqual([]);
    for (const link of await page.locator('main a[href^="/"], main a[href^="./"]').all())
      expect((await page.request.get(new URL((await link.getAttribute('href')) ?? '', page.url()).href)).ok()).toBe(
        true,
      );
  });
});

describe.skipIf(browser === null)('the playground', () => {
  it('shows an answer, its chart and its trace before the first click', async () => {
    const page = await open('playground', { width: 1440 });
    await answerOf(page).getByText('It closes at five, and at eight on Thursdays.').waitFor();
    await runOf(page).locator('.chart-area').getByText('observation').first().waitFor();
    await runOf(page).locator('.trace-area').getByText('Cycle 2').first().waitFor();
    const loaded = await page.evaluate(() =>
      performance
        .getEntriesByType('resource')
        .map(({ name }) => name)
        .join(),
    );
    expect(loaded).not.toContain('create-post-chain');
  });

  it('runs again when a threshold moves, and keeps the settings in the address', async () => {
    const page = await open('playground', { width: 1440 });
    await answerOf(page).getByText('2 cycles').waitFor();
    await page.getByLabel('Confidence to finish').fill('0.2');
    await answerOf(page).getByText('completed').waitFor();
    expect(await answerOf(page).innerText()).toContain('1 cycle');
    await runOf(page).locator('.verdict').getByText('Completed').waitFor();
    await runOf(page).getByText('needs more than 0.2').first().waitFor();

    await page.getByLabel('Your text').fill('The museum opens at ten.');
    await page.getByRole('textbox', { name: 'Question' }).fill('When does the museum open?');
    await page.getByLabel('Support needed').fill('0.8');
    await ask(page);
    await answerOf(page).getByText('needs 0.8').waitFor();
    await page.reload();
    await answerOf(page).getByText('The museum opens at ten.').waitFor();
    expect(await page.getByLabel('Support needed').inputValue()).toBe('0.8');
  });

  it('ignores the invalid settings of a link, and says so', async () => {
    const hash = encodeURIComponent(JSON.stringify({ maxCycles: 1, confidence: '1); alert(1', baseURL: 'http://a' }));
    const page = await open(`playground#${hash}`);
    await page.getByText('Ignored 2 invalid settings of the link.').waitFor();
    await answerOf(page).getByText('cycle_limit_reached').waitFor();
  });

  it('continues a killed process from its journal', async () => {
    const page = await open('playground');
    await openTab(page, 'Kill a process');
    for (const name of ['Add a book', 'Order']) await page.getByRole('button', { name, exact: true }).click();
    await page.getByText('Payment due in').waitFor();
    const rows = page.getByRole('region', { name: 'Journal entries' }).locator('tbody tr');
    const before = (await rows.allInnerTexts()).toReversed();
    await page.getByRole('button', { name: 'Kill the process' }).click();
    await page.getByText('Killed in unpaid, 1 book').waitFor();
    expect(await page.getByRole('button', { name: 'Pay', exact: true }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('Running in unpaid, 1 book').waitFor();
    await rows.getByText('resumed').first().waitFor();
    expect((await rows.allInnerTexts()).toReversed().slice(0, before.length)).toEqual(before);

    await page.reload();
    await openTab(page, 'Kill a process');
    await page.getByRole('button', { name: 'Pay', exact: true }).click();
    await page.getByText('Ended in delivered').waitFor();
  });

  it('sends the key to the entered server only, and keeps it nowhere', async () => {
    const server = await chatServer(({ method, body, response }) => {
      for (const name of ['origin', 'headers', 'methods']) response.setHeader(`access-control-allow-${name}`, '*');
      if (method === 'OPTIONS') return void response.end();
      response.setHeader('content-type', 'text/event-stream');
      response.end(completion(JSON.stringify(replies[taskOf(body)])));
    });
    const page = await open('playground', {}, server.baseURL);
    const requests: { readonly url: string; readonly headers: Promise<string> }[] = [];
    page.on('request', (request) => {
      requests.push({ url: request.url(), headers: request.allHeaders().then((headers) => JSON.stringify(headers)) });
    });
    await page.getByText('Your own model').click();
    await page.getByLabel('Base URL').fill(server.baseURL);
    await page.getByLabel('Model', { exact: true }).fill('any');
    await page.getByLabel('Key').fill(KEY);
    await page.getByLabel('Profile').selectOption('thorough');
    await ask(page);
    await answerOf(page).getByText('Working').waitFor({ state: 'hidden' });
    await expect.poll(() => server.exchanges.length).toBeGreaterThan(0);
    expect(server.exchanges.some(({ headers }) => headers.authorization === `Bearer ${KEY}`)).toBe(true);
    for (const { url, headers } of requests) {
      expect(url).not.toContain(KEY);
      if (!url.startsWith(server.baseURL)) expect(await headers, url).not.toContain(KEY);
    }
    const kept = await page.evaluate(() =>
      JSON.stringify([location.href, { ...localStorage }, { ...sessionStorage }, document.cookie, history.state]),
    );
    expect(kept).toContain('thorough');
    for (const secret of [KEY, server.baseURL, encodeURIComponent(server.baseURL)]) expect(kept).not.toContain(secret);
    await page.reload();
    await page.getByText('Your own model').click();
    expect(await page.getByLabel('Key').inputValue()).toBe('');
  });

  it('explores a pasted machine, and explains what is wrong with one', async () => {
    const page = await open('playground');
    const body = `createMachine({
        initial: 'shut',
        states: {
          shut: { on: { go: { target: 'open', actions: () => { const n = 1; return n; } } } },
          open: { invoke: { src: fromPromise(async () => 1) } },
        },
      })`;
    await explore(page, `import { createMachine, fromPromise } from 'xstate'\n\nexport const door = ${body}`);
    const findings = page.getByRole('region', { name: 'Findings' });
    await findings.getByText('FAILS: no unhandled error: "Scripted failure" ends it in "open"').waitFor();
    const outcomes = 'const outcomes = { open: [done()] };';
    await explore(page, `${outcomes}\nexport default ${body};`);
    await findings.getByText('holds: no unhandled error').waitFor();
    expect(await findings.innerText()).toContain('FAILS: no dead end');

    const problem = page.getByRole('alert');
    for (const [code, message] of [
      ['const machine = 5;', 'No machine found. Assign the result of createMachine to a constant'],
      ["const machine = createMachine({ initial: 'nowhere', states: { a: {} } });", '"nowhere" not found'],
      ['const machine = createMachine({', 'Line 1: Unexpected end of input'],
      ["import {\n  setup,\n} from 'xstate';\n\nconst machine = {{;", "Line 5: Unexpected token '{'"],
      ["import { setup } from 'xstate';\nconst a = 1;\n\nexport default nothing;", 'Line 4: nothing is not defined'],
      [
        "const a = () => {};\n\ncreateMachine({ initial: 'a', states: { a: { on: { go: 'b' } } } });",
        'Line 3: Invalid transition',
      ],
    ] as const) {
      await explore(page, code);
      await problem.getByText(message).waitFor();
    }
  });

  it.each([
    { theme: 'light', width: 1280 },
    { theme: 'light', width: 390 },
    { theme: 'dark', width: 1280 },
    { theme: 'dark', width: 390 },
  ] as const)('passes the accessibility checks and fits: $theme, $width px', async (options) => {
    const page = await open('playground', options);
    const check = async () => [...(await axeViolations(page, 'main')), ...(await page.evaluate(tooWideElements))];
    await answerOf(page).waitFor();
    await page.getByText('Your own model').click();
    expect(await check()).toEqual([]);
    await openTab(page, 'Explore a machine');
    await page.getByText(/FAILS: no unhandled error/u).waitFor();
    expect(await check()).toEqual([]);
    await openTab(page, 'Kill a process');
    await page.getByText('Running in cart').waitFor();
    expect(await check()).toEqual([]);
  });
});

it.skipIf(browser === null)('a page is shown without its app, and its search opens at the first tap', async () => {
  const page = await open('durable#effects');
  const heading = page.getByRole('heading', { name: 'Effects' });
  const place = () => heading.evaluate((element) => element.getBoundingClientRect().top);
  const before = await place();
  expect(await page.locator('#app').evaluate((app) => '__vue_app__' in app)).toBe(false);
  await page.getByRole('button', { name: 'Search' }).evaluate((button) => {
    button.dispatchEvent(new PointerEvent('pointerdown', { bubbles: true }));
    (button as HTMLElement).click();
  });
  await page.locator('.VPLocalSearchBox').waitFor();
  expect(await place()).toBe(before);
});

it.skipIf(browser === null)('the gallery opens ten runs in the inspector', async () => {
  const page = await open('gallery');
  const links = page.locator('main a[href^="/runs/"]');
  const paths = await links.evaluateAll((all) => all.map((link) => link.getAttribute('href')));
  const ends: string[] = [];
  for (const path of paths) {
    await page.goto(`${site.url}${path}`);
    ends.push(await page.locator('.verdict .word').innerText());
  }
  expect(ends).toEqual([
    'Completed',
    'Degraded: unsupported',
    'Degraded: cycle limit reached',
    'Completed',
    'Completed',
    'Degraded: tool failed',
    'Degraded: tool not approved',
    'Cancelled',
    'Completed',
    'Completed',
  ]);
});
