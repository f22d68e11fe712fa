import type { Scene } from './scene.ts';
import { FONT } from './text-size.ts';

/** Text smaller than this on the screen is a smudge, in pixels. */
const LEAST_NAME = 5;
const LEAST_NOTE = 5.6;
/** Names have much room, to be read from afar; nearer by they need not be larger on the screen than this, in pixels. */
const MOST = { title: 13, name: 12, heat: 9.5 } as const;
/** From afar, titles alone are left: they may grow into the room above them, up to this, in pixels of the chart. */
const FAR_TITLE = { least: 6.5, most: 36, wanted: 9 } as const;

/** Hides texts of charts while they are too small to read; what it returns hears of the picture's scale. */
export function detailsFor(svg: SVGSVGElement, scene: Scene): (scale: number) => void {
  const charts = [...svg.querySelectorAll<SVGGElement>('[data-chart]')];
  return (scale) => {
    for (const element of charts) {
      const full = scale * (scene.charts[Number(element.getAttribute('data-chart'))]?.fullScale ?? 1);
      const isFar = full * FONT.name < LEAST_NAME;
      const far = Math.min(FAR_TITLE.most, FAR_TITLE.wanted / full);
      const nameless = isFar ? (far * full < FAR_TITLE.least ? ' nameless titleless' : ' nameless') : '';
      const noteless = full * FONT.label < LEAST_NOTE ? ' noteless' : '';
      const classes = `chart${nameless}${noteless}`;
      if (element.getAttribute('class') !== classes) element.setAttribute('class', classes);
      const near = Math.max(FONT.title * 0.6, Math.min(FONT.title, MOST.title / full));
      setSize(element, '--title-size', isFar ? far : near);
      setSize(element, '--heat-size', Math.max(11, Math.min(FONT.name, MOST.heat / full)));
      setSize(element, '--name-size', Math.max(FONT.name * 0.78, Math.min(FONT.name, MOST.name / full)));
    }
  };
}

/** In whole pixels: a zoom changes few of them. */
function setSize(element: SVGGElement, name: string, size: number): void {
  const value = `${Math.round(size)}px`;
  if (element.style.getPropertyValue(name) !== value) element.style.setProperty(name, value);
}
