import type { Page } from 'playwright-core';
import { done, explore, fails, type TestSystemOptions, testSystem } from 'postchain/testing';
import * as z from 'zod';
import { checkout } from './model.ts';

const exploration = explore(checkout, {
  outcomes: { charge: [done(), fails(new Error('no money'), 'declined')] },
  events: [{ type: 'ADD', count: 1 }, { type: 'EMPTY' }, { type: 'PAY' }, { type: 'CANCEL' }],
});

interface Options extends Omit<TestSystemOptions<typeof checkout, string>, 'system' | 'walks'> {
  readonly seed?: number;
}

/** Tests that a page does what the model does. In a Playwright test: `await testCheckout(page, 'http://localhost:5173/')`. */
export async function testCheckout(page: Page, url: string, { seed, ...options }: Options = {}) {
  // The backend answers when the test says so.
  let answer = (_status: number): void => {};
  let answered: Promise<number>;
  await page.route('**/charge', async (route) => {
    const status = await answered;
    await route.fulfill({ status }).catch(() => {});
  });
  await page.clock.install({ time: 0 });
  await page.goto(url);
  await page.clock.pauseAt(60_000);

  return testSystem(exploration, {
    system: {
      reset: () => page.goto(url),
      async send(event) {
        const button = page.getByRole('button', { name: event.type });
        // The page disables what the model ignores.
        if (!(await button.isEnabled())) return;
        if (event.type === 'ADD') await page.getByLabel('Count').fill(String(event.count));
        if (event.type === 'PAY')
          answered = new Promise((resolve) => {
            answer = resolve;
          });
        await button.click();
      },
      outcomes: { charge: ({ kind }) => answer(kind === 'done' ? 200 : 402) },
      elapse: ({ ms }) => page.clock.runFor(ms ?? 0),
      read: () => page.getByRole('status').innerText(),
      expected: ({ value, context }) =>
        `${value}, items: ${context.items}${context.isDeclined ? ', the card was declined' : ''}`,
    },
    walks: { count: 15, maxSteps: 30, seed, payloads: { ADD: z.object({ count: z.int().min(1).max(20) }) } },
    ...options,
  });
}
