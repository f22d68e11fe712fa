import type { Page, WebSocketRoute } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { PageMessage } from '../../../src/inspection/page-messages.ts';
import { readmeRun } from '../../support/inspector/inspected-runs.ts';
import { displayedState, inspectorTests, waitForEntries } from '../../support/inspector/inspector-page.ts';
import { startScripted, unsureAnswer } from '../../support/run-chain.ts';

const tests = await inspectorTests('the page on live runs');
const { server, open } = tests;

const entryCount = async (page: Page): Promise<number> =>
  Number(await page.locator('.position').getAttribute('data-count'));

describe.skipIf(tests.areSkipped)('the page with a live run', () => {
  it('waits for the first run, shows it as it progresses, and its answer at the end, without layout shifts', async () => {
    const { page, requests } = await open();
    await page.getByText('No runs or actors yet').waitFor();
    const { run, model } = readmeRun([1, 2, 4]);
    server.watch(run);
    const standings: string[] = [];
    for (const call of [1, 2, 4]) {
      await model.reached(call);
      await waitForEntries(page, run.entries.length);
      const here = await displayedState(page);
      expect(here.status).toBe('Running');
      standings.push(here.rows.join(' '));
      if (call === 2) {
        await page.locator('.attempt.running').waitFor();
      }
      model.release(call);
    }
    expect(new Set(standings).size).toBe(3);
    const { answerText } = await run.answer;
    await page
      .locator('.verdict')
      .getByText(/Completed|Degraded/u)
      .waitFor();
    await waitForEntries(page, run.entries.length);
    const { rows } = await displayedState(page);
    expect(rows.filter((row) => /^Answer/u.test(row)).length).toBe(1);
    expect(rows.some((row) => row.includes('running'))).toBe(false);
    expect(await page.locator('.head-area').getByRole('region', { name: 'Answer' }).textContent()).toContain(
      answerText.slice(0, 200).split('\n')[0],
    );
    expect(await page.evaluate(() => (window.shifted < 0.05 ? 'calm' : window.shifts))).toBe('calm');
    // The page, its script, its style, and the socket, and nothing else.
    expect(
      new Set(
        requests.map((address) =>
          address
            .replace(/-[\w-]{8}\./u, '.')
            .split('/')
            .at(-1),
        ),
      ),
    ).toEqual(new Set(['', 'index.js', 'index.css', 'socket']));
  });

  it('shows the whole run after joining late or reloading', async () => {
    const { run, model } = readmeRun([3, 4], 'joined');
    server.watch(run);
    const first = await open();
    await model.reached(3);
    await waitForEntries(first.page, run.entries.length);
    const late = await open();
    await waitForEntries(late.page, run.entries.length);
    const here = await displayedState(first.page);
    expect(here.rows.length).toBeGreaterThan(2);
    expect(await displayedState(late.page)).toEqual(here);
    await first.page.reload();
    await waitForEntries(first.page, run.entries.length);
    expect(await displayedState(first.page)).toEqual(here);
    model.release(3);
    await model.reached(4);
    for (const { page } of [first, late]) await waitForEntries(page, run.entries.length);
    // The cursor of a reader at an earlier entry stays there.
    await late.page.keyboard.press('Home');
    model.release(4);
    await run.answer;
    await waitForEntries(first.page, run.entries.length);
    await late.page.waitForFunction((all) => {
      const { at, count } = document.querySelector<HTMLElement>('.position')?.dataset ?? {};
      return at === '0' && count === all;
    }, String(run.entries.length));
    await late.page.keyboard.press('End');
    await waitForEntries(late.page, run.entries.length);
    expect(await displayedState(late.page)).toEqual(await displayedState(first.page));
  });

  it('reports a lost connection and continues where it was after reconnecting', async () => {
    const sockets: WebSocketRoute[] = [];
    const wanted: number[] = [];
    let isUp = true;
    const { run, model } = readmeRun([2, 3], 'cut');
    server.watch(run);
    const cut = await open('', {
      before: (page) =>
        page.routeWebSocket(/\/socket$/u, (socket) => {
          if (!isUp) return void socket.close();
          sockets.push(socket);
          const server = socket.connectToServer();
          socket.onMessage((text) => {
            const message = JSON.parse(String(text)) as PageMessage;
            if (message.type !== 'open') return server.send(text);
            wanted.push(message.from);
            // Some entries arrive again and must not be counted twice.
            server.send(JSON.stringify({ ...message, from: Math.max(0, message.from - 5) }));
          });
        }),
    });
    await model.reached(2);
    await waitForEntries(cut.page, run.entries.length);
    const before = run.entries.length;
    isUp = false;
    await sockets[0]?.close();
    await cut.page.getByText('not connected').waitFor();
    model.release(2);
    await model.reached(3);
    expect(await entryCount(cut.page)).toBe(before);
    // Received entries remain readable in the meantime.
    await cut.page.keyboard.press('Home');
    await cut.page.keyboard.press('End');
    isUp = true;
    await waitForEntries(cut.page, run.entries.length);
    await cut.page.getByText('not connected').waitFor({ state: 'detached' });
    expect(sockets.length).toBe(2);
    expect(wanted).toEqual([0, before]);
    const fresh = await open();
    await waitForEntries(fresh.page, run.entries.length);
    expect(await displayedState(cut.page)).toEqual(await displayedState(fresh.page));
    model.release(3);
    await run.answer;
    await waitForEntries(cut.page, run.entries.length);
    await waitForEntries(fresh.page, run.entries.length);
    expect(await displayedState(cut.page)).toEqual(await displayedState(fresh.page));
  });

  it('can answer a run that waits for its user', async () => {
    const { run } = startScripted(
      { yield: (call: number) => unsureAnswer(call) },
      { newId: () => 'asked' },
      { request: 'Which way?', mode: 'manual' },
    );
    server.watch(run);
    const { page } = await open('/run/asked');
    await page.getByRole('form', { name: 'Continue with a phase' }).waitFor();
    await page.getByRole('button', { name: 'Finish now' }).click();
    const { status } = await run.answer;
    await page
      .locator('.verdict')
      .getByText(new RegExp(`^${status}`, 'iu'))
      .waitFor();
    expect(await page.getByRole('region', { name: 'Waiting for direction' }).count()).toBe(0);
  });
});
