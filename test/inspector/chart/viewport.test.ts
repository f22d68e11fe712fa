import { describe, expect, it } from 'vitest';
import { bringIntoView, fitTo, keepVisible } from '../../../inspector/chart/camera.ts';

const size = { width: 800, height: 500 };
const TOOLS = 44;

describe('the viewport of the picture', () => {
  it('shows a whole box below the toolbar', () => {
    for (const box of [
      { x: 0, y: 0, width: 840, height: 200 },
      { x: 50, y: -70, width: 200, height: 480 },
      { x: 0, y: 0, width: 10, height: 10 },
    ]) {
      const { x, y, scale } = fitTo(box, size);
      expect(x + scale * box.x).toBeGreaterThanOrEqual(0);
      expect(y + scale * box.y).toBeGreaterThanOrEqual(TOOLS);
      expect(x + scale * (box.x + box.width)).toBeLessThanOrEqual(size.width);
      expect(y + scale * (box.y + box.height)).toBeLessThanOrEqual(size.height);
    }
  });

  it('shows the start of a box that is too large to be legible as a whole', () => {
    const { x, y, scale } = fitTo({ x: 100, y: 50, width: 4_000, height: 3_000 }, size);
    expect(scale * 12).toBeGreaterThanOrEqual(11);
    expect(x + scale * 100).toBeCloseTo(4);
    expect(y + scale * 50).toBeCloseTo(TOOLS);
  });

  it('brings a box into view, not under the toolbar, and does not move for a visible one', () => {
    const view = { x: 0, y: 0, scale: 1 };
    const box = { x: 100, y: 0, width: 60, height: 30 };
    expect(bringIntoView(view, box, size).y).toBeGreaterThanOrEqual(TOOLS);
    expect(bringIntoView(view, { ...box, y: 600 }, size).y).toBeLessThanOrEqual(-130);
    expect(bringIntoView(view, { ...box, x: -300 }, size).x).toBeGreaterThanOrEqual(300);
    expect(bringIntoView(view, { ...box, y: 200 }, size)).toEqual(view);
  });

  it('keeps part of the picture visible, however far it is panned', () => {
    const picture = { width: 1_000, height: 600 };
    expect(keepVisible({ x: 5_000, y: -5_000, scale: 0.5 }, picture, size)).toEqual({ x: 760, y: -260, scale: 0.5 });
  });
});
