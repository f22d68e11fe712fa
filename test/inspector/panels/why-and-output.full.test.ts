import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { isInternal } from '../../../inspector/fold/transition-log.ts';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import {
  failingRun,
  filePage,
  inSmallPieces,
  manualRun,
  recordedEntries,
} from '../../support/inspector/inspected-runs.ts';
import { pageTests } from '../../support/inspector/test-page.ts';

const { areSkipped, folder, newPage } = await pageTests('the why card and the output');
const stumbled = inSmallPieces(recordedEntries(await failingRun()));
const directed = recordedEntries(await manualRun());

interface Shown {
  readonly panel: 'why' | 'reply';
  readonly at?: number | undefined;
  readonly theme?: 'light' | 'dark';
  readonly width?: number;
}

async function open(
  entries: readonly JournalEntry[],
  { panel, at, theme = 'light', width = 1280 }: Shown,
): Promise<Page> {
  const page = await newPage({ viewport: { width, height: 720 }, colorScheme: theme });
  await page.goto(`${filePage(entries, folder)}#/run/run-1${at === undefined ? '' : `/${at}`}?panel=${panel}`);
  await page.locator(`#tab-${panel}[aria-selected=true]`).waitFor();
  return page;
}

const seqOf = (entries: readonly JournalEntry[], is: (entry: JournalEntry) => boolean): number =>
  entries.find(is)?.seq ?? Number.NaN;

const panelOf = (page: Page) => page.locator('#panel');

describe.skipIf(areSkipped)('a long failure message', () => {
  it('is truncated by default and shown in full on request', async () => {
    const message = `It broke${' and broke'.repeat(400)}, as the end says.`;
    const entries = stumbled.map((entry) =>
      entry.type === 'attempt-end' && entry.failure !== null
        ? { ...entry, failure: { ...entry.failure, message } }
        : entry,
    );
    const at = seqOf(entries, (entry) => entry.type === 'attempt-end' && entry.failure !== null);
    for (const panel of ['why', 'reply'] as const) {
      const page = await open(entries, { panel, at });
      expect(await panelOf(page).textContent()).not.toContain('as the end says');
      await panelOf(page)
        .getByRole('button', { name: `show all ${message.length.toLocaleString('en-US')}` })
        .click();
      expect(await panelOf(page).textContent()).toContain(message);
    }
  });
});

describe.skipIf(areSkipped)('the Why card', () => {
  it('shows why a run has ended, with all candidates and the numbers that each compared', async () => {
    const page = await open(stumbled, { panel: 'why' });
    expect(await panelOf(page).getByRole('heading', { level: 2 }).textContent()).toBe('Why did the run end degraded?');
    const taken = panelOf(page).locator('[aria-current=true]');
    expect(await taken.textContent()).toMatch(
      /confidence reached.*synthesizing.*taken.*confidence in the answer: 0\.95; needs more than 0\.9/u,
    );
    const candidates = page.getByRole('list', { name: 'Candidates', exact: true }).getByRole('listitem');
    expect(await candidates.first().getAttribute('aria-current')).toBe('true');
    expect(await panelOf(page).locator('.not-evaluated').count()).toBe(11);
    await panelOf(page).getByText('11 more candidates were not tried').click();
    await page.getByRole('list', { name: 'Candidates not tried' }).waitFor();
    expect(await taken.textContent()).toContain(
      'With thresholds.confidence at 0.95 or more, this would not have held.',
    );
  });

  it('steps between transitions, of all machines or of one', async () => {
    const transitions = stumbled.filter((entry) => entry.type === 'transition').filter((entry) => !isInternal(entry));
    const before = transitions[Math.floor(transitions.length / 2)];
    const page = await open(stumbled, { panel: 'why', at: before?.seq });
    const machine = before?.machine;
    await page.getByRole('checkbox').check();
    await page.getByRole('button', { name: /Earlier/u }).click();
    const earlier = transitions.findLast((entry) => entry.machine === machine && entry.seq < (before?.seq ?? 0));
    await page.getByRole('region', { name: 'Transition' }).getByText(`entry ${earlier?.seq}`).waitFor();
    await page.getByRole('checkbox').uncheck();
    await page.getByRole('button', { name: /Later/u }).click();
    const later = transitions.find(({ seq }) => seq > (earlier?.seq ?? 0));
    await page.getByRole('region', { name: 'Transition' }).getByText(`entry ${later?.seq}`).waitFor();
  });

  it('shows the outcome of a user event and links to the transitions it caused', async () => {
    const at = seqOf(directed, (entry) => entry.type === 'delivery' && entry.event.type === 'run.finished');
    const page = await open(directed, { panel: 'why', at });
    expect(await panelOf(page).textContent()).toMatch(/What did run\.finished cause\?.*It caused \d transitions/u);
    const caused = page.getByRole('list', { name: 'Transitions it caused' });
    const [first = ''] = (await caused.getByRole('button').allTextContents()) ?? [];
    await caused.getByRole('button').first().click();
    await page.getByRole('region', { name: 'Transition' }).getByText(`entry ${first}`).waitFor();
    expect(await panelOf(page).getByRole('heading', { level: 2 }).textContent()).toBe('Why did it go to synthesizing?');
  });

  it('lists the events ignored so far with reasons', async () => {
    const at = seqOf(directed, (entry) => entry.type === 'delivery' && entry.event.type === 'consent.given');
    const page = await open(directed, { panel: 'why', at: at + 1 });
    const ignored = page.getByRole('region', { name: 'Ignored events' });
    expect(await ignored.textContent()).toContain('consent.given no question is pending');
    await ignored.getByRole('button', { name: String(at) }).click();
    await page.getByText('Rejected: no question is pending.').waitFor();
  });
});

describe.skipIf(areSkipped)('the output', () => {
  it('fills in field by field as a reply streams', async () => {
    const deltas = stumbled.filter((entry) => entry.type === 'text-delta' && entry.attemptId === 's3.intention');
    const first = await open(stumbled, { panel: 'reply', at: deltas[0]?.seq });
    expect(await first.locator('.attempt').textContent()).toContain('running');
    expect(await first.locator('.pending').textContent()).toBe(
      'Waiting for: alternatives, clarity, unclearIntent, alignment',
    );
    expect(await first.locator('.fields').textContent()).toMatch(/^goal/u);
    const last = await open(stumbled, { panel: 'reply', at: deltas.at(-1)?.seq });
    expect(await last.locator('.fields').textContent()).toBe(
      'goalTo knowalternatives(none)clarity0.9unclearIntentfalsealignment(none)',
    );
    expect(await last.locator('.pending').textContent()).toBe('All fields received.');
  });

  it('strikes through a void reply with the error at its field, and links the other attempts', async () => {
    const ends = stumbled.filter((entry) => entry.type === 'attempt-end' && entry.attemptId === 's4.observation');
    const page = await open(stumbled, { panel: 'reply', at: ends[2]?.seq });
    const attempt = page.locator('.attempt');
    expect(await attempt.locator('.status').textContent()).toMatch(/discarded/u);
    const struck = await attempt
      .locator('.leaf')
      .evaluateAll((leaves) => leaves.map((leaf) => getComputedStyle(leaf).textDecorationLine));
    expect(struck).toEqual(['line-through', 'line-through', 'line-through']);
    const field = attempt.locator('.fields > div').filter({ hasText: 'insights' });
    expect(await field.locator('.part').nth(1).textContent()).toMatch(/3.*expected string, received number/u);
    await page
      .getByRole('button', { name: /: observation, failed$/u })
      .first()
      .click();
    await page.getByRole('region', { name: 'Attempt 1 at observation' }).waitFor();
  });

  it('shows the answer at the top once there is one, with its confidence and what is missing', async () => {
    const page = await open(stumbled, { panel: 'reply' });
    const answer = page.getByRole('region', { name: 'Answer' });
    expect(await answer.textContent()).toMatch(
      /degraded.*0\.95.*It is so, for certain\..*incomplete state.*observation/u,
    );
    expect(Number(await answer.getByRole('meter', { name: 'Confidence' }).getAttribute('value'))).toBe(0.95);
  });
});
