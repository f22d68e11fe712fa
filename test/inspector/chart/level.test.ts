import { describe, expect, it } from 'vitest';
import { boxLinesOf } from '../../../inspector/chart/box-text.ts';
import { type Level, levelsOf } from '../../../inspector/chart/level.ts';
import { indexChart, placeIn } from '../../../inspector/fold/chart-index.ts';
import type { Chart, ChartState } from '../../../src/durable/charts/chart.ts';
import { createRandom, type Random, SEED } from '../../support/random.ts';

const state = (id: string, parent: string | null): ChartState => ({
  id,
  name: id,
  parent,
  type: 'compound',
  description: '',
  initial: null,
  invokes: [],
});

const GUARDS = [null, null, 'isReady', 'is(one)', 'is(two)', 'is(three)'];
const EVENTS = ['A', 'B', '', '*', 'after 5'];

function randomChart({ int, chance, pick }: Random): Chart {
  const states = [state('m', null)];
  const any = (): string => pick(states).id;
  const isFlat = chance(0.5);
  const more = int(0, 40);
  for (let number = 0; number < more; number += 1) states.push(state(`s${number}`, isFlat ? 'm' : any()));
  const transitions = Array.from({ length: int(0, 200) }, () => {
    const source = any();
    const target = pick([[], [source], [any(), any()], [any()], [any()], [any()]]);
    const guard = pick(GUARDS);
    return { source, target, event: pick(EVENTS), guard, otherwise: guard === null && chance(0.3), actions: [] };
  });
  return { id: 'm', states, transitions };
}

/** The transitions with a line, or in a box, of some level. */
const shownIn = (chart: Chart, level: Level): readonly number[] => [
  ...level.edges.flatMap(({ hasLine, transitions }) => (hasLine ? transitions : [])),
  ...[level.root, ...level.states].flatMap((one) => boxLinesOf(one, chart, level).flatMap((line) => line.transitions)),
];

const withBlocks = (level: Level): readonly Level[] => [level, ...level.blocks.flatMap(withBlocks)];

describe('the levels of a chart', () => {
  it('leave out no transition: each has a line or is named in a box', () => {
    for (let number = 0; number < 150; number += 1) {
      const chart = randomChart(createRandom(SEED + number));
      const shown = new Set(
        levelsOf(chart)
          .flatMap(withBlocks)
          .flatMap((level) => shownIn(chart, level)),
      );
      const missing = chart.transitions.filter((_, at) => !shown.has(at));
      expect(missing, `chart ${number}, POSTCHAIN_SEED=${SEED}`).toEqual([]);
    }
  });

  it('name the transitions of a state to itself in its box if they have no line', () => {
    const ids = Array.from({ length: 10 }, (_, at) => `s${at}`);
    const ways = [
      ...ids.flatMap((source) => ids.map((target) => ({ source, target: [target] }))),
      { source: 'm', target: ['m'] },
    ];
    const chart: Chart = {
      id: 'm',
      states: [state('m', null), ...ids.map((id) => state(id, 'm'))],
      transitions: ways.map((way) => ({ ...way, event: 'GO', guard: null, otherwise: false, actions: [] })),
    };
    const [level] = levelsOf(chart);
    const textsOf = (id: string): readonly string[] =>
      boxLinesOf(chart.states.find((one) => one.id === id) as ChartState, chart, level as Level).map(
        ({ text }) => text,
      );
    expect(textsOf('m')).toEqual(['GO › m']);
    expect(textsOf('s0')).toEqual(['GO › 10 states', 'GO from 9 states']);
  });

  it('show inside a state what enters it, at its initial state, and what leaves any of its states or any state of the chart', () => {
    const ids = ['g0', 'g1', 'g2'];
    const inner = ids.flatMap((id) => Array.from({ length: 7 }, (_, at) => state(`${id}.s${at}`, id)));
    const way = (source: string, target: string, event: string) => ({ source, target: [target], event });
    const ways = [way('g0.s6', 'g1', 'NEXT'), way('g1', 'g0', 'BACK'), way('m', 'g2', 'ABORT'), way('g0', 'g2', 'END')];
    const chart: Chart = {
      id: 'm',
      states: [state('m', null), ...ids.map((id) => ({ ...state(id, 'm'), initial: `${id}.s0` })), ...inner],
      transitions: ways.map((one) => ({ ...one, guard: null, otherwise: false, actions: [] })),
    };
    const linesIn = (id: string): readonly string[] => {
      const level = levelsOf(chart)
        .flatMap(withBlocks)
        .find(({ root }) => root.id === id);
      const nameOf = (end: string): string => level?.stubs.find((stub) => stub.id === end)?.text ?? end;
      return (level?.edges ?? []).map(({ source, target }) => `${nameOf(source)} → ${nameOf(target)}`);
    };
    expect(linesIn('g1')).toEqual(['g0.s6 → g1.s0', 'any state → g0']);
    expect(linesIn('g2')).toEqual(['any of 21 states → g2.s0', 'g0 → g2.s0']);
  });

  it('name a state outside the parent by as much of its path as no other state has', () => {
    const named = (id: string, parent: string | null): ChartState => ({ ...state(id, parent), name: id.slice(-2) });
    const groups = ['g0', 'g1', 'g2'].flatMap((group) => [
      named(group, 'm'),
      ...['s0', 's1', 's2', 's3', 's4', 's5', 's6'].map((step) => named(`${group}.${step}`, group)),
    ]);
    const way = (source: string, target: string, event = 'GO') => ({ source, target: [target], event });
    const ways = [way('g0.s0', 'g1.s0'), way('g0.s0', 'g0.s1'), way('g0.s0', 'g2', 'END')];
    const chart: Chart = {
      id: 'm',
      states: [state('m', null), ...groups, state('only', 'g2')],
      transitions: ways.map((one) => ({ ...one, guard: null, otherwise: false, actions: [] })),
    };
    const inside = levelsOf(chart)
      .flatMap(withBlocks)
      .find(({ root }) => root.id === 'g0');
    expect(inside?.stubs.map(({ text }) => text)).toEqual(['g1 › s0', 'g2']);
    const placed = (id: string, beside: string) => placeIn(indexChart(chart), id, beside);
    expect([
      placed('g0.s1', 'g0.s0'),
      placed('g1.s1', 'g0.s0'),
      placed('only', 'g0.s0'),
      placed('g2', 'g0.s0'),
    ]).toEqual(['s1', 'g1 › s1', 'only', 'g2']);
    const regions = chart.states.map((one) => (one.id === 'g2' ? { ...one, type: 'parallel' as const } : one));
    const parallel = indexChart({ ...chart, states: regions });
    expect([placeIn(parallel, 'g2.s0'), placeIn(parallel, 'only')]).toEqual(['g2 › s0', 'only']);
    expect(placeIn(parallel, 'unknown')).toBe('unknown');
  });
});
