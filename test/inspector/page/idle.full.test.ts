import { describe, expect, it } from 'vitest';
import { readmeRun } from '../../support/inspector/inspected-runs.ts';
import { inspectorTests, PANEL_NAMES, showPanel, waitForEntries } from '../../support/inspector/inspector-page.ts';

const tests = await inspectorTests('that an idle page does nothing');

declare global {
  interface Window {
    /** Frames and timers that the page waits for. */
    due: Set<string>;
  }
}

/** Records scheduled callbacks until they run or are canceled. */
function noteDue(): void {
  window.due = new Set();
  const ways = [
    ['requestAnimationFrame', 'cancelAnimationFrame'],
    ['setTimeout', 'clearTimeout'],
    ['setInterval', 'clearInterval'],
  ] as const;
  for (const [begin, cancel] of ways) {
    const [begun, cancelled] = [window[begin] as (...given: unknown[]) => number, window[cancel]];
    Object.assign(window, {
      [begin]: (act: (...given: unknown[]) => void, ...rest: unknown[]) => {
        const id = begun(
          (...given: unknown[]) => {
            if (begin !== 'setInterval') window.due.delete(`${begin} ${id}`);
            act(...given);
          },
          ...rest,
        );
        window.due.add(`${begin} ${id}`);
        return id;
      },
      [cancel]: (id: number) => {
        window.due.delete(`${begin} ${id}`);
        cancelled(id);
      },
    });
  }
}

describe.skipIf(tests.areSkipped)('the page with an idle live run', () => {
  it('schedules nothing but the clock of the trace and moves nothing, in any panel', async () => {
    const { run, model } = readmeRun([3]);
    tests.server.watch(run);
    const { page } = await tests.open('', { before: async (opened) => void (await opened.addInitScript(noteDue)) });
    await model.reached(3);
    await waitForEntries(page, run.entries.length);
    for (const name of PANEL_NAMES) {
      await showPanel(page, name);
      const busy = (): Promise<readonly string[]> =>
        page.evaluate(() => [
          ...[...window.due].filter((due) => !due.startsWith('setInterval')),
          ...document.getAnimations().flatMap(({ playState, id }) => (playState === 'running' ? [`moves ${id}`] : [])),
        ]);
      await expect.poll(busy, { message: name }).toEqual([]);
      const clocks = await page.evaluate(() => [...window.due].filter((due) => due.startsWith('setInterval')));
      expect(clocks.length).toBeLessThanOrEqual(1);
    }
    model.release(3);
    await run.answer;
    await waitForEntries(page, run.entries.length);
  });
});
