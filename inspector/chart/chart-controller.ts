import { bringIntoView, createCamera, fitTo, listenToPointers, panBy, type Viewport, zoomAt } from './camera.ts';
import { createPainter, type Highlight, type HighlightInput } from './highlight.ts';
import { type ChartSelection, hasInside, locateSelection, type Scene, selectionAt, stateAt } from './scene.ts';
import { FONT } from './state-box.ts';

const ZOOM_STEP = 1.3;
/** At this scale, all text of a chart is legible. */
const LEGIBLE = 0.9;
const STRUCTURE_KEYS = new Set(['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'Home', 'End']);

interface ChartControllerEvents {
  readonly onSelect: (choice: ChartSelection) => void;
  /** Panning or zooming stops following. */
  readonly onFollow: (follows: boolean) => void;
}

/** Controls a drawn picture: pan, zoom, highlighting, collapsed states and keyboard navigation. */
export interface ChartController {
  readonly update: (input: Omit<HighlightInput, 'collapsed'>) => void;
  readonly zoom: (direction: 1 | -1) => void;
  readonly fit: () => void;
  readonly follow: (follows: boolean) => void;
  /** Scrolls a selection made elsewhere into view. */
  readonly reveal: (choice: ChartSelection) => void;
  readonly stop: () => void;
}

export function createChartController(
  svg: SVGSVGElement,
  world: SVGGElement,
  scene: Scene,
  events: ChartControllerEvents,
): ChartController {
  const painter = createPainter(svg, scene);
  const camera = createCamera(svg, world, scene, detailsFor(svg, scene));
  const picture = { x: 0, y: 0, width: scene.width, height: scene.height };
  const collapsed = new Set<number>();
  let input: Omit<HighlightInput, 'collapsed'> | null = null;
  let highlight: Highlight | null = null;
  let focused = 0;
  let isFitted = true;
  let follows = false;

  const follow = (target: boolean): void => {
    if (target !== follows) events.onFollow(target);
    follows = target;
    const leaf = highlight?.leaves[0];
    const box = leaf === undefined ? undefined : scene.states[visibleState(scene, leaf, collapsed)]?.box;
    if (follows && box !== undefined) camera.go(bringIntoView(camera.view(), box, camera.size()), 'animate');
  };
  const move = (to: Viewport, how: 'jump' | 'animate' = 'animate'): void => {
    isFitted = false;
    follow(false);
    camera.go(to, how);
  };
  const zoom = (direction: 1 | -1): void => {
    const { width, height } = camera.size();
    move(zoomAt(camera.view(), ZOOM_STEP ** direction, { x: width / 2, y: height / 2 }));
  };
  const showAll = (): void => {
    isFitted = true;
    camera.go(fitTo(picture, camera.size()), 'animate');
  };
  const zoomTo = (number: number): void => {
    const state = scene.states[number];
    if (state === undefined) return;
    move(fitTo(state.box, camera.size(), 1.5 / (scene.charts[state.chart]?.fullScale ?? 1)));
  };
  const paint = (): void => {
    if (input !== null) highlight = painter.paint({ ...input, collapsed });
  };
  const toggle = (number: number): void => {
    const state = scene.states[number];
    if (state === undefined || !hasInside(state)) return;
    if (!collapsed.delete(number)) collapsed.add(number);
    paint();
    focus(visibleState(scene, focused, collapsed));
  };
  const focus = (number: number): void => {
    painter.stateAt(focused)?.setAttribute('tabindex', '-1');
    focused = number;
    const element = painter.stateAt(number);
    element?.setAttribute('tabindex', '0');
    element?.focus({ preventScroll: true });
  };
  const goTo = (number: number): void => {
    focus(number);
    const box = scene.states[number]?.box;
    if (box !== undefined) camera.go(bringIntoView(camera.view(), box, camera.size()), 'animate');
  };
  const choose = (target: EventTarget | null): void => {
    const choice = selectionAt(scene, target);
    if (choice !== null) events.onSelect(choice);
  };
  const actOn = (number: number, { key, target }: KeyboardEvent): boolean => {
    if (key === 'Enter') {
      choose(target);
      zoomTo(number);
    } else if (key === ' ') toggle(number);
    else if (STRUCTURE_KEYS.has(key)) goTo(stateBeside(scene, number, key, collapsed));
    else return false;
    return true;
  };
  const press = (event: KeyboardEvent): void => {
    const { key, shiftKey, target } = event;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const number = stateAt(target);
    const pan = number === null || shiftKey ? PAN_KEYS[key] : undefined;
    if (pan !== undefined) move(panBy(camera.view(), ...pan), 'jump');
    else if (key === '+' || key === '=') zoom(1);
    else if (key === '-') zoom(-1);
    else if (key === '0') showAll();
    else if (number === null || !actOn(number, event)) return;
    event.preventDefault();
  };
  const click = ({ target }: MouseEvent): void => {
    const number = stateAt(target);
    if (number !== null) focus(number);
    if (number !== null && isToggle(target)) toggle(number);
    else choose(target);
  };
  const reveal = (choice: ChartSelection): void => {
    const index = locateSelection(scene, choice);
    if (index === null) return;
    const opened = [...collapsed].filter((number) => isInside(scene, number, index.inside));
    for (const number of opened) collapsed.delete(number);
    if (opened.length > 0) paint();
    const near = fitTo(index.box, camera.size(), LEGIBLE / index.fullScale);
    const isZoomNeeded = near.scale > camera.view().scale;
    move(isZoomNeeded ? near : bringIntoView(camera.view(), index.box, camera.size()));
  };
  const doubleClick = ({ target }: MouseEvent): void => {
    const number = stateAt(target);
    if (number !== null && !isToggle(target)) zoomTo(number);
  };

  painter.stateAt(0)?.setAttribute('tabindex', '0');
  camera.go(fitTo(picture, camera.size()));
  const listening = new AbortController();
  const { signal } = listening;
  svg.addEventListener('keydown', press, { signal });
  svg.addEventListener('click', click, { signal });
  svg.addEventListener('dblclick', doubleClick, { signal });
  const unlisten = listenToPointers(svg, camera, (to) => move(to, 'jump'));
  const resized = new ResizeObserver(() => {
    if (isFitted) camera.go(fitTo(picture, camera.size()));
  });
  resized.observe(svg);
  return {
    update: (next) => {
      input = next;
      paint();
      follow(follows);
    },
    zoom,
    fit: showAll,
    follow,
    reveal,
    stop: () => {
      unlisten();
      resized.disconnect();
      camera.stop();
      listening.abort();
    },
  };
}

const isToggle = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('.toggle') !== null;

/**
 * The state an arrow key leads to: the parent, first child, or previous or next sibling; the same state if there is
 * none.
 */
function stateBeside(scene: Scene, from: number, key: string, collapsed: ReadonlySet<number>): number {
  const state = scene.states[from];
  if (state === undefined) return 0;
  const siblings =
    state.parent === null
      ? [...scene.states.keys()].filter((number) => scene.states[number]?.parent === null)
      : (scene.states[state.parent]?.children ?? []);
  const index = siblings.indexOf(from);
  switch (key) {
    case 'ArrowLeft':
      return state.parent ?? from;
    case 'ArrowRight':
      return collapsed.has(from) ? from : (state.children[0] ?? from);
    case 'ArrowUp':
      return siblings[index - 1] ?? from;
    case 'ArrowDown':
      return siblings[index + 1] ?? from;
    case 'Home':
      return siblings[0] ?? from;
    case 'End':
      return siblings.at(-1) ?? from;
    default:
      return from;
  }
}

/** The state itself, or its outermost collapsed ancestor. */
function visibleState(scene: Scene, number: number, collapsed: ReadonlySet<number>): number {
  let visible = number;
  for (let at = scene.states[number]?.parent ?? null; at !== null; at = scene.states[at]?.parent ?? null)
    if (collapsed.has(at)) visible = at;
  return visible;
}

/** Whether `outer` is `inner` or one of its ancestors. */
function isInside(scene: Scene, outer: number, inner: number | null): boolean {
  for (let at = inner; at !== null; at = scene.states[at]?.parent ?? null) if (at === outer) return true;
  return false;
}

/** How far an arrow key pans, in pixels. */
const PAN_KEYS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [60, 0],
  ArrowRight: [-60, 0],
  ArrowUp: [0, 60],
  ArrowDown: [0, -60],
};

/** Text smaller than this on the screen is illegible, in pixels. */
const MIN_NAME = 5;
const MIN_NOTE = 5.6;
/** The largest useful text on the screen, in pixels: names are laid out large to stay legible when zoomed out. */
const MAX_SIZE = { title: 13, name: 12, heat: 9.5 } as const;
/** Zoomed out, only titles are shown; they may grow into the space above them, up to `max` chart pixels. */
const FAR_TITLE = { min: 6.5, max: 36, target: 9 } as const;

/** Hides texts that are too small to read. Call the returned function with each new scale. */
function detailsFor(svg: SVGSVGElement, scene: Scene): (scale: number) => void {
  const charts = [...svg.querySelectorAll<SVGGElement>('[data-chart]')];
  return (scale) => {
    for (const element of charts) {
      const full = scale * (scene.charts[Number(element.getAttribute('data-chart'))]?.fullScale ?? 1);
      const isZoomNeeded = full * FONT.name < MIN_NAME;
      const far = Math.min(FAR_TITLE.max, FAR_TITLE.target / full);
      const nameless = isZoomNeeded ? (far * full < FAR_TITLE.min ? ' nameless titleless' : ' nameless') : '';
      const noteless = full * FONT.label < MIN_NOTE ? ' noteless' : '';
      const classes = `chart${nameless}${noteless}`;
      if (element.getAttribute('class') !== classes) element.setAttribute('class', classes);
      const near = Math.max(FONT.title * 0.6, Math.min(FONT.title, MAX_SIZE.title / full));
      setSize(element, '--title-size', isZoomNeeded ? far : near);
      setSize(element, '--heat-size', Math.max(11, Math.min(FONT.name, MAX_SIZE.heat / full)));
      setSize(element, '--name-size', Math.max(FONT.name * 0.78, Math.min(FONT.name, MAX_SIZE.name / full)));
    }
  };
}

/** Rounds to whole pixels, so that a zoom changes few elements. */
function setSize(element: SVGGElement, name: string, size: number): void {
  const value = `${Math.round(size)}px`;
  if (element.style.getPropertyValue(name) !== value) element.style.setProperty(name, value);
}
