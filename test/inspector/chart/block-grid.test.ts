import { expect, it } from 'vitest';
import { blockGrid } from '../../../inspector/chart/block-grid.ts';
import type { DrawnLevel } from '../../../inspector/chart/drawing.ts';
import { drawingFlaws } from '../../support/inspector/chart-drawing.ts';
import { createRandom, SEED } from '../../support/random.ts';

it('puts blocks side by side, and gives each line between them tracks of its own that cross no block', () => {
  const { int } = createRandom(SEED);
  for (let number = 0; number < 200; number += 1) {
    const sizes = Array.from({ length: int(2, 9) }, () => ({ width: 20 * int(5, 9), height: int(30, 90) }));
    // Each line has its place at both of its blocks: at most nine lines on a side of 100 px.
    const links = Array.from({ length: int(1, 9) }, (_, at) => {
      const from = int(0, sizes.length - 1);
      const to = (from + int(1, sizes.length - 1)) % sizes.length;
      return { from, to, start: 10 * at + 5, end: 10 * ((at + int(0, 1) * 4) % 9) + 5 + (at % 2) };
    });
    const ends = links.map(({ to, end }) => `${to} ${Math.floor(end / 10)}`);
    if (new Set(ends).size < ends.length) continue;
    const { places, paths, width, height } = blockGrid(sizes, links, int(1, sizes.length));
    const states = sizes.map((size, at) => ({
      id: `s${at}`,
      isOpen: false,
      lines: [],
      x: 0,
      y: 0,
      ...places[at],
      ...size,
    }));
    const edges = links.map(({ from, to }, at) => ({
      ...{ source: `s${from}`, target: `s${to}`, transitions: [at], points: paths[at] ?? [], isBranch: false },
      label: { x: -9 * at - 9, y: -9, width: 1, height: 1 },
    }));
    const level: DrawnLevel = { lines: [], width, height, states, stubs: [], edges };
    const all = ['m', ...states.map(({ id }) => id)].map((id) => ({
      ...{ id, name: id, parent: id === 'm' ? null : 'm', type: 'compound' as const },
      ...{ description: '', initial: null, invokes: [] },
    }));
    const transitions = links.map(({ from, to }) => ({
      ...{ source: `s${from}`, target: [`s${to}`], event: 'GO', guard: null, otherwise: false, actions: [] },
    }));
    expect(drawingFlaws({ id: 'm', states: all, transitions }, { m: level }), `case ${number}`).toEqual([]);
  }
});
