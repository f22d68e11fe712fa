import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chartDigest, type Drawing, type DrawnLevel, tooLarge } from '../../../inspector/chart/drawing.ts';
import { drawingsOf } from '../../../inspector/chart/layout-charts.ts';
import { normalizeChart } from '../../../inspector/chart/normalize-chart.ts';
import { bake } from '../../../inspector/vite-plugins.ts';
import { PHASES } from '../../../machines/contracts/phase.ts';
import type { Chart, ChartState } from '../../../src/durable/charts/chart.ts';
import { drawingFlaws } from '../../support/inspector/chart-drawing.ts';
import { groupsOf } from '../../support/inspector/example-charts.ts';
import { ownCharts } from '../../support/inspector/inspected-runs.ts';
import { sampleSize } from '../../support/soak.ts';

const baked = await bake(ownCharts);
const own = Object.fromEntries(ownCharts.charts.map((chart) => [chart.id, baked[chartDigest(chart)] as Drawing]));

function state(id: string, parent: string | null, more: Partial<ChartState> = {}): ChartState {
  return { id, name: id, parent, type: 'atomic', description: '', initial: null, invokes: [], ...more };
}

function transition(source: string, target: readonly string[], event = 'go') {
  return { source, target, event, guard: null, otherwise: false, actions: [] };
}

function chart(states: readonly ChartState[], transitions: Chart['transitions'] = []): Chart {
  return { id: 'root', states: [state('root', null, { type: 'compound' }), ...states], transitions };
}

async function drawn(one: Chart): Promise<Drawing> {
  const drawing = (await drawingsOf([one]))[one.id];
  if (drawing === undefined) throw new Error('no drawing');
  return drawing;
}

/** The level of the whole chart. */
const wholeOf = (levels: Drawing): DrawnLevel => levels['root'] as DrawnLevel;

describe('the layout of the built-in charts', () => {
  it.each(ownCharts.charts.map((one) => ({ id: one.id, one })))('$id has no flaws', ({ id, one }) => {
    expect(drawingFlaws(one, own[id] as Drawing)).toEqual([]);
  });

  it('is deterministic', async () => {
    const attempt = ownCharts.charts.filter(({ id }) => id === 'attempt');
    const again = await drawingsOf(attempt);
    expect(JSON.stringify(again['attempt'])).toBe(JSON.stringify(own['attempt']));
  });

  it('shows the phases of the chain below each other, in the order of a cycle, and fits the width of its area', () => {
    const { width, height, states } = (own['postChain'] as Drawing)['postChain'] as DrawnLevel;
    const tops = PHASES.map((phase) => states.find(({ id }) => id === phase)?.y ?? 0);
    expect(tops).toEqual(tops.toSorted((one, other) => one - other));
    expect(width).toBeLessThan(720);
    expect(height).toBeLessThan(750);
  });
});

describe('the layout of any chart', () => {
  const charts = fc
    .record({
      parents: fc.array(fc.nat(), { minLength: 1, maxLength: 14 }),
      ways: fc.array(
        fc.record({
          from: fc.nat(),
          to: fc.array(fc.nat(), { maxLength: 2 }),
          event: fc.constantFrom('', 'go', 'done'),
        }),
        {
          maxLength: 30,
        },
      ),
    })
    .map(({ parents, ways }) => {
      const ids = ['root', ...parents.map((_, place) => `s${place}`)];
      const states = parents.map((parent, place) =>
        state(ids[place + 1] as string, ids[parent % (place + 1)] as string),
      );
      const at = (number: number): string => ids[number % ids.length] as string;
      return chart(
        states,
        ways.map(({ from, to, event }) => transition(at(from), to.map(at), event)),
      );
    });

  it('has no flaws', async () => {
    await fc.assert(
      fc.asyncProperty(charts, async (one) => {
        expect(drawingFlaws(one, await drawn(one))).toEqual([]);
      }),
      { numRuns: sampleSize('drawn charts', 5, 100) },
    );
  });

  it('puts open states inside each other next to lines that leave the level', async () => {
    const states = [state('a', 'root'), state('b', 'a'), state('c', 'b'), state('d', 'root')];
    const one = chart(states, [transition('root', ['root'], ''), transition('root', ['a'], '')]);
    expect(drawingFlaws(one, await drawn(one))).toEqual([]);
  });

  it('puts wide regions below each other, and narrow ones side by side', async () => {
    const regions = async (name: string) => {
      const inner = ['a', 'b', 'c'].flatMap((region) => [
        state(region, 'root', { type: 'compound' }),
        ...['x', 'y', 'z'].map((id) => state(`${region}.${id}`, region, { name: `${name}${id}` })),
      ]);
      const ways = ['a', 'b', 'c'].flatMap((region) =>
        ['y', 'z'].map((to) => transition(`${region}.x`, [`${region}.${to}`], `${name}${to}`)),
      );
      const [root, ...others] = chart(inner, ways).states;
      const one = { id: 'root', states: [{ ...root, type: 'parallel' }, ...others] as ChartState[], transitions: ways };
      const { states } = wholeOf(await drawn(one));
      return new Set(states.flatMap(({ id, y }) => (id.length === 1 ? y : []))).size;
    };
    expect(await regions('')).toBe(1);
    expect(await regions('a long name of ')).toBe(3);
  });

  it('puts regions below each other in the order of the chart, with their lines', async () => {
    const inner = ['a', 'b', 'c'].flatMap((region, at) => [
      state(region, 'root', { type: 'compound' }),
      ...['x', 'y', 'z'].slice(at % 2).map((id) => state(`${region}.${id}`, region, { name: `a long name of ${id}` })),
    ]);
    const ways = ['a', 'b', 'c'].flatMap((region) => [
      transition(`${region}.y`, [`${region}.z`], 'a long name of forward'),
      transition(`${region}.z`, [`${region}.y`], 'a long name of back'),
    ]);
    const [root, ...others] = chart(inner, ways).states;
    const one = { id: 'root', states: [{ ...root, type: 'parallel' }, ...others] as ChartState[], transitions: ways };
    const drawing = await drawn(one);
    const regions = wholeOf(drawing).states.filter(({ id }) => id.length === 1);
    expect(regions.map(({ id }) => id)).toEqual(['a', 'b', 'c']);
    const tops = regions.map(({ y }) => y);
    expect(tops).toEqual(tops.toSorted((first, second) => first - second));
    expect(drawingFlaws(one, drawing)).toEqual([]);
  });

  it('names the transitions that have no line, with their number, at both ends', async () => {
    const phases = Array.from({ length: 9 }, (_, at) => state(`p${at}`, 'root'));
    const ways = phases.flatMap(({ id }, at) => [
      transition(id, [`p${(at + 1) % 9}`]),
      transition(id, [`p${(at + 4) % 9}`], 'jump'),
      transition(id, ['stopped'], 'ABORT'),
    ]);
    const { states, edges } = wholeOf(await drawn(chart([...phases, state('stopped', 'root')], ways)));
    const linesOf = (id: string) => states.find((one) => one.id === id)?.lines.map(({ text }) => text);
    expect(linesOf('p0')).toEqual(['ABORT › stopped']);
    expect(linesOf('stopped')).toEqual(['ABORT from 9 states']);
    expect(edges.filter(({ target }) => target === 'stopped').every(({ points }) => points.length === 0)).toBe(true);
  });

  it('shows how many states are inside a folded state, with room for an active one inside another', async () => {
    const groups = Array.from({ length: 21 }, (_, at) => state(`g${at}`, 'root', { type: 'compound' }));
    const inner = groups.flatMap(({ id }) => [
      ...['a', 'b', 'c'].map((name) => state(`${id}.${name}`, id, { name })),
      ...(id === 'g1' ? [state('g1.b.c', 'g1.b', { name: 'a longer name' })] : []),
    ]);
    const { states } = wholeOf(await drawn(chart([...groups, ...inner], [transition('g0', ['g1'])])));
    const [first, second] = states;
    expect(first?.lines.concat(second?.lines ?? []).map(({ text }) => text)).toEqual(['3 states', '3 states']);
    expect((second?.width ?? 0) - (first?.width ?? 0)).toBeGreaterThan(30);
  });

  it('gives each of 40 states in 8 groups a place, for a low and for a narrow space, with lines from group to group', async () => {
    const [one] = groupsOf(8, 5).charts as [Chart];
    const low = (await drawingsOf([one], undefined, 2.7))['groups'] ?? {};
    const narrow = (await drawingsOf([one], undefined, 0.6))['groups'] ?? {};
    for (const drawing of [low, narrow]) {
      expect(Object.keys(drawing)).toEqual(['groups']);
      const { states, edges } = drawing['groups'] as DrawnLevel;
      expect(states).toHaveLength(48);
      expect(edges).toContainEqual(
        expect.objectContaining({ source: 'groups.group1.step4', target: 'groups.group2.step0' }),
      );
      expect(drawingFlaws(one, drawing)).toEqual([]);
    }
    const isLow = ({ width, height }: DrawnLevel) => width > height;
    expect(Math.max(...(low['groups']?.states ?? []).map(({ width }) => width))).toBeLessThan(1_000);
    expect([low, narrow].map((drawing) => isLow(drawing['groups'] as DrawnLevel))).toEqual([true, false]);
  });

  it('completes for a large chart', async () => {
    const count = sampleSize('states of a large chart', 100, 280);
    const groups = Array.from({ length: 20 }, (_, group) => state(`g${group}`, 'root'));
    const inner = Array.from({ length: count }, (_, place) => state(`s${place}`, `g${place % 20}`));
    const ways = inner.map(({ id }, place) => transition(id, [`s${(place * 7 + 20) % count}`]));
    const one = chart([...groups, ...inner], ways);
    expect(tooLarge({ charts: [one], invoked: {} })).toBeNull();
    expect(drawingFlaws(one, await drawn(one))).toEqual([]);
  });
});

describe('the layout of a hostile chart', () => {
  it('breaks cyclic parents and moves states with unknown parents to the root', async () => {
    const one = chart([state('a', 'b'), state('b', 'a'), state('c', 'nobody'), state('root', 'a'), state('a', 'c')]);
    const sound = normalizeChart(one);
    expect(sound.states.map(({ id, parent }) => [id, parent])).toEqual([
      ['root', null],
      ['a', 'b'],
      ['b', 'root'],
      ['c', 'root'],
    ]);
    expect(drawingFlaws(sound, await drawn(one))).toEqual([]);
  });

  it('omits transitions with unknown states and keeps the indices of the others', async () => {
    const ways = [transition('a', ['nowhere']), transition('nowhere', ['a']), transition('a', ['b'])];
    const drawing = await drawn(chart([state('a', 'root'), state('b', 'root')], ways));
    expect(wholeOf(drawing).edges.map(({ transitions }) => transitions)).toEqual([[2]]);
  });

  it('draws a self-transition as a loop, and no line for an event without a target', async () => {
    const drawing = await drawn(chart([state('a', 'root')], [transition('a', ['a']), transition('a', [], 'stay')]));
    const { edges } = wholeOf(drawing);
    expect(edges).toMatchObject([
      { source: 'a', target: 'a', transitions: [0] },
      { source: 'a', target: 'a', transitions: [1], points: [] },
    ]);
    expect(edges[0]?.points.length).toBeGreaterThan(2);
  });

  it('truncates long texts and deep nesting', async () => {
    const long = 'x'.repeat(100_000);
    const deep = Array.from({ length: 60 }, (_, level) => state(`d${level}`, level === 0 ? 'root' : `d${level - 1}`));
    const drawing = await drawn(
      chart([state('long', 'root', { name: long }), ...deep], [transition('long', ['d59'], long)]),
    );
    expect(Math.max(...Object.values(drawing).flatMap(({ states }) => states.map(({ width }) => width)))).toBeLessThan(
      3_000,
    );
  });

  it('accepts a chart named like a built-in object property', async () => {
    const one = { ...chart([state('constructor', '__proto__')]), id: '__proto__' };
    const drawings = await drawingsOf([one]);
    expect(Object.keys(drawings)).toEqual(['__proto__']);
  });

  it('does not draw a chart of 2,000 states, and explains why', () => {
    const many = chart(Array.from({ length: 2_000 }, (_, place) => state(`s${place}`, 'root')));
    expect(tooLarge({ charts: [many], invoked: {} })).toBe(
      'The chart has 2001 states; up to 500 are drawn as a picture.',
    );
  });
});
