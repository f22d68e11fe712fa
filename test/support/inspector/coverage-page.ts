import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { createActor } from 'xstate';
import { machinesByName } from '../../../src/chain/machines.ts';
import type { Chart } from '../../../src/durable/charts/chart.ts';
import { collectCoverage } from '../../../src/testing/coverage/coverage.ts';
import { coveragePage } from '../../../src/testing/coverage/coverage-page.ts';
import type { MachineCoverage } from '../../../src/testing/coverage/machine-coverage.ts';
import { explore } from '../../../src/testing/exploration/explore.ts';
import { withStubActors } from '../../../src/testing/exploration/stub-actors.ts';
import type { CoverageItem } from '../../../src/testing/structure/coverage-items.ts';
import { xstatePatterns } from '../example-machines.ts';
import { readmeRun } from './inspected-runs.ts';
import { type InspectorPage, type OpenOptions, openInspector } from './inspector-page.ts';

/** The coverage of PostChain's charts by the README's run. */
export async function ownCoverage(): Promise<readonly MachineCoverage[]> {
  // Each phase makes its own call, so the run enters every machine.
  const { run } = readmeRun([], 'readme', 'thorough');
  await run.answer;
  const collector = collectCoverage(Object.values(machinesByName));
  collector.addJournal(run.journal);
  return collector.coverage();
}

/** The coverage of three other machines: one explored without one of its events, one only started, one never started. */
export function foreignCoverage(): readonly MachineCoverage[] {
  const { machine, outcomes, events } = xstatePatterns.checkout;
  const collector = collectCoverage([machine, xstatePatterns.player.machine, xstatePatterns.fetching.machine]);
  createActor(withStubActors(xstatePatterns.player.machine), { inspect: collector.inspect }).start().stop();
  collector.addExploration(explore(machine, { outcomes, events: events.slice(0, 2) }));
  return collector.coverage();
}

/** The coverage of a cycle of states, of which only the first was covered. */
export function cyclicCoverage(id: string, names: readonly string[]): MachineCoverage {
  const root = { id, name: id, parent: null, type: 'compound', description: '', invokes: [] } as const;
  const ids = names.map((name) => `${id}.${name}`);
  const chart: Chart = {
    id,
    states: [
      { ...root, initial: ids[0] ?? null },
      ...names.map((name, index) => ({
        ...root,
        ...({ id: ids[index] ?? '', name, parent: id, type: 'atomic', description: name, initial: null } as const),
      })),
    ],
    transitions: names.map((name, index) => ({
      source: ids[index] ?? '',
      target: [ids[(index + 1) % ids.length] ?? ''],
      event: name,
      guard: name,
      otherwise: false,
      actions: [name],
    })),
  };
  const items: Omit<CoverageItem, 'isRecorded'>[] = [
    ...chart.states.map((state) => ({ key: `state ${state.id}`, kind: 'state', name: state.id }) as const),
    ...names.map((name, index) => ({ key: `transition ${index}`, kind: 'transition', name }) as const),
    ...names.map((name, index) => ({ key: `guard ${index} true`, kind: 'guard', name: `${name}: true` }) as const),
    ...names.map(
      (name, index) =>
        ({ key: `outcome ${index} done`, kind: 'outcome', name: `${ids[index]}: ${name} done` }) as const,
    ),
  ];
  return {
    machine: id,
    chart,
    items: items.map((item, index) => ({ ...item, isRecorded: true, times: index < 2 ? 1 : 0 })),
  };
}

/** Writes coverage pages to a temporary folder and opens them. */
export async function coverageFiles(browser: Browser | null) {
  const folder = await mkdtemp(join(tmpdir(), 'postchain-coverage-'));
  let files = 0;
  const openHtml = async (
    html: string,
    options: OpenOptions = {},
  ): Promise<InspectorPage & { readonly url: string }> => {
    if (browser === null) throw new Error('no browser');
    files += 1;
    const path = join(folder, `${files}.html`);
    await writeFile(path, html);
    const url = pathToFileURL(path).href;
    return { url, ...(await openInspector(browser, url, options)) };
  };
  return {
    openHtml,
    open: async (machines: readonly MachineCoverage[], options: OpenOptions = {}, title = 'One run') =>
      openHtml(await coveragePage({ title, machines }), options),
    close: () => rm(folder, { recursive: true }),
  };
}

export const missingItems = ({ items }: MachineCoverage) => items.filter(({ times }) => times === 0);
export const machineButton = (page: Page, name: string) =>
  page.locator('.coverage-table').getByRole('button', { name, exact: true });
export const missingButtons = (page: Page) => page.locator('.missing li button');
/** The accessible names of the chart's states. */
export const stateLabels = (page: Page): Promise<readonly string[]> =>
  page.locator('[role=treeitem]').evaluateAll((all) => all.map((one) => one.getAttribute('aria-label') ?? ''));
