import { describe, expect, it } from 'vitest';
import { type AnyStateMachine, createActor, createMachine } from 'xstate';
import { chartOf } from '../../../../src/durable/charts/chart.ts';
import { mermaid } from '../../../../src/durable/charts/mermaid.ts';
import { collectCoverage } from '../../../../src/testing/coverage/coverage.ts';
import { coverageText, type MachineCoverage } from '../../../../src/testing/coverage/coverage-report.ts';
import { mergedCoverage, reportCoverage } from '../../../../src/testing/coverage/vitest-reporter.ts';
import { explore } from '../../../../src/testing/exploration/explore.ts';
import { cover } from '../../../../src/testing/exploration/paths.ts';
import { runPath } from '../../../../src/testing/exploration/run-path.ts';
import { noUnreachableState } from '../../../../src/testing/properties/properties.ts';

const timesOf = (all: readonly MachineCoverage[]): Readonly<Record<string, number>> =>
  Object.fromEntries(all.flatMap(({ items }) => items.map(({ kind, name, times }) => [`${kind} ${name}`, times])));

/** A machine whose history remembers in which state it was on. */
const radio = (history: object, resume = 'on.last') =>
  createMachine({
    id: 'radio',
    initial: 'off',
    states: {
      off: { on: { ON: resume } },
      on: {
        initial: 'low',
        states: {
          low: { on: { UP: 'high' } },
          high: { initial: 'soft', states: { soft: { on: { UP: 'loud' } }, loud: {} } },
          last: { type: 'history', ...history },
        },
        on: { OFF: 'off', SWAP: '.last' },
      },
    },
  } as never);

it('collectCoverage rejects a machine without a list', () => {
  expect(() => collectCoverage(radio({}) as never)).toThrow(
    /^collectCoverage: expected a list of machines, for example \[machine\]; received an object with /u,
  );
});

it('reportCoverage rejects a suite of an older Vitest, which gets no context', () => {
  const hook = reportCoverage(collectCoverage([])) as (suite: object) => void;
  expect(() => hook({ meta: {} })).toThrow('expected Vitest 4.1 or later');
});

describe('a history state', () => {
  it.each<[string, AnyStateMachine, readonly string[]]>([
    ['shallow', radio({}), []],
    ['deep', radio({ history: 'deep' }), []],
    ['with a target', radio({ target: 'high' }), ['radio.on.low']],
    [
      'deep with a target below',
      radio({ history: 'deep', target: 'high.loud' }),
      ['radio.on.low', 'radio.on.high.soft'],
    ],
    ['of the initial state', radio({}, 'on'), []],
  ])('is never entered, only the states that it leads to: %s', (_, machine, never) => {
    const exploration = explore(machine);
    expect(noUnreachableState({ except: never }).check(exploration)).toBeNull();
    const [ofRuns, explored] = [collectCoverage([machine]), collectCoverage([machine])];
    explored.addExploration(exploration as never);
    for (const path of cover(exploration, { each: 'edge' })) runPath(exploration, path, { inspect: ofRuns.inspect });
    const entered = (collector: typeof explored) =>
      Object.entries(timesOf(collector.coverage())).flatMap(([name, times]) => (times > 0 ? [name] : []));
    expect(entered(ofRuns)).toEqual(entered(explored));
    expect(Object.keys(timesOf(ofRuns.coverage()))).not.toContain('state radio.on.last');
    expect(entered(ofRuns)).not.toContain(`state ${never[0]}`);
  });

  it('leads to the states that were active, in each of several regions', () => {
    const machine = createMachine({
      id: 'm',
      initial: 'p',
      states: {
        p: {
          type: 'parallel',
          on: { OFF: 'off' },
          states: {
            a: { initial: 'x', states: { x: { on: { A: 'y' } }, y: {} } },
            b: { initial: 'x', states: { x: {}, y: {} } },
            last: { type: 'history', history: 'deep' },
          },
        },
        off: { on: { ON: 'p.last' } },
      },
    });
    const collector = collectCoverage([machine]);
    const actor = createActor(machine, { inspect: collector.inspect }).start();
    for (const type of ['A', 'OFF', 'ON']) actor.send({ type });
    const times = timesOf(collector.coverage());
    expect(['m.p', 'm.p.a', 'm.p.a.x', 'm.p.a.y', 'm.p.b.x', 'm.p.b.y'].map((id) => times[`state ${id}`])).toEqual([
      2, 2, 1, 2, 2, 0,
    ]);
  });

  it('is drawn as a small circle', () => {
    expect(mermaid(chartOf(radio({})))).toContain('    radio_on_last(("H"))\n');
    expect(mermaid(chartOf(radio({ history: 'deep' })))).toContain('    radio_on_last(("H"))\n');
  });
});

describe('machines without an id', () => {
  const light = () => createMachine({ initial: 'red', states: { red: { on: { GO: 'green' } }, green: {} } });
  const door = createMachine({ initial: 'open', states: { open: {}, shut: {}, locked: {}, broken: {} } });
  const start = (machine: AnyStateMachine, collector: ReturnType<typeof collectCoverage>): void => {
    createActor(machine, { inspect: collector.inspect }).start();
  };

  it('have a row each, named after their states', () => {
    const first = light();
    const collector = collectCoverage([first, door]);
    start(first.provide({}), collector);
    expect(coverageText(collector.coverage(), { missing: false }).match(/^\(machine\).*? {2}/gmu)).toEqual([
      '(machine) red, green  ',
      '(machine) open, shut, locked, …  ',
    ]);
    expect(
      collector
        .coverage()
        .map(({ machine, items }) => [machine, items.filter(({ times }) => times > 0).map(({ name }) => name)]),
    ).toEqual([
      ['(machine) red, green', ['(machine)', '(machine).red']],
      ['(machine) open, shut, locked, …', []],
    ]);
  });

  it('are merged only with equal ones of other test files', () => {
    const collectors = [light(), light(), door].map((machine) => {
      const collector = collectCoverage([machine]);
      start(light(), collector);
      return collector;
    });
    const merged = mergedCoverage(collectors.flatMap((collector) => collector.coverage()));
    expect(merged.map(({ machine, items }) => [machine, items[0]?.times])).toEqual([
      ['(machine) red, green', 2],
      ['(machine) open, shut, locked, …', 0],
    ]);
  });
});
