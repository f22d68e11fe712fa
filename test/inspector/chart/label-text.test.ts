import { describe, expect, it } from 'vitest';
import {
  CHIP_PAD,
  FONT,
  frameHeights,
  framesOf,
  labelSize,
  stubLines,
  widthOf,
} from '../../../inspector/chart/label-text.ts';
import { createRandom, SEED } from '../../support/random.ts';

const WORDS = ['flight.chosen', '[isCheap]', 'after holdSeat (2 d)', '/ assign', 'x', 'PEDESTRIAN'];

describe('the label of a transition of another program', () => {
  it('wraps the same before the transition is taken as after', () => {
    expect(framesOf(['flight.chosen [isCheap]'])).toEqual([['flight.chosen', '[isCheap]']]);
    expect(framesOf(['flight.chosen [isCheap] ×1'])).toEqual([['flight.chosen', '[isCheap] ×1']]);
  });

  it('keeps a delay in one line', () => {
    expect(framesOf(['after offerEnds (3 d)'])).toEqual([['after offerEnds', '(3 d)']]);
  });

  it('breaks the end of a line before its last state', () => {
    expect(stubLines('a › b › c')).toEqual(['a › b', '› c']);
    expect(stubLines('any of 3 states', 'a › b')).toEqual(['any state', 'here a › b']);
  });

  it('fits the space that the layout has left for it, with and without counts', () => {
    const { int, pick } = createRandom(SEED);
    for (let number = 0; number < 500; number += 1) {
      const way = (): string => Array.from({ length: int(1, 7) }, () => pick(WORDS)).join(' ');
      const ways = [...new Set(Array.from({ length: int(1, 3) }, way))];
      const space = labelSize(ways, true);
      const frames = framesOf(ways.map((way) => `${way}${pick(['', ' ×1', ' ×9'])}`));
      const widest = Math.max(...frames.flat().map((line) => widthOf(line, FONT.label)));
      expect(widest + 2 * CHIP_PAD.x, ways.join()).toBeLessThanOrEqual(space.width);
      const height = frameHeights(frames, CHIP_PAD).reduce((sum, one) => sum + one, 0);
      expect(height, ways.join()).toBeLessThanOrEqual(space.height);
    }
  });
});
