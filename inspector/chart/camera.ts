import { between, keepInSight, type Viewport, type WindowSize } from './viewport.ts';

const MOVE_MS = 180;

/** Moves the picture under its window: by an attribute of one element, and without drawing anything anew. */
export interface Camera {
  readonly view: () => Viewport;
  readonly size: () => WindowSize;
  /** At once, or in a short move where people want that. */
  readonly go: (to: Viewport, how?: 'at-once' | 'smoothly') => void;
  readonly stop: () => void;
}

/** `onScale` hears of every new scale. */
export function createCamera(
  svg: SVGSVGElement,
  world: SVGGElement,
  picture: WindowSize,
  onScale: (scale: number) => void,
): Camera {
  let now: Viewport = { x: 0, y: 0, scale: 1 };
  let frame = 0;
  const size = (): WindowSize => ({ width: svg.clientWidth, height: svg.clientHeight });
  const show = (view: Viewport): void => {
    if (view.scale !== now.scale || !world.hasAttribute('transform')) onScale(view.scale);
    now = view;
    world.setAttribute('transform', `translate(${view.x} ${view.y}) scale(${view.scale})`);
  };
  const stop = (): void => cancelAnimationFrame(frame);
  const go = (wanted: Viewport, how: 'at-once' | 'smoothly' = 'at-once'): void => {
    stop();
    const to = keepInSight(wanted, picture, size());
    if (how === 'at-once' || matchMedia('(prefers-reduced-motion: reduce)').matches) {
      show(to);
      return;
    }
    const from = now;
    let began: number | null = null;
    const move = (time: number): void => {
      began ??= time;
      const share = Math.min(1, (time - began) / MOVE_MS);
      show(share === 1 ? to : between(from, to, 1 - (1 - share) ** 3));
      if (share < 1) frame = requestAnimationFrame(move);
    };
    frame = requestAnimationFrame(move);
  };
  return { view: () => now, size, go, stop };
}
