import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exportRun } from '../../../src/inspection/export-run.ts';
import { readmeRun } from '../../support/inspector/inspected-runs.ts';
import { inspectorTests } from '../../support/inspector/inspector-page.ts';

const tests = await inspectorTests('the policy of the page');
const { run } = readmeRun();
await run.answer;
tests.server.watch(run);

/** A server of another origin and the requests it received. */
let elsewhere: Server;
const asked: string[] = [];
beforeAll(async () => {
  elsewhere = createServer(({ url = '' }, response) => {
    asked.push(url);
    response.setHeader('access-control-allow-origin', '*').end('window.pwned = 1;');
  });
  await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  elsewhere.close();
});

/** The CSP directive that blocks each attempt. */
const REFUSED = [
  ...['base-uri', 'connect-src', 'connect-src', 'connect-src', 'connect-src', 'form-action', 'frame-src', 'img-src'],
  ...['media-src', 'object-src', 'script-src', 'script-src-attr', 'script-src-elem', 'script-src-elem'],
  ...['style-src-elem', 'style-src-elem', 'worker-src'],
];

/** Everything that injected code could try. */
async function tryAll(page: Page): Promise<void> {
  const { port } = elsewhere.address() as AddressInfo;
  await page.evaluate(async (address) => {
    const add = (name: string, attributes: Readonly<Record<string, string>>, text = ''): void => {
      const element = document.createElement(name);
      for (const [attribute, value] of Object.entries(attributes)) element.setAttribute(attribute, value);
      element.textContent = text;
      document.body.append(element);
    };
    add('script', {}, 'window.pwned = 2;');
    add('script', { src: `${address}/script.js` });
    add('style', {}, 'body { display: none }');
    add('link', { rel: 'stylesheet', href: `${address}/style.css` });
    add('img', { src: `${address}/image.png` });
    add('img', { src: 'data:,', onerror: 'window.pwned = 3' });
    add('iframe', { src: `${address}/frame.html` });
    add('object', { data: `${address}/object.html` });
    add('video', { src: `${address}/video.webm` });
    add('base', { href: `${address}/` });
    add('form', { action: `${address}/form` });
    document.querySelector<HTMLFormElement>('body > form')?.submit();
    const tries: readonly (() => unknown)[] = [
      () => fetch(`${address}/fetch`),
      () => navigator.sendBeacon(`${address}/beacon`),
      () => new WebSocket(`${address.replace('http', 'ws')}/socket`),
      () => new EventSource(`${address}/events`),
      () => new Worker(`data:text/javascript,fetch('${address}/worker')`),
      () => setTimeout('window.pwned = 4' as unknown as () => void),
    ];
    for (const attempt of tries)
      try {
        await attempt();
      } catch {
        // Refused at once.
      }
  }, `http://127.0.0.1:${port}`);
}

describe.skipIf(tests.areSkipped)('code injected into the page', () => {
  it.each(['served', 'exported'])('cannot run, change anything, or send requests: %s', async (kind) => {
    const look = { isHostile: true };
    const opened =
      kind === 'served' ? tests.open('', look) : tests.openFile('run.html', (await exportRun(run.entries)).html, look);
    const { page } = await opened;
    const url = page.url().split('#')[0];
    await page.locator('.trace-row').first().waitFor();
    expect(await page.evaluate(() => window.refused)).toEqual([]);
    await tryAll(page);
    const refused = () => page.evaluate(() => window.refused.map((what) => what.split(' ')[0]).sort());
    await expect.poll(refused).toEqual(REFUSED);
    expect(await page.evaluate(() => window.pwned)).toBe(undefined);
    expect(await page.locator('.trace').isVisible()).toBe(true);
    expect(page.url().split('#')[0]).toBe(url);
    expect(asked).toEqual([]);
  });
});
