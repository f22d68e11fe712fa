import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What axe-core finds wrong in a part of a page, a line each: contrast, names, roles. */
export async function complaintsIn(page: Page, part = '#panel'): Promise<readonly string[]> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe);
  return page.evaluate(async (selector) => {
    const { axe: tester } = window as unknown as { readonly axe: typeof import('axe-core') };
    const { violations } = await tester.run(selector);
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`));
  }, part);
}
