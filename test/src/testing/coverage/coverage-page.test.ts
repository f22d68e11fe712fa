import { describe, expect, it } from 'vitest';
import { fromPromise, setup } from 'xstate';
import { machinesByName } from '../../../../src/engine/charts/machines.ts';
import { collectCoverage } from '../../../../src/testing/coverage/coverage.ts';
import { coveragePage } from '../../../../src/testing/coverage/coverage-page.ts';
import type { CoverageReport } from '../../../../src/testing/coverage/coverage-report.ts';
import { foreign } from '../machines/all.ts';

interface CarriedDrawing {
  readonly states: readonly { readonly id: string; readonly inset: { readonly chartId: string } | null }[];
}

/** What a page carries, as the page reads it. */
function carried(html: string): CoverageReport {
  return JSON.parse(/<script type="application\/json" id="coverage">([^<]*)</u.exec(html)?.[1] ?? '') as CoverageReport;
}

const child = setup({}).createMachine({ id: 'child', initial: 'one', states: { one: { type: 'final' } } });
const parent = setup({ actors: { child, other: fromPromise(async () => 1) } }).createMachine({
  id: 'parent',
  initial: 'first',
  states: { first: { invoke: { src: 'child', onDone: 'second' } }, second: { invoke: { src: 'other' } } },
});

describe('the file of coverage', () => {
  it('carries what was collected, with the charts', async () => {
    const machines = collectCoverage([foreign.checkout.machine, foreign.player.machine]).coverage();
    const report = carried(await coveragePage({ title: 'Two machines', machines }));
    expect(report.title).toBe('Two machines');
    expect(report.charts).toEqual(machines.map(({ chart }) => chart));
    expect(report.machines).toEqual(
      machines.map(({ machine, items }) => ({
        machine,
        items: items.map(({ key, kind, name, times }) => ({ key, kind, name, times })),
      })),
    );
  });

  it('carries drawings, except of our three charts together: the page has those', async () => {
    const own = collectCoverage(Object.values(machinesByName)).coverage();
    expect(carried(await coveragePage({ title: '', machines: own })).layout).toBeNull();
    const alone = carried(await coveragePage({ title: '', machines: own.slice(1, 2) }));
    expect(Object.keys(alone.layout?.drawings as object)).toEqual(['attempt']);
  });

  it('draws a machine inside the state that invokes it by its name, or as somebody says', async () => {
    const machines = collectCoverage([parent, child]).coverage();
    const hosts = async (invoked?: Readonly<Record<string, string>>): Promise<readonly string[]> => {
      const { layout } = carried(await coveragePage({ title: '', machines, ...(invoked && { invoked }) }));
      const drawings = layout?.drawings as Readonly<Record<string, CarriedDrawing>>;
      return drawings['parent']?.states.flatMap(({ id, inset }) => (inset?.chartId === 'child' ? [id] : [])) ?? [];
    };
    expect(await hosts()).toEqual(['parent.first']);
    expect(await hosts({ other: 'child' })).toEqual(['parent.second']);
    expect(await hosts({})).toEqual([]);
  });

  it('ends no element of the page by a text in it', async () => {
    const machines = collectCoverage([parent]).coverage();
    const html = await coveragePage({ title: '</script><script>alert(1)</script><!--', machines });
    expect(html).not.toContain('alert(1)</script>');
    expect(carried(html).title).toBe('</script><script>alert(1)</script><!--');
  });
});
