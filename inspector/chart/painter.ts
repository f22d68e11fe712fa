import { lineBox } from './chosen-place.ts';
import type { Box } from './drawing.ts';
import { type Highlight, highlightOf, type Lighting } from './highlight.ts';
import { type HeatMark, heatMark } from './overlay.ts';
import { hasInside, placeOf, type Scene, type SceneState } from './scene.ts';

import { shownText } from './text-size.ts';

/** Changes the classes and names of what is drawn already, and only where they are others than before. */
export interface Painter {
  readonly paint: (lighting: Lighting) => Highlight;
  readonly stateAt: (number: number) => SVGElement | null;
}

export function createPainter(svg: SVGSVGElement, scene: Scene): Painter {
  const byNumber = (name: string): readonly (SVGElement | null)[] => {
    const found: (SVGElement | null)[] = [];
    for (const element of svg.querySelectorAll<SVGElement>(`[data-${name}]`))
      found[Number(element.getAttribute(`data-${name}`))] = element;
    return found;
  };
  const states = byNumber('state');
  const covers = byNumber('lid');
  const lines = byNumber('line');
  const jump = svg.querySelector<SVGPathElement>('.jump');
  const bare = scene.states.map(({ drawn }) => `state ${drawn.type}`);
  const bareLines = scene.lines.map(({ edge }) => (edge === null ? 'chip' : edge.dashed ? 'edge outside' : 'edge'));
  const set = (element: Element | null | undefined, name: string, value: string | null): void => {
    if (element == null || element.getAttribute(name) === value) return;
    if (value === null) element.removeAttribute(name);
    else element.setAttribute(name, value);
  };
  let before: readonly string[] = [];
  let beforeLines: readonly string[] = [];

  const paint = (lighting: Lighting): Highlight => {
    const lit = highlightOf(scene, lighting);
    for (const [number, state] of scene.states.entries()) {
      const classes = lit.states[number] ?? '';
      const element = states[number];
      set(element, 'aria-current', lit.leaves.includes(number) ? 'step' : null);
      const mark = heatMark(lighting.overlay, placeOf(scene, state));
      if (lighting.overlay !== null || element?.lastElementChild?.textContent !== '') paintHeat(element, mark);
      if (mark?.words !== undefined || classes !== before[number])
        set(element, 'aria-label', labelOf(state, mark?.words ?? (lit.active.has(number) ? 'active' : 'not active')));
      if (classes === before[number]) continue;
      set(element, 'class', bare[number] + classes);
      set(covers[number], 'class', `cover${classes}`);
      set(element, 'aria-selected', String(classes.includes(' chosen')));
      if (hasInside(state)) set(element, 'aria-expanded', String(!lighting.collapsed.has(number)));
    }
    for (const [number, classes] of lit.lines.entries())
      if (classes !== beforeLines[number]) set(lines[number], 'class', bareLines[number] + classes);
    set(jump, 'd', jumpPath(scene, lit));
    before = lit.states;
    beforeLines = lit.lines;
    return lit;
  };
  return { paint, stateAt: (number) => states[number] ?? null };
}

function paintHeat(element: SVGElement | null | undefined, mark: HeatMark | null): void {
  const text = shownText(mark?.text ?? '', 18);
  const place = element?.lastElementChild;
  if (place != null && place.textContent !== text) place.textContent = text;
}

/** What is seen of it comes first, in the order in which it is seen. */
function labelOf({ drawn }: SceneState, stands: string): string {
  const note = drawn.note === '' ? '' : `, ${drawn.note}`;
  const kind = drawn.type === 'atomic' || drawn.type === 'compound' ? '' : `, ${drawn.type}`;
  const description = drawn.description === '' ? '' : `: ${shownText(drawn.description, 300)}`;
  return `${shownText(drawn.name, 80)}${note}, ${stands}${kind}${description}`;
}

/** A chip that was taken just now leads somewhere: the way there, as an arc from the chip to the state. */
function jumpPath(scene: Scene, { lastLine }: Highlight): string {
  const line = lastLine === null ? undefined : scene.lines[lastLine];
  const target = line?.target == null ? undefined : scene.states[line.target];
  if (line === undefined || line.chip === null || target === undefined || line.source === line.target) return '';
  const from = lineBox(scene, line);
  const start = { x: from.x + from.width, y: from.y + from.height / 2 };
  const end = nearest(target.box, start);
  const [across, down] = [end.x - start.x, end.y - start.y];
  const middle = { x: start.x + across / 2 - down * 0.16, y: start.y + down / 2 - Math.abs(across) * 0.16 };
  const angle = Math.atan2(end.y - middle.y, end.x - middle.x);
  const wing = (turn: number): string =>
    `L${round(end.x - 20 * Math.cos(angle + turn))} ${round(end.y - 20 * Math.sin(angle + turn))}`;
  const tip = `M${round(end.x)} ${round(end.y)}`;
  return `M${round(start.x)} ${round(start.y)}Q${round(middle.x)} ${round(middle.y)} ${round(end.x)} ${round(end.y)}${tip}${wing(0.45)}${tip}${wing(-0.45)}`;
}

function nearest({ x, y, width, height }: Box, from: { readonly x: number; readonly y: number }) {
  if (from.y > y + height) return { x: x + width / 2, y: y + height };
  if (from.y < y) return { x: x + width / 2, y };
  return { x: from.x < x ? x : x + width, y: y + height / 2 };
}

const round = (length: number): number => Math.round(length * 10) / 10;
