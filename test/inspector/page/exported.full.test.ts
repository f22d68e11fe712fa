import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { entriesOf } from '../../../src/durable/journals/journal-store.ts';
import { exportRun } from '../../../src/inspection/export-run.ts';
import { manualRun, readmeRun, recordedEntries } from '../../support/inspector/inspected-runs.ts';
import {
  displayedState,
  inspectorTests,
  PANEL_NAMES,
  showPanel,
  waitForEntries,
} from '../../support/inspector/inspector-page.ts';
import { storeActors } from '../../support/recorded-actors.ts';

const tests = await inspectorTests('exported pages');
const { openFile } = tests;
const { run } = readmeRun();
const { answerText } = await run.answer;
const { html } = await exportRun(run.entries);

describe.skipIf(tests.areSkipped)('the exported page', () => {
  it('is a single file under 1 MB without network requests and shows the final state of the live page', async () => {
    tests.server.watch(run);
    const live = await tests.open();
    await waitForEntries(live.page, run.entries.length);
    const exported = await openFile('run.html', html);
    expect(Buffer.byteLength(html)).toBeLessThan(1_000_000);
    expect(html).toMatch(/http-equiv="Content-Security-Policy" content="default-src 'none'; /u);
    await waitForEntries(exported.page, run.entries.length);
    expect(await displayedState(exported.page)).toEqual(await displayedState(live.page));
    const answer = exported.page.locator('.head-area').getByRole('region', { name: 'Answer' });
    expect(await answer.textContent()).toContain(answerText.slice(0, 120).split('\n')[0]);
    expect(await answer.textContent()).toBe(
      await live.page.locator('.head-area').getByRole('region', { name: 'Answer' }).textContent(),
    );
    for (const name of PANEL_NAMES) {
      await showPanel(exported.page, name);
      expect(await exported.page.locator('#panel').textContent()).not.toBe('');
      expect(await exported.page.locator('#panel .problem').count()).toBe(0);
    }
    expect(exported.requests).toEqual([exported.page.url().split('#')[0]]);
  });

  it('shows the chart beside the trace if its address asks for both', async () => {
    const { page } = await openFile('both.html', html, { width: 1400 });
    await waitForEntries(page, run.entries.length);
    expect(await page.locator('.chart-area').count()).toBe(0);
    const [file] = page.url().split('#');
    await page.goto('about:blank');
    await page.goto(`${file}#?view=both`);
    const [chart, trace] = await Promise.all(
      ['.chart-area', '.trace-area'].map((part) => page.locator(part).boundingBox()),
    );
    expect(chart?.y).toBe(trace?.y);
    expect(chart?.x).toBeLessThan(trace?.x ?? 0);
    await expect.poll(() => page.url()).toContain('view=both');
    await page.setViewportSize({ width: 800, height: 700 });
    await page.getByRole('button', { name: 'Chart', exact: true }).waitFor();
    expect(await page.locator('.chart-area').count()).toBe(0);
  });

  it('stays usable after it had no width, as in a frame that was hidden', async () => {
    const { page } = await openFile('hidden.html', html);
    await waitForEntries(page, run.entries.length);
    await page.setViewportSize({ width: 100, height: 700 });
    await page.setViewportSize({ width: 1280, height: 700 });
    expect(await page.locator('.trace-list').innerText()).toContain('Yield');
  });

  it('shows a durable actor with its charts and states', async () => {
    const { orders } = await storeActors(tests.folder);
    const entries = await entriesOf(orders.journals.read('o-done'));
    const { html: text } = await exportRun(entries, { hosts: [orders] });
    const { page, requests } = await openFile('actor.html', text);
    await page.getByText('receipt for 40').first().waitFor();
    expect((await page.locator('.trace.system').innerText()).replaceAll('\n', ' ')).toMatch(
      /Started in waiting .*input \{"amount":40\} .*approve .*waiting .*paying .*isAffordable held \(amount 40, limit 100\) .*Action remind in paying .*paid .*Completed/u,
    );
    expect(requests).toEqual([page.url().split('#')[0]]);
    const height = async () => (await page.locator('.chart-scroll').boundingBox())?.height ?? 0;
    const beside = await height();
    await page.getByRole('button', { name: 'Full size' }).click();
    expect(await page.locator('.trace-area').count()).toBe(0);
    expect(await height()).toBeGreaterThan(1.5 * beside);
    await page.keyboard.press('c');
    await page.locator('.trace-area').waitFor();
    const waiting = await entriesOf(orders.journals.read('o-waiting'));
    const other = await openFile('waiting-actor.html', (await exportRun(waiting)).html);
    await other.page.getByText('approve').first().waitFor();
  });

  it('offers nothing that needs a server or another run', async () => {
    const { page } = await openFile('run.html', html);
    await page.locator('.verdict').waitFor();
    const actions = page.locator('.run-actions button');
    expect(await actions.allTextContents()).toEqual(['Details…']);
    expect(await page.getByRole('link', { name: 'Runs' }).count()).toBe(0);
    await page.locator('body').press('t');
    expect(await page.getByRole('dialog').count()).toBe(0);
  });

  it('says once what a run waited for, and offers no answer', async () => {
    const manual = recordedEntries(await manualRun());
    const asked = manual.findIndex(({ type }) => type === 'direction-asked');
    const startedAt = new Date(Date.now() - 7_500_000).toISOString();
    const waiting = manual
      .slice(0, asked + 1)
      .map((entry) => (entry.type === 'start' ? { ...entry, startedAt } : entry));
    const { html: text } = await exportRun(waiting);
    const { page } = await openFile('waiting.html', text);
    await page.getByText('Waiting for a direction').first().waitFor();
    expect(await page.locator('.verdict').textContent()).toMatch(
      /, when this file was exported \(\w+ \d+, \d\d:\d\d\)$/u,
    );
    // It has no time that the journal does not have.
    expect(await page.locator('.figures').textContent()).toMatch(/agolast entry after 1\.0 s/u);
    expect(await page.locator('body').innerText()).not.toMatch(/Interrupted|stopped|Answer here|Resume/u);
    const strange = text.replace(
      /(id="recording" data-sha256=")[0-9a-f]{64}">([^<]*)/u,
      (_, start: string, data: string) => {
        const changed = data.replace(/"exportedAt":"[^"]*"/u, '"exportedAt":"soon"');
        return `${start}${createHash('sha256').update(changed).digest('hex')}">${changed}`;
      },
    );
    const other = await openFile('strange.html', strange);
    await other.page.locator('.trace-row').first().waitFor();
    expect(await other.page.locator('.verdict').textContent()).toMatch(/, when this file was exported$/u);
    expect(await other.page.locator('body').innerText()).not.toMatch(/NaN|null|Invalid/u);
  });

  it('says why a decision has no what-if if the run cannot be replayed', async () => {
    const other = run.entries.map((entry) =>
      entry.type === 'start' ? { ...entry, machine: { ...entry.machine, digest: 'another' } } : entry,
    );
    const { page } = await openFile('other-chart.html', (await exportRun(other)).html);
    await page.locator('.trace-row.decision').first().click();
    await page.locator('.step-view').getByText('No what-if: the run cannot be replayed here.').waitFor();
  });

  it('shows the id of the run, that its checksum was compared, and that it was redacted when it was exported', async () => {
    const redacted = await exportRun(run.entries, { redact: (text) => text.replaceAll('Yield', '[redacted]') });
    const { page } = await openFile('redacted.html', redacted.html);
    await page.getByRole('button', { name: 'Details…' }).click();
    const details = page.getByRole('dialog', { name: 'Details of this run' });
    await details.getByText(`Intact: this file matches its SHA-256 checksum, ${redacted.checksum}.`).waitFor();
    await details.getByText('The run was redacted when this file was exported').waitFor();
    await details.getByText(/experience: shared ·.* yield: brief/u).waitFor();
    expect(await details.innerText()).not.toContain('when it was written');
    expect(await details.locator('code').textContent()).toBe(run.id);
  });

  it('rejects a modified or truncated run with a message', async () => {
    const changed = html.replace('What does the Yield phase decide', 'What does the Yield phase derive');
    const cutOff = html.slice(0, html.indexOf('id="recording"') + 20_000);
    const cutEarly = html.slice(0, html.indexOf('<div id="page">'));
    const emptied = html.replace(/(?<=data-sha256="[0-9a-f]{64}">)[^<]*/u, '');
    expect(new Set([html, changed, cutOff, cutEarly, emptied]).size).toBe(5);
    const said: string[] = [];
    for (const [index, text] of [changed, cutOff, cutEarly, emptied].entries()) {
      const { page } = await openFile(`damaged-${index}.html`, text);
      await page.locator('body').getByText(/\w/u).first().waitFor();
      said.push((await page.locator('body').innerText()).trim());
    }
    for (const sentence of said)
      expect(sentence).toMatch(/^The run in this file .* the file is truncated or was changed\. Export it again\.$/u);
  });

  it('names the version of an incompatible run in printable text', async () => {
    const data = JSON.stringify({ version: '2\u202e1' });
    const checksum = createHash('sha256').update(data).digest('hex');
    const other = html.replace(
      /(id="recording" data-sha256=")[0-9a-f]{64}">[^<]*/u,
      (_, start: string) => `${start}${checksum}">${data}`,
    );
    const { page } = await openFile('other.html', other);
    expect(await page.getByRole('alert').textContent()).toBe(
      'Unsupported file version: expected 8; received 2‹U+202E›1.',
    );
  });
});
