import fc from 'fast-check';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { revealHidden } from '../../../inspector/fold/text.ts';
import type { Message } from '../../../machines/contracts/message.ts';
import { replies } from '../../../src/testing/replies.ts';
import { ownCharts, runToAnswer } from '../../support/inspector/inspected-runs.ts';
import { browserFor, pageForRuns, selectEntry, showPanel } from '../../support/inspector/inspector-page.ts';
import { type ObservedStates, observeRun } from '../../support/inspector/observed-run.ts';
import { LONG_HISTORY } from '../../support/journal-files.ts';
import { everyTask, type ScriptedRun, unsureAnswer, workCall } from '../../support/run-chain.ts';

const browser = await browserFor('time travel in the page');

type Run = ScriptedRun['run'];

/** What XState reported when the run had this many entries: the states of all machines and the context of the chain. */
interface Truth extends ObservedStates {
  readonly messages: readonly Message[];
}

const names = new Map(ownCharts.charts.flatMap(({ states }) => states.map(({ id, name }) => [id, name] as const)));

/** A run with retries, a failed phase, capabilities, consent, and pruning, recorded together with the actual machine states. */
async function runWithTruth(): Promise<{ readonly run: Run; readonly truths: readonly Truth[] }> {
  const truths: Truth[] = [];
  const run = await runToAnswer(
    {
      action: (call: number) =>
        call === 1
          ? { failure: { code: 'server_error', status: 503, retryAfterMs: 2_000 } }
          : { ...replies.action, calls: [workCall] },
      observation: (call: number) =>
        call < 3 ? { text: '{"insights": ["It is so", 3], "undigested": "no"}' } : replies.observation,
      yield: (call: number) => unsureAnswer(call, { proposedPhase: call % 2 === 0 ? 'action' : null }),
    },
    {
      ...everyTask.options,
      newId: () => 'truth',
      limits: { maxCycles: 4, maxTransportRetries: 1, maxPhaseRetries: 1 },
    },
    { history: LONG_HISTORY },
    [{ afterSteps: 6, word: 'consent' }],
    (started) => {
      const { states } = observeRun(started);
      started.actor.subscribe(({ context }) => {
        const current = states.at(-1);
        if (current !== undefined) truths.push({ ...current, messages: context.messages });
      });
    },
  );
  return { run, truths };
}

const { run, truths } = await runWithTruth();

const thePage = pageForRuns(browser, [run]);

const leavesOf = (page: Page): Promise<readonly string[]> =>
  page
    .locator('.chart-picture .state.leaf')
    .evaluateAll((states) => states.map((state) => state.querySelector('.name')?.textContent ?? ''));

/** The context messages in panel order: their ids and the displayed part of their texts. */
const messagesOf = (page: Page): Promise<readonly { id: string; text: string }[]> =>
  page.locator('.message:not(.pruned)').evaluateAll((all) =>
    all.map((message) => ({
      id: (message as HTMLElement).dataset['message'] ?? '',
      text: message.querySelector('.long-text .verbatim')?.textContent ?? '',
    })),
  );

/** Every displayed reply field by name. */
const fieldsOf = (page: Page): Promise<Readonly<Record<string, string>>> =>
  page
    .locator('.attempt .fields > div')
    .evaluateAll((fields) =>
      Object.fromEntries(
        fields.map((field) => [field.querySelector('dt')?.textContent, field.querySelector('.value')?.textContent]),
      ),
    );

/** The text of the latest attempt up to an entry. */
function saidBy(at: number): string {
  const upTo = run.journal.slice(0, at + 1);
  const start = upTo.findLastIndex(({ type }) => type === 'attempt-start');
  return upTo
    .slice(start)
    .map((entry) => (entry.type === 'text-delta' ? entry.text : ''))
    .join('');
}

/** The complete strings and numbers in the prefix of an object, read by JSON.parse after truncating and closing it. */
function partOf(text: string): Readonly<Record<string, unknown>> {
  for (let end = text.length; end > 0; end -= 1)
    for (const close of ['', '}', ']}', '"}', '"]}', '}]}', '"}]}'])
      try {
        const value: unknown = JSON.parse(text.slice(0, end) + close);
        if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
      } catch {
        // It is closed elsewhere.
      }
  return {};
}

describe.skipIf(browser === null)('time travel in the page', () => {
  it('shows the actual machine states and context at random entries', async () => {
    const page = thePage();
    const selected = fc.sample(fc.constantFrom(...truths), { seed: 72_026, numRuns: 18 });
    expect(new Set(selected.map(({ count }) => count)).size).toBeGreaterThan(12);
    for (const { count, leaves, messages } of selected) {
      await selectEntry(page, count - 1);
      const real = Object.values(leaves)
        .flat()
        .map((id) => names.get(id) ?? id);
      expect([...(await leavesOf(page))].sort(), `at entry ${count - 1}`).toEqual(real.sort());
      await showPanel(page, 'context');
      await page.getByRole('button', { name: /^Messages/ }).click();
      const shown = await messagesOf(page);
      expect(shown.map(({ id }) => id)).toEqual(messages.map(({ id }) => id));
      for (const [index, { content }] of messages.entries())
        expect(revealHidden(content.slice(0, 420)).startsWith(shown[index]?.text ?? '?')).toBe(true);
    }
  });

  it('shows the part of a reply that had arrived, in any order of access', async () => {
    const page = thePage();
    const deltas = run.journal.filter(({ type }) => type === 'text-delta').map(({ seq }) => seq);
    let compared = 0;
    for (const at of fc.sample(fc.constantFrom(...deltas), { seed: 11, numRuns: 14 })) {
      await selectEntry(page, at);
      await showPanel(page, 'reply');
      const text = saidBy(at);
      expect(await page.locator('.attempt > p').first().textContent()).toContain(`${text.length} character`);
      const fields = await fieldsOf(page);
      for (const [name, value] of Object.entries(partOf(text)))
        if (typeof value === 'string' && value !== '') {
          expect(fields[name], `${name} at entry ${at} of ${text}`).toBe(value);
          compared += 1;
        }
    }
    expect(compared).toBeGreaterThan(8);
  });
});
