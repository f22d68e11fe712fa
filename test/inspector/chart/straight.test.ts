import { describe, expect, it } from 'vitest';
import type { DrawnLevel, DrawnState } from '../../../inspector/chart/drawing.ts';
import { straightened } from '../../../inspector/chart/straight.ts';

const box = (id: string, x: number, y: number): DrawnState => ({
  id,
  isOpen: false,
  lines: [],
  ...{ x, y, width: 60, height: 20 },
});

/** A line with a jog from `a` to `b`, which is 20 px further to the right, and other states and lines. */
function level(states: readonly DrawnState[] = [], more: DrawnLevel['edges'] = []): DrawnLevel {
  const points = [
    { x: 30, y: 20 },
    { x: 30, y: 40 },
    { x: 60, y: 40 },
    { x: 60, y: 100 },
  ];
  const label = { x: 40, y: 60, width: 40, height: 16 };
  const edge = { source: 'a', target: 'b', transitions: [0], points, label, isBranch: false };
  return {
    ...{ lines: [], width: 200, height: 120, stubs: [] },
    states: [box('a', 0, 0), box('b', 20, 100), ...states],
    edges: [edge, ...more],
  };
}

const [edge] = level().edges;

describe('straightening a line with a jog', () => {
  it('moves its ends and its label if its boxes face each other', () => {
    expect(straightened(level()).edges[0]).toMatchObject({
      points: [
        { x: 54, y: 20 },
        { x: 54, y: 100 },
      ],
      label: { x: 34, y: 60 },
    });
  });

  it('changes nothing if a state or another line is in the way, or if its boxes do not face each other', () => {
    const between = level([box('c', 20, 45)]);
    expect(straightened(between)).toEqual(between);
    const points = [
      { x: 45, y: 20 },
      { x: 45, y: 100 },
    ];
    const beside = level(
      [],
      [{ ...(edge as NonNullable<typeof edge>), points, label: null, source: 'd', target: 'e' }],
    );
    expect(straightened(beside)).toEqual(beside);
    const apart = { ...level(), states: [box('a', 0, 0), box('b', 58, 100)] };
    expect(straightened(apart)).toEqual(apart);
  });
});
