import type { Scene } from './scene.ts';
import { FONT } from './text-size.ts';

/** Text smaller than this on the screen is a smudge, in pixels. */
const LEAST_NAME = 5;
const LEAST_NOTE = 5.6;

/** Hides texts of charts while they are too small to read; what it returns hears of the picture's scale. */
export function detailsFor(svg: SVGSVGElement, scene: Scene): (scale: number) => void {
  const charts = [...svg.querySelectorAll<SVGGElement>('[data-chart]')];
  return (scale) => {
    for (const element of charts) {
      const full = scale * (scene.charts[Number(element.getAttribute('data-chart'))]?.fullScale ?? 1);
      const classes = `chart${full * FONT.name < LEAST_NAME ? ' nameless' : ''}${full * FONT.label < LEAST_NOTE ? ' noteless' : ''}`;
      if (element.getAttribute('class') !== classes) element.setAttribute('class', classes);
    }
  };
}
