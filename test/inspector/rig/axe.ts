import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Axe {
  run(
    part: string,
  ): Promise<{ readonly violations: readonly { id: string; impact: string; nodes: { html: string }[] }[] }>;
}

/** What axe-core finds serious or critical in a part of a page, a line each. */
export async function complaintsIn(page: Page, part: string): Promise<readonly string[]> {
  await page.evaluate(axe);
  return page.evaluate(async (selector) => {
    const { violations } = await (globalThis as unknown as { readonly axe: Axe }).axe.run(selector);
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`));
  }, part);
}
