import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import type { Page } from 'playwright-core';
import { build } from 'vite';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
};

/** Builds the React example into a directory; `model` replaces the page's own model module. */
export async function buildExamplePage(outDir: string, model?: string): Promise<void> {
  const alias = model === undefined ? [] : [{ find: './model.ts', replacement: model }];
  await build({
    root: 'examples/react',
    logLevel: 'error',
    resolve: { alias },
    build: { outDir, emptyOutDir: true, minify: false },
  });
}

/** Serves the files of a directory on a free loopback port, pages also without `.html`, with these additional headers. */
export async function serveFolder(folder: string, headers: Readonly<Record<string, string>> = {}) {
  const server = createServer(async ({ url = '/' }, response) => {
    const path = new URL(url, 'http://page').pathname;
    const name = path.endsWith('/') ? `${path}index.html` : path;
    try {
      const file = extname(name) === '' ? `${name}.html` : name;
      const body = await readFile(join(folder, file));
      const type = TYPES[extname(file)] ?? 'application/octet-stream';
      response.writeHead(200, { 'content-type': type, ...headers }).end(body);
    } catch {
      response.writeHead(404).end();
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Collects a page's errors, warnings, dialogs and windows, and its requests to other origins, one per line. */
export function pageProblems(page: Page, origin: string): string[] {
  const problems: string[] = [];
  const check = (url: string): void => {
    if (!url.startsWith(origin) && !url.startsWith('data:')) problems.push(`request: ${url}`);
  };
  page.on('pageerror', ({ message, stack }) => problems.push(`error: ${stack ?? message}`));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) problems.push(`${message.type()}: ${message.text()}`);
  });
  page.on('request', (request) => check(request.url().replace(/^blob:/u, '')));
  page.on('websocket', (socket) => check(socket.url().replace(/^ws/u, 'http')));
  page.on('dialog', (dialog) => {
    problems.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('popup', () => problems.push('opened a window'));
  page.on('response', (response) => {
    if (response.status() >= 400) problems.push(`${response.status()}: ${response.url()}`);
  });
  return problems;
}

/** Advances the page's clock until the condition holds; otherwise the page's time stands still. */
export async function runClockUntil(page: Page, holds: () => Promise<boolean>, stepMs = 100): Promise<void> {
  for (let steps = 0; steps < 400; steps += 1) {
    if (await holds()) return;
    await page.clock.runFor(stepMs);
  }
  throw new Error('the condition never held');
}

/** Returns the controls and landmarks without an accessible name. */
export function unnamedControls(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const names = (element: Element): string => {
      const by = element.getAttribute('aria-labelledby')?.split(' ') ?? [];
      const { labels } = element as HTMLInputElement;
      const texts = [...by.map((id) => document.getElementById(id)), ...(labels ?? [])].map(
        (label) => label?.textContent ?? '',
      );
      const own = element instanceof HTMLButtonElement ? (element.textContent ?? '') : '';
      return [element.getAttribute('aria-label') ?? '', own, ...texts].join('').trim();
    };
    return [...document.querySelectorAll('button, select, textarea, input, dialog, section, ol.phases')]
      .filter((element) => names(element) === '')
      .map(({ outerHTML }) => outerHTML.slice(0, 80));
  });
}

/** Returns the contrast ratio (WCAG 2.2, 1.4.3) of each element that has its own text. */
export function contrastsOf(page: Page): Promise<{ readonly text: string; readonly contrast: number }[]> {
  return page.evaluate(() => {
    const channels = (color: string): number[] => (color.match(/[\d.]+/g) ?? []).map(Number);
    const luminance = (color: string): number => {
      const [red = 0, green = 0, blue = 0] = channels(color).map((channel) => {
        const share = channel / 255;
        return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const ground = (element: Element | null): string => {
      if (element === null) return 'rgb(255, 255, 255)';
      const { backgroundColor } = getComputedStyle(element);
      return channels(backgroundColor)[3] === 0 ? ground(element.parentElement) : backgroundColor;
    };
    const hasText = (element: Element): boolean =>
      [...element.childNodes].some(({ nodeType, textContent }) => nodeType === 3 && textContent?.trim() !== '');
    return [...document.querySelectorAll('main *')].filter(hasText).map((element) => {
      const pair = [luminance(getComputedStyle(element).color), luminance(ground(element))];
      const contrast = (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
      return { text: (element.textContent ?? '').slice(0, 30), contrast };
    });
  });
}

/** Returns the elements whose content overflows horizontally. */
export function overflowingElements(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll('html, main, section, dialog, button, li, p')]
      .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
      .map(({ outerHTML }) => outerHTML.slice(0, 80)),
  );
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Returns axe-core's violations in a part of a page, one per line. */
export async function axeViolations(page: Page, part = '#panel'): Promise<readonly string[]> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe);
  return page.evaluate(async (selector) => {
    const { axe: tester } = window as unknown as { readonly axe: typeof import('axe-core') };
    const { violations } = await tester.run(selector);
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`));
  }, part);
}

/** Returns what overflows the page or its panel horizontally, one per line. Runs in the page. */
export function tooWideElements(): readonly string[] {
  const widest = (container: Element): string => {
    const [widest] = [...container.querySelectorAll('*')].sort(
      (one, other) => other.getBoundingClientRect().right - one.getBoundingClientRect().right,
    );
    return widest?.outerHTML.slice(0, 120) ?? '';
  };
  const found: string[] = [];
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth > clientWidth) found.push(`the page is ${scrollWidth} px wide; ${clientWidth} px are visible`);
  for (const element of document.querySelectorAll(
    '.panel, .page-header, .step-area, .trace-area, .compare-page, dialog[open]',
  ))
    if (element.scrollWidth > element.clientWidth + 1)
      found.push(
        `.${element.className} is ${element.scrollWidth} px wide; ${element.clientWidth} px are visible: ${widest(element)}`,
      );
  for (const control of document.querySelectorAll('button, select, input, summary')) {
    const { left, right, width } = control.getBoundingClientRect();
    if (width > 0 && control.checkVisibility() && (left < -1 || right > clientWidth + 1))
      found.push(`outside the page: ${control.outerHTML.slice(0, 100)}`);
  }
  return found;
}
