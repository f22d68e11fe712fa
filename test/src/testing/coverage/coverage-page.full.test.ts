import { describe, expect, it } from 'vitest';
import { createActor, createMachine, fromPromise, setup } from 'xstate';
import { machinesByName } from '../../../../src/chain/machines.ts';
import { collectCoverage } from '../../../../src/testing/coverage/coverage.ts';
import { coveragePage } from '../../../../src/testing/coverage/coverage-page.ts';
import type { CoverageReport } from '../../../../src/testing/coverage/coverage-report.ts';
import { xstatePatterns } from '../../../support/example-machines.ts';

interface EmbeddedLevel {
  readonly states: readonly { readonly id: string; readonly inset: { readonly chartId: string } | null }[];
}

/** Returns the report embedded in a page. */
function embeddedReport(html: string): CoverageReport {
  return JSON.parse(/<script type="application\/json" id="coverage">([^<]*)</u.exec(html)?.[1] ?? '') as CoverageReport;
}

const child = setup({}).createMachine({ id: 'child', initial: 'one', states: { one: { type: 'final' } } });
const parent = setup({ actors: { child, other: fromPromise(async () => 1) } }).createMachine({
  id: 'parent',
  initial: 'first',
  states: { first: { invoke: { src: 'child', onDone: 'second' } }, second: { invoke: { src: 'other' } } },
});

describe('coveragePage', () => {
  it('embeds the coverage and the charts', async () => {
    const machines = collectCoverage([xstatePatterns.checkout.machine, xstatePatterns.player.machine]).coverage();
    const report = embeddedReport(await coveragePage({ title: 'Two machines', machines }));
    expect(report.title).toBe('Two machines');
    expect(report.charts).toEqual(machines.map(({ chart }) => chart));
    expect(report.machines).toEqual(
      machines.map(({ machine, items }) => ({
        machine,
        items: items.map(({ key, kind, name, times }) => ({ key, kind, name, times })),
      })),
    );
  });

  it('embeds drawings, except for the three built-in charts together, which the page contains', async () => {
    const own = collectCoverage(Object.values(machinesByName)).coverage();
    expect(embeddedReport(await coveragePage({ title: '', machines: own })).layout).toBeNull();
    const alone = embeddedReport(await coveragePage({ title: '', machines: own.slice(1, 2) }));
    expect(Object.keys(alone.layout?.drawings as object)).toEqual(['attempt']);
  });

  it('draws a machine inside the state that invokes it: by actor name, or as given', async () => {
    const machines = collectCoverage([parent, child]).coverage();
    const hosts = async (invoked?: Readonly<Record<string, string>>): Promise<readonly string[]> => {
      const { layout } = embeddedReport(await coveragePage({ title: '', machines, ...(invoked && { invoked }) }));
      const drawings = layout?.drawings as Readonly<
        Record<string, { levels: Readonly<Record<string, EmbeddedLevel>> }>
      >;
      const states = Object.values(drawings['parent']?.levels ?? {}).flatMap((level) => level.states);
      expect(states.map(({ id }) => id)).toEqual(['parent.first', 'parent.second']);
      return states.flatMap(({ id, inset }) => (inset?.chartId === 'child' ? [id] : []));
    };
    expect(await hosts()).toEqual(['parent.first']);
    expect(await hosts({ other: 'child' })).toEqual(['parent.second']);
    expect(await hosts({})).toEqual([]);
  });

  it('escapes text that would end an element', async () => {
    const machines = collectCoverage([parent]).coverage();
    const html = await coveragePage({ title: '</script><script>alert(1)</script><!--', machines });
    expect(html).not.toContain('alert(1)</script>');
    expect(embeddedReport(html).title).toBe('</script><script>alert(1)</script><!--');
  });

  it('shows machines without an id, or with one id in common, in places of their own', async () => {
    const light = createMachine({ initial: 'red', states: { red: {}, green: {} } });
    const door = createMachine({ initial: 'open', states: { open: {}, shut: {}, locked: {}, broken: {} } });
    const [one, other] = [
      createMachine({ id: 'm', initial: 'a', states: { a: {} } }),
      createMachine({ id: 'm', initial: 'b', states: { b: {} } }),
    ];
    const collector = collectCoverage([one, other, light, door, one]);
    createActor(other, { inspect: collector.inspect }).start();
    const { charts, machines } = embeddedReport(await coveragePage({ title: 'All', machines: collector.coverage() }));
    const names = ['m', 'm (2)', '(machine) red, green', '(machine) open, shut, locked, …'];
    expect(machines.map(({ machine }) => machine)).toEqual(names);
    expect(charts.map(({ id }) => id)).toEqual(names);
    expect(machines[1]?.items.map(({ key, times }) => [key, times])).toEqual([
      ['state m (2)', 1],
      ['state m (2).b', 1],
    ]);
  });
});
