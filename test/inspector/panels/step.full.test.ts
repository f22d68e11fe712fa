import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { readRun } from '../../../src/chain/journal/run-journal.ts';
import { memoryJournals } from '../../../src/durable/journals/memory-journals.ts';
import { failingRun, filePage, inSmallPieces, recordedEntries } from '../../support/inspector/inspected-runs.ts';
import { axeViolations } from '../../support/inspector/page-checks.ts';
import { openTestPage, pageTests } from '../../support/inspector/test-page.ts';
import { scriptedChain, unsureAnswer } from '../../support/run-chain.ts';

const journals = memoryJournals();
const plan = {
  yield: (call: number) => unsureAnswer(call, { confidence: [0.5, 0.7, 0.95][(call - 1) % 3], taskComplete: false }),
};
for (const runId of ['apple', 'banana']) {
  const { chain } = scriptedChain(plan, { journals, newId: () => runId });
  const flags = runId === 'apple' ? {} : { model: 'offline', fallbackModel: ['gpt-test'] };
  await chain.run({ request: `Is ${runId} so?`, host: { flags } }).answer;
}
const { chain } = scriptedChain(plan, { journals, newId: () => 'cherry' });
const tests = await pageTests('the selected step', {
  journals,
  actions: {
    model: 'gpt-test',
    resume: (runId) => chain.resume(runId),
    fork: (runId, change) => chain.fork(runId, change),
  },
});
const entries = inSmallPieces(recordedEntries(await failingRun()));

type EntryOf<Type extends JournalEntry['type']> = Extract<JournalEntry, { type: Type }>;
const all = <Type extends JournalEntry['type']>(type: Type) =>
  entries.filter((entry): entry is EntryOf<Type> => entry.type === type);

async function open(address = '', recorded = entries): Promise<Page> {
  const { page } = await tests.open(`/run/run-1${address}`, { url: filePage(recorded, tests.folder) });
  await step(page).locator('h2').first().waitFor();
  return page;
}

const step = (page: Page) => page.getByRole('region', { name: 'Selected step' });
const part = (page: Page, name: string) => page.getByRole('region', { name, exact: true });

/** The address of a phase at its end. */
function phaseAddress(phase: string): string {
  const start = all('phase-start').find((entry) => entry.phase === phase)?.seq ?? 0;
  return `/${all('phase-end').find(({ seq }) => seq > start)?.seq}?step=phase-${start}`;
}

describe.skipIf(tests.areSkipped)('the parts of a step', () => {
  it('do not overlap while a long result of a running call arrives', async () => {
    const page = await open(phaseAddress('action'));
    const [resultEnd, askedStart] = await page.evaluate(() => {
      document.querySelector('.page')?.classList.add('followed');
      const [result, asked] = ['Result', 'Asked'].map((name) =>
        document.querySelector(`.step-view > section[aria-label=${name}]`),
      );
      const text = document.createElement('p');
      text.style.height = '900px';
      result?.append(text);
      return [text.getBoundingClientRect().bottom, asked?.getBoundingClientRect().top ?? 0];
    });
    expect(askedStart).toBeGreaterThan(resultEnd as number);
  });
});

describe.skipIf(tests.areSkipped)('attached files', () => {
  it('are listed, with the pictures that the journal contains, and nothing else is loaded', async () => {
    const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGD4DwABBAEAX+XDSwAAAABJRU5ErkJggg==';
    const file = {
      atMs: 0,
      type: 'attachment',
      digest: 'd',
      name: 'photo.png',
      mediaType: 'image/png',
      bytes: 68,
    } as const;
    const files = [
      { ...file, data: png },
      { ...file, name: 'page.html', mediaType: 'text/html', data: png },
      { ...file, name: 'evil.png', data: 'x" onerror="window.pwned = 1' },
    ];
    const [start, ...rest] = entries;
    const attached = [start as JournalEntry, ...files, ...rest].map((entry, seq) => ({ ...entry, seq }));
    const page = await open('', attached as readonly JournalEntry[]);
    const section = part(page, 'Attached');
    expect(await section.locator('figcaption').allTextContents()).toEqual([
      'photo.png (image/png, 68 B)',
      'page.html (text/html, 68 B)',
      'evil.png (image/png, 68 B)',
    ]);
    expect(
      await section.locator('img').evaluateAll((all) => all.map((one) => (one as HTMLImageElement).naturalWidth)),
    ).toEqual([1]);
    expect(await axeViolations(page)).toEqual([]);
  });
});

describe.skipIf(tests.areSkipped)('a phase', () => {
  it('shows its result, its prompt, its tools and why it was entered, as the journal has them', async () => {
    const page = await open(phaseAddress('action'));
    expect(await step(page).getByRole('heading', { level: 2 }).allTextContents()).toEqual([
      'Action, cycle 1',
      'Result',
      'Asked',
      'Tools used',
      'Why',
      'Raw',
    ]);
    const tool = all('capability-end')[0]?.result;
    expect(await part(page, 'Tools used').textContent()).toContain(tool?.output);
    const request = entries[0]?.type === 'start' ? entries[0].input.request : '';
    expect(await part(page, 'Asked').textContent()).toContain(request);
    expect(await part(page, 'Why').textContent()).toContain('The run begins with Action.');
    expect(await step(page).textContent()).not.toContain('running');
    expect(await axeViolations(page)).toEqual([]);
  });

  it('shows a discarded reply struck through, with the error at its field and at the top', async () => {
    const end = all('attempt-end').filter(({ attemptId }) => attemptId === 's4.observation')[2];
    const start = all('attempt-start').findLast(({ seq }) => seq < (end?.seq ?? 0))?.seq;
    const page = await open(`/${end?.seq}?step=attempt-${start}`);
    const reply = page.locator('.attempt.discarded');
    const struck = await reply
      .locator('.leaf')
      .evaluateAll((leaves) => leaves.map((leaf) => getComputedStyle(leaf).textDecorationLine));
    expect(new Set(struck)).toEqual(new Set(['line-through']));
    const field = reply.locator('.fields > div').filter({ hasText: 'insights' });
    expect(await field.locator('.part').nth(1).textContent()).toMatch(/3.*expected string, received number/u);
    expect(await part(page, 'Why').textContent()).toContain('Called again because attempt 2 failed');
  });

  it('shows only what was known at the cursor while a reply streams', async () => {
    const deltas = all('text-delta').filter(({ attemptId }) => attemptId === 's3.intention');
    const start = all('attempt-start').find(({ attemptId }) => attemptId === 's3.intention')?.seq;
    const page = await open(`/${deltas[0]?.seq}?step=attempt-${start}`);
    expect(await step(page).locator('.step-head').textContent()).not.toContain('tokens');
    expect(await part(page, 'Result').locator('.caret').count()).toBe(1);
  });
});

describe.skipIf(tests.areSkipped)('the end of a run', () => {
  it('shows the answer with its confidence, what is missing and the rules that were tried', async () => {
    const page = await open();
    expect(await part(page, 'Result').textContent()).toMatch(/It is so, for certain\..*0\.95.*observation/u);
    expect(await page.locator('.run-head').textContent()).toMatch(/Degraded: Observation failed \(.+\)/u);
    expect(await page.locator('.step-area').textContent()).not.toMatch(/Observation failed \(|A phase failed/u);
    const taken = part(page, 'Why').locator('[aria-current=true]');
    expect(await taken.textContent()).toMatch(/Answer confident enough held.*Confidence 0\.95, needs more than 0\.9/u);
    // In the order in which they were tried.
    const rules = part(page, 'Why').getByRole('list', { name: 'Candidates', exact: true }).locator('> li');
    expect(await rules.first().textContent()).toMatch(/^Cycle limit reached did not hold/u);
    expect(await rules.last().getAttribute('aria-current')).toBe('true');
    expect(await axeViolations(page)).toEqual([]);
  });

  it('renders entries only on request', async () => {
    const page = await open();
    expect(await page.locator('.entries li').count()).toBe(0);
    await part(page, 'Raw').locator('summary').click();
    await page.locator('.entries li').first().waitFor();
  });

  it('finds the texts with the selected words, and closes with Escape', async () => {
    const page = await open();
    const words = await part(page, 'Result').evaluate((section) => {
      document.getSelection()?.selectAllChildren(section.querySelector('.markdown p') ?? section);
      return document.getSelection()?.toString().trim() ?? '';
    });
    await page.getByRole('button', { name: 'Where is this from?' }).click();
    const found = page.getByRole('dialog', { name: 'Where is this from?' });
    expect(await found.getByRole('searchbox').inputValue()).toBe(words);
    await found.getByText(/^Found in|^Not in any passage/u).waitFor();
    expect(await axeViolations(page, '.origins')).toEqual([]);
    await page.keyboard.press('Escape');
    await found.waitFor({ state: 'detached' });
  });
});

const entriesOf = (runId: string) => readRun(journals.read(runId));

describe.skipIf(tests.areSkipped)('a decision', () => {
  it('shows where the run would have ended with another threshold, and forks there', async () => {
    const decision = (await entriesOf('apple')).find(({ type }) => type === 'decision')?.seq ?? 0;
    const hash = `/run/apple/${decision}?step=decision-${decision}`;
    const { page } = await tests.open(hash);
    const number = page.getByRole('spinbutton', { name: 'Confidence to finish' });
    await number.selectText();
    await page.evaluate(() => new Promise((shown) => requestAnimationFrame(() => setTimeout(shown))));
    expect(await page.evaluate(() => getSelection()?.toString())).toBe('0.9');
    expect(await page.getByRole('button', { name: 'Where is this from?' }).count()).toBe(0);
    await number.fill('0.99');
    await page.getByText('beyond its recorded end').waitFor();
    await number.fill('0.6');
    await page.getByText('This run would have ended in cycle 2 (Answer confident enough), which saves').waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Fork with this number…' }).click();
    // The same form as for "Fork here": it names the model, and forks only after a confirmation.
    const form = page.getByRole('form', { name: 'Fork' });
    await form.getByText('others go to gpt-test, which may cost money.').waitFor();
    const thresholds = form.getByRole('group', { name: 'thresholds' });
    expect(await thresholds.getByLabel('confidence', { exact: true }).inputValue()).toBe('0.6');
    expect(await axeViolations(page)).toEqual([]);
    expect((await journals.list()).map(({ id }) => id)).not.toContain('cherry');
    await form.getByRole('button', { name: 'Start the fork' }).click();
    await page.waitForFunction(() => location.hash.includes('cherry'));
    const forked = await entriesOf('cherry');
    expect(forked[0]).toMatchObject({
      forkedFrom: { actorId: 'apple' },
      product: { fork: { changes: ['thresholds.confidence=0.6'] } },
    });
    expect(forked.filter(({ type }) => type === 'decision')).toHaveLength(2);
  });

  it('offers a fork with the prompt to edit at the step', async () => {
    const start = (await entriesOf('banana')).find(({ type }) => type === 'phase-start')?.seq ?? 0;
    const hash = `/run/banana/${start + 12}?step=phase-${start}`;
    const { page } = await tests.open(hash);
    await page.getByRole('button', { name: 'Fork here' }).click();
    const form = page.getByRole('form', { name: 'Fork' });
    await form.getByText('Prompt of this call').click();
    // Its fallback model may be called.
    await form.getByText('others go to offline, which may cost money.').waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await form.locator('textarea').first().fill('Answer in one word.');
    expect(await form.getByRole('button', { name: 'Start the fork' }).isEnabled()).toBe(true);
    await page.getByRole('button', { name: 'Fork here' }).click();
    await form.waitFor({ state: 'detached' });
  });
});

const opening = { source: 'door.closed', target: ['door.open'], candidates: [] };

/** What a page gets of a system: a context may be any JSON. */
const observed = {
  lines: [
    { type: 'start', format: 3, actorId: 'x', machine: { id: 'house' }, input: null, product: null },
    { type: 'delivery', event: { type: 'knock', times: 2 }, actor: '/door', sender: null },
    { type: 'transition', machine: 'door', actor: '/door', event: 'knock', ...opening },
    { type: 'end', status: 'error', output: null, error: { message: 'no wire' } },
  ].map((entry, seq) => JSON.stringify({ ...entry, seq, atMs: seq })),
  states: [false, true].map((open, seq) => {
    const door = { started: 0, chart: 'door', initial: null, leaves: [], moved: null, end: null };
    return JSON.stringify({ seq, state: { '/door': { ...door, context: { open, guests: ['<b>Ann</b>'] } } } });
  }),
};

describe.skipIf(tests.areSkipped)('a step of another program', () => {
  it('shows the event received, what it changed in the context, and how an actor ended', async () => {
    const page = await openTestPage(tests, '/run/x/1');
    await page.evaluate(({ lines, states }) => {
      const known = { runId: 'x', kind: 'system', title: 'Doors', startedAt: '', status: 'running' } as const;
      window.listener.connection('open');
      window.listener.runs([{ ...known, live: true, fidelity: [], summary: null }], 'x', 0);
      window.listener.entries('x', 0, lines, { format: 'actor' });
      window.listener.states('x', 0, states);
    }, observed);
    await page.getByRole('heading', { name: 'knock' }).waitFor();
    expect(await page.locator('.step-head').textContent()).toContain('to door');
    expect(await part(page, 'Event').textContent()).toContain('times: 2');
    expect(await part(page, 'Context').textContent()).toMatch(/open: false\s*true/u);
    // The chart still shows the states before the transition.
    const taken = page.getByRole('list', { name: 'Transitions' });
    expect(await taken.textContent()).toMatch(/closed\s*open on knock, .*not taken until entry 2$/u);
    await page.evaluate(() => window.inspector.moveTo(2));
    expect(await taken.textContent()).not.toContain('until');
    await page.evaluate(() => window.inspector.moveTo(3));
    expect(await part(page, 'Result').textContent()).toMatch(/house failed.*no wire.*door was stopped/u);
  });
});
