import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { setup } from 'xstate';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { createDurableMachine, memoryJournals } from '../../../src/entries/durable.ts';
import { threeRecordedRuns } from '../../support/inspector/inspected-runs.ts';
import { inspectorTests } from '../../support/inspector/inspector-page.ts';
import { axeViolations, tooWideElements } from '../../support/inspector/page-checks.ts';
import { openTestPage, pageTests, showRuns } from '../../support/inspector/test-page.ts';

const tests = await pageTests('comparing runs in a page');
const runs = await threeRecordedRuns();

async function open(ids = 'run-0/run-1', { width = 1280, held = runs } = {}): Promise<Page> {
  const page = await openTestPage(tests, `/compare/${ids}`, width);
  await showRuns(page, held);
  return page;
}

/** The last entry of a type in the journal of a run. */
function lastOf<Type extends JournalEntry['type']>(run: number, type: Type): Extract<JournalEntry, { type: Type }> {
  const entries = (runs[run]?.lines ?? []).map((line): JournalEntry => JSON.parse(line));
  const found = entries.findLast((entry) => entry.type === type);
  if (found === undefined) throw new Error(`no ${type}`);
  return found as Extract<JournalEntry, { type: Type }>;
}

describe.skipIf(tests.areSkipped)('comparing two runs in the page', () => {
  it('shows where a run and its fork first differ, and why, with the numbers of the journal', async () => {
    const page = await open();
    const cause = page.locator('.cause');
    await cause.waitFor();
    const { confidence } = lastOf(1, 'decision').decision.inputs;
    const shown = String(Number(confidence));
    expect(await cause.innerText()).toMatch(/^First difference: Cycle \d, Yield/u);
    expect(await cause.innerText()).toContain(`did not hold (confidence ${shown}, needs more than 0.9`);
    expect(await cause.innerText()).toContain(`held (confidence ${shown}, needs more than 0.1`);
    expect(await page.getByRole('table', { name: 'Settings that differ' }).innerText()).toMatch(
      /Confidence to finish\s+0\.9\s+0\.1/u,
    );
    const facts = page.getByRole('table', { name: 'States and figures' });
    expect(await facts.innerText()).toMatch(/Why it ended\s+Ended in cycle \d: The cycle limit is reached/u);
    const [a, b] = await page.locator('.pair > div').allInnerTexts();
    expect(a).toContain('original');
    expect(b).toMatch(/fork of A: confidence to finish 0\.\d+ → 0\.1/u);
    // Each side links to the step at which it parts.
    await cause.getByRole('link').last().click();
    await page.locator('main[data-run="run-1"]').waitFor();
    const { seq } = lastOf(1, 'decision');
    expect(page.url()).toContain(`#/run/run-1/${seq}?step=decision-${seq}`);
  });

  it('shows an answer that both have once, and the figures of the journals with their difference', async () => {
    const page = await open();
    await page.locator('.cause').waitFor();
    const [first, second] = [0, 1].map((run) => lastOf(run, 'answer').answer.answerText);
    expect(second).toBe(first);
    expect(await page.locator('.answer').allInnerTexts()).toEqual([`Both have the same answer\n\n${first}`]);
    const [before = 0, , after = 0] = [0, 1, 2].map((run) => lastOf(run, 'end').summary.usage.modelCalls);
    const cells = page.locator('.compare-table tr', { hasText: 'Model calls' }).locator('td');
    const forked = lastOf(1, 'end').summary.usage.modelCalls;
    expect(await cells.allInnerTexts()).toEqual([
      `${before}`,
      `1 own, ${forked - 1} reused (${before - forked} fewer)`,
    ]);
    await page.getByRole('combobox', { name: 'Run B' }).selectOption('run-2');
    await expect.poll(() => cells.allInnerTexts()).toEqual([`${before}`, `${after} (${before - after} fewer)`]);
    expect(await page.locator('.compare-page h1').innerText()).toBe('Is it so?');
  });

  it('chooses another run, keeps both in the address, and goes back with Escape', async () => {
    const page = await open('run-1/run-0');
    await page.locator('.cause').waitFor();
    expect(await page.locator('.pair > div').first().innerText()).toContain('fork of B');
    await page.getByRole('combobox', { name: 'Run B' }).selectOption('run-2');
    await page.waitForFunction(() => location.hash === '#/compare/run-1/run-2');
    await page.reload();
    await showRuns(page, runs);
    await page.locator('.cause').waitFor();
    expect(await page.getByRole('combobox', { name: 'Run B' }).inputValue()).toBe('run-2');
    await page.locator('body').press('Escape');
    await page.getByRole('table', { name: 'Runs' }).waitFor();
  });

  it('says that a run is still loading or unknown, and offers others', async () => {
    const page = await open('run-0/nothing');
    const side = page.locator('.pair > div').last();
    await side.getByText('Loading…').waitFor();
    await page.evaluate(() => window.listener.end('nothing', 'There is no run "nothing".'));
    await side.getByText('There is no run "nothing". Choose another run.').waitFor();
    await page.getByRole('combobox', { name: 'Run B' }).selectOption('run-2');
    await page.locator('.cause').waitFor();
  });

  it('asks which run to compare with if no other one has the same question', async () => {
    const held = runs.map((one, at) => ({
      ...one,
      run: { ...one.run, title: `question ${at}`, forkedFrom: undefined },
    }));
    const page = await open('run-0/run-2', { held: held as unknown as typeof runs });
    await page.locator('body').press('Escape');
    await page.getByRole('checkbox').first().check();
    await page.getByRole('button', { name: 'Compare' }).click();
    await page.getByText('Choose what to compare with.').waitFor();
    await page.getByRole('combobox', { name: 'Run B' }).selectOption({ index: 1 });
    await page.locator('.cause').waitFor();
  });

  it('shows two actors that are not over, whose entries have no end yet', async () => {
    const held = runs.map((one, at) => ({
      ...one,
      run: { ...one.run, kind: 'system' as const, machine: 'order', title: `actor ${at}`, status: 'waiting' as const },
    }));
    const page = await open('run-0/run-2', { held: held.slice(0, 2) });
    await page.evaluate(
      (one) => {
        window.listener.runs([...window.inspector.runs.value, one.run], null, 0);
        window.listener.entries('run-2', 0, one.lines, { format: 'run' });
      },
      held[2] as (typeof held)[number],
    );
    await page.locator('.cause').waitFor();
    expect(await page.locator('h1').innerText()).toBe('Two actors of order');
  });

  it('does not compare a run with an actor, and disables the button', async () => {
    const held = runs.map((one, at) => ({ ...one, run: { ...one.run, ...(at === 2 && { kind: 'system' as const }) } }));
    const page = await open('run-0/run-2', { held });
    await page.getByRole('heading', { name: 'A run and an actor cannot be compared.' }).waitFor();
    expect(await page.locator('.compare-table, .cause').count()).toBe(0);
    await page.locator('body').press('Escape');
    for (const at of [0, 2]) await page.getByRole('checkbox').nth(at).check();
    expect(await page.getByRole('button', { name: 'Compare' }).isDisabled()).toBe(true);
  });

  it('does not compare the steps of actors of different machines', async () => {
    const held = runs.map((one, at) => ({
      ...one,
      run: { ...one.run, kind: 'system' as const, machine: `machine-${at}`, status: 'waiting' as const },
    }));
    const page = await open('run-0/run-2', { held });
    await page.getByText('These are actors of different machines, so their steps cannot be compared.').waitFor();
    expect(await page.locator('h1').innerText()).toBe('Actors of machine-0 and machine-2');
  });

  it.each([
    { width: 1280, scheme: 'light' },
    { width: 390, scheme: 'dark' },
  ] as const)('passes the accessibility checks and fits: $width px, $scheme', async ({ width, scheme }) => {
    const title = 'What is asked may be long, and be so in every run. '.repeat(3);
    const page = await open('run-0/run-2', {
      width,
      held: runs.map((held, at) => ({ ...held, run: { ...held.run, title: `${title}${at}` } })),
    });
    await page.emulateMedia({ colorScheme: scheme });
    await page.locator('.cause').waitFor();
    await page.locator('main details').evaluateAll((all) => {
      for (const fold of all) (fold as HTMLDetailsElement).open = true;
    });
    expect(await axeViolations(page, 'html')).toEqual([]);
    expect(await page.evaluate(tooWideElements)).toEqual([]);
  });
});

const order = setup({
  types: { context: {} as { cents: number }, events: {} as { type: 'ORDER' | 'APPROVE' }, input: {} as number },
  guards: { isLarge: ({ context }) => context.cents > 5_000 },
}).createMachine({
  id: 'order',
  version: '1',
  context: ({ input }) => ({ cents: input }),
  initial: 'open',
  states: {
    open: { on: { ORDER: [{ guard: 'isLarge', target: 'asking' }, { target: 'paid' }] } },
    asking: { on: { APPROVE: 'paid' } },
    paid: { type: 'final' },
  },
});

const journals = memoryJournals();
const host = createDurableMachine(order, { journals, logger: () => {} });
for (const [id, input] of Object.entries({ small: 900, large: 9_900 })) {
  const actor = await host.open(id, { input });
  await actor.send({ type: 'ORDER' });
  await actor.park();
}
const actorTests = await inspectorTests('comparing actors in a page', { journals, hosts: [host] });

it.skipIf(actorTests.areSkipped)(
  'shows the states, contexts and events of two actors, and where they part',
  async () => {
    const { page } = await actorTests.open('/compare/small/large');
    const facts = page.getByRole('table', { name: 'States and figures' });
    await facts.getByText('Context: cents').waitFor();
    expect(await facts.innerText()).toMatch(/Status\s+Completed, .*\s+Waiting since /u);
    expect(await facts.innerText()).toMatch(
      /paid, entered on ORDER, from open.*\s+asking, entered on ORDER, from open/u,
    );
    expect(await facts.innerText()).toMatch(/Context: cents\s+900\s+9900/u);
    expect(await page.locator('.cause').innerText()).toMatch(
      /^First difference: the data of step 1\s+A Started .*\s+B Started .*\s+They took different steps from step 2 on:\s+A ORDER open\s+paid isLarge did not hold\s+B ORDER open\s+asking isLarge held/u,
    );
    expect(await page.locator('h1').innerText()).toBe('Two actors of order');
  },
);
