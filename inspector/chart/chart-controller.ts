import { bringIn, createCamera, fitTo, listenToPointers, panBy, type Viewport, zoomAt } from './camera.ts';
import { createPainter, type Highlight, type HighlightInput } from './highlight.ts';
import { type Choice, choiceAt, chosenPlace, hasInside, type Scene, stateAt } from './scene.ts';
import { FONT } from './state-box.ts';

const ZOOM_STEP = 1.3;
/** At this scale everything of a chart can be read. */
const LEGIBLE = 0.9;
const STRUCTURE_KEYS = new Set(['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'Home', 'End']);

export interface ChartControllerEvents {
  readonly onChoose: (choice: Choice) => void;
  /** A hand on the picture ends the following. */
  readonly onFollow: (follows: boolean) => void;
}

/** Controls a drawn picture: pan, zoom, highlighting, collapsed states and keyboard navigation. */
export interface ChartController {
  readonly light: (input: Omit<HighlightInput, 'collapsed'>) => void;
  readonly zoom: (way: 1 | -1) => void;
  readonly fit: () => void;
  readonly follow: (follows: boolean) => void;
  /** Brings a choice of somebody else's into sight. */
  readonly seek: (choice: Choice) => void;
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
  const whole = { x: 0, y: 0, width: scene.width, height: scene.height };
  const collapsed = new Set<number>();
  let input: Omit<HighlightInput, 'collapsed'> | null = null;
  let highlight: Highlight | null = null;
  let focused = 0;
  let isFitted = true;
  let follows = false;

  const follow = (wanted: boolean): void => {
    if (wanted !== follows) events.onFollow(wanted);
    follows = wanted;
    const leaf = highlight?.leaves[0];
    const box = leaf === undefined ? undefined : scene.states[seenState(scene, leaf, collapsed)]?.box;
    if (follows && box !== undefined) camera.go(bringIn(camera.view(), box, camera.size()), 'smoothly');
  };
  const move = (to: Viewport, how: 'at-once' | 'smoothly' = 'smoothly'): void => {
    isFitted = false;
    follow(false);
    camera.go(to, how);
  };
  const zoom = (way: 1 | -1): void => {
    const { width, height } = camera.size();
    move(zoomAt(camera.view(), ZOOM_STEP ** way, { x: width / 2, y: height / 2 }));
  };
  const showAll = (): void => {
    isFitted = true;
    camera.go(fitTo(whole, camera.size()), 'smoothly');
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
    focus(seenState(scene, focused, collapsed));
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
    if (box !== undefined) camera.go(bringIn(camera.view(), box, camera.size()), 'smoothly');
  };
  const choose = (target: EventTarget | null): void => {
    const choice = choiceAt(scene, target);
    if (choice !== null) events.onChoose(choice);
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
    if (pan !== undefined) move(panBy(camera.view(), ...pan), 'at-once');
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
  const seek = (choice: Choice): void => {
    const place = chosenPlace(scene, choice);
    if (place === null) return;
    const opened = [...collapsed].filter((number) => isAround(scene, number, place.inside));
    for (const number of opened) collapsed.delete(number);
    if (opened.length > 0) paint();
    const near = fitTo(place.box, camera.size(), LEGIBLE / place.fullScale);
    const isFar = near.scale > camera.view().scale;
    move(isFar ? near : bringIn(camera.view(), place.box, camera.size()));
  };
  const doubleClick = ({ target }: MouseEvent): void => {
    const number = stateAt(target);
    if (number !== null && !isToggle(target)) zoomTo(number);
  };

  painter.stateAt(0)?.setAttribute('tabindex', '0');
  camera.go(fitTo(whole, camera.size()));
  svg.addEventListener('keydown', press);
  svg.addEventListener('click', click);
  svg.addEventListener('dblclick', doubleClick);
  const unlisten = listenToPointers(svg, camera, (to) => move(to, 'at-once'));
  const resized = new ResizeObserver(() => {
    if (isFitted) camera.go(fitTo(whole, camera.size()));
  });
  resized.observe(svg);
  return {
    light: (next) => {
      input = next;
      paint();
      follow(follows);
    },
    zoom,
    fit: showAll,
    follow,
    seek,
    stop: () => {
      unlisten();
      resized.disconnect();
      camera.stop();
      svg.removeEventListener('keydown', press);
      svg.removeEventListener('click', click);
      svg.removeEventListener('dblclick', doubleClick);
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
  const place = siblings.indexOf(from);
  switch (key) {
    case 'ArrowLeft':
      return state.parent ?? from;
    case 'ArrowRight':
      return collapsed.has(from) ? from : (state.children[0] ?? from);
    case 'ArrowUp':
      return siblings[place - 1] ?? from;
    case 'ArrowDown':
      return siblings[place + 1] ?? from;
    case 'Home':
      return siblings[0] ?? from;
    case 'End':
      return siblings.at(-1) ?? from;
    default:
      return from;
  }
}

/** The innermost state that is seen of those around a state: itself, unless something around it is closed. */
function seenState(scene: Scene, number: number, collapsed: ReadonlySet<number>): number {
  let seen = number;
  for (let at = scene.states[number]?.parent ?? null; at !== null; at = scene.states[at]?.parent ?? null)
    if (collapsed.has(at)) seen = at;
  return seen;
}

/** Whether a state is another one, or one of those around it. */
function isAround(scene: Scene, outer: number, inner: number | null): boolean {
  for (let at = inner; at !== null; at = scene.states[at]?.parent ?? null) if (at === outer) return true;
  return false;
}

/** By how much an arrow key moves the picture, in pixels. */
const PAN_KEYS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [60, 0],
  ArrowRight: [-60, 0],
  ArrowUp: [0, 60],
  ArrowDown: [0, -60],
};

/** Text smaller than this on the screen is a smudge, in pixels. */
const LEAST_NAME = 5;
const LEAST_NOTE = 5.6;
/** Names have much room, to be read from afar; nearer by they need not be larger on the screen than this, in pixels. */
const MOST = { title: 13, name: 12, heat: 9.5 } as const;
/** From afar, titles alone are left: they may grow into the room above them, up to this, in pixels of the chart. */
const FAR_TITLE = { least: 6.5, most: 36, wanted: 9 } as const;

/** Hides texts that are too small to read. Call the returned function with each new scale. */
function detailsFor(svg: SVGSVGElement, scene: Scene): (scale: number) => void {
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
