import type { Page } from 'playwright-core';

/** The least contrast (WCAG 2.2) of a colour of elements to any surface that they may stand on. */
export function leastContrast(page: Page, selector: string, property: 'fill' | 'stroke'): Promise<number> {
  return page.evaluate(
    ([wanted, name]) => {
      const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
      const luminance = (color: string): number => {
        if (canvas === null) return 0;
        canvas.fillStyle = color;
        canvas.fillRect(0, 0, 1, 1);
        const [red = 0, green = 0, blue = 0] = [...canvas.getImageData(0, 0, 1, 1).data].map((channel) => {
          const share = channel / 255;
          return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
      };
      const probe = document.body.appendChild(document.createElement('i'));
      const surfaces = ['--ground', '--surface', '--sunken', '--accent-soft'].map((surface) => {
        probe.style.color = `var(${surface})`;
        return getComputedStyle(probe).color;
      });
      const boxes = [...document.querySelectorAll('.state > .box')].map((box) => getComputedStyle(box).fill);
      const grounds = [...surfaces, ...boxes].map(luminance);
      probe.remove();
      const colors = [...document.querySelectorAll(wanted)].map((one) => luminance(getComputedStyle(one)[name]));
      const pairs = colors.flatMap((color) => grounds.map((ground) => [color, ground]));
      return Math.min(...pairs.map((pair) => (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05)));
    },
    [selector, property] as const,
  );
}
