import { expect, it, vi } from 'vitest';

it('acts at once after a pause, and otherwise once per frame', async () => {
  const frames: (() => void)[] = [];
  vi.stubGlobal('document', { visibilityState: 'visible' });
  vi.stubGlobal('requestAnimationFrame', (next: () => void) => frames.push(next));
  const nextFrame = (): void => {
    for (const frame of frames.splice(0)) frame();
  };
  const { atMostOncePerFrame } = await import('../../../inspector/ui-state/inspector.ts');
  let acted = 0;
  const act = atMostOncePerFrame(() => {
    acted += 1;
  });
  const counts = [act, act, act, nextFrame, act, nextFrame, nextFrame, act].map((step) => {
    step();
    return acted;
  });
  expect(counts).toEqual([1, 1, 1, 2, 2, 3, 3, 4]);
  vi.unstubAllGlobals();
});
