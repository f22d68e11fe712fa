import type { ChartSelection } from '../fold/selection.ts';
import {
  bringIntoView,
  createCamera,
  fitTo,
  listenToPointers,
  panBy,
  type Viewport,
  type WindowSize,
  zoomAt,
} from './camera.ts';
import type { Box } from './drawing.ts';
import { createPainter, type Highlight, type HighlightInput } from './highlight.ts';
import { FONT, LEGIBLE } from './label-text.ts';
import { hasInside, locateSelection, type Scene, type SceneChart, selectionAt } from './scene.ts';

function stateAt(target: EventTarget | null): number | null {
  const element = target instanceof Element ? target.closest('[data-state]') : null;
  return element === null ? null : Number(element.getAttribute('data-state'));
}

const ZOOM_STEP = 1.3;
const STRUCTURE_KEYS = new Set(['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'Home', 'End']);

interface ChartControllerEvents {
  readonly onSelect: (choice: ChartSelection) => void;
  /** Panning or zooming stops following. */
  readonly onFollow: (follows: boolean) => void;
  readonly onView: (view: Viewport, size: WindowSize) => void;
}

/** Controls a drawn picture: pan, zoom, highlighting, levels of detail and keyboard navigation. */
export interface ChartController {
  readonly update: (input: HighlightInput) => void;
  readonly zoom: (direction: 1 | -1) => void;
  readonly fit: () => void;
  readonly follow: (follows: boolean) => void;
  /** Scrolls a selection made elsewhere into view. */
  readonly reveal: (choice: ChartSelection) => void;
  readonly center: (point: { readonly x: number; readonly y: number }) => void;
  /** Reports the viewport again. */
  readonly refresh: () => void;
  readonly stop: () => void;
}

export function createChartController(
  svg: SVGSVGElement,
  world: SVGGElement,
  scene: Scene,
  events: ChartControllerEvents,
): ChartController {
  const painter = createPainter(svg, scene);
  const details = detailsFor(svg, scene, painter.stateAt);
  const camera = createCamera(svg, world, scene, (view, size) => {
    details.show(view.scale);
    events.onView(view, size);
  });
  const picture = { x: 0, y: 0, width: scene.width, height: scene.height };
  let highlight: Highlight | null = null;
  let focused = 0;
  let isFitted = true;
  let follows = false;

  const activeState = (): number | undefined => {
    const own = [...(highlight?.active ?? [])].filter((number) => copyOf(scene, number) === scene.charts[0]?.copy);
    return own.find((number) => !scene.states[number]?.children.some((child) => own.includes(child)));
  };
  /** A viewport in which a state and its neighbors are legible. */
  const viewOf = (number: number): Viewport => {
    const state = scene.states[number];
    const own = state === undefined ? undefined : scene.charts[state.chart];
    if (state === undefined || own === undefined) return camera.view();
    const { scale } = camera.view();
    const [min, max] = [LEGIBLE / own.fullScale, (2 * LEGIBLE) / own.fullScale];
    if (scale >= min && scale <= max) return bringIntoView(camera.view(), state.box, camera.size());
    const view = fitTo(extentOf(own), camera.size(), 1.2 / own.fullScale);
    return bringIntoView(view.scale < min ? fitTo(state.box, camera.size(), min) : view, state.box, camera.size());
  };
  const follow = (target: boolean): void => {
    if (target !== follows) events.onFollow(target);
    follows = target;
    const leaf = activeState();
    if (follows && leaf !== undefined) {
      isFitted = false;
      camera.go(viewOf(leaf), 'animate');
    }
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
  /** The whole picture; if it does not fit, the part with the active state. */
  const fitted = (): Viewport => {
    const view = fitTo(picture, camera.size());
    const active = scene.states[activeState() ?? -1];
    const isOutside = active === undefined || scene.charts[active.chart]?.host !== null;
    return isOutside ? view : bringIntoView(view, active.box, camera.size());
  };
  const showAll = (how: 'jump' | 'animate' = 'animate'): void => {
    isFitted = true;
    camera.go(fitted(), how);
  };
  /** Zooms until the inside of a state is legible. */
  const open = (number: number, how: 'jump' | 'animate' = 'animate'): void => {
    const state = scene.states[number];
    if (state === undefined) return;
    const inner = state.inset === null ? undefined : scene.charts[state.inset];
    if (inner === undefined) move(viewOf(number), how);
    else {
      const { y, height, ...rest } = extentOf(inner);
      // With the title above it.
      const box = { ...rest, y: state.box.y, height: y + height - state.box.y };
      const { width: across, height: down } = camera.size();
      const room = { width: across - BESIDE.map, height: down - BESIDE.note };
      move(fitTo(box, room, 1.3 / inner.fullScale, LEGIBLE / inner.fullScale), how);
    }
  };
  const close = (number: number): void => {
    const own = scene.charts[scene.states[number]?.chart ?? 0];
    if (own?.host == null) showAll();
    else open(own.host);
  };
  const focus = (number: number): void => {
    painter.stateAt(focused)?.setAttribute('tabindex', '-1');
    focused = number;
    const element = painter.stateAt(number);
    element?.setAttribute('tabindex', '0');
    element?.focus({ preventScroll: true });
  };
  const goTo = (number: number): void => {
    // A hidden state cannot have the focus: jump, so that it is visible at once.
    const isHidden = !details.isLegible(scene.states[number]?.chart ?? 0, camera.view().scale);
    isFitted &&= !isHidden;
    camera.go(viewOf(number), isHidden ? 'jump' : 'animate');
    focus(number);
  };
  const choose = (target: EventTarget | null): void => {
    const choice = selectionAt(scene, target);
    if (choice !== null) events.onSelect(choice);
  };
  const isUnfolded = (number: number): boolean => painter.stateAt(number)?.hasAttribute('data-unfolded') === true;
  const actOn = (number: number, { key, target }: KeyboardEvent): boolean => {
    const hasInset = scene.states[number]?.inset !== null;
    if (key === 'Enter') {
      choose(target);
      open(number);
    } else if (key === ' ') {
      choose(target);
      if (isUnfolded(number) || !hasInset) close(number);
      else open(number);
    } else if (STRUCTURE_KEYS.has(key)) goTo(stateBeside(scene, number, key));
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
  const click = ({ target, detail }: MouseEvent): void => {
    const number = stateAt(target);
    const state = number === null ? undefined : scene.states[number];
    const isSelected = number !== null && painter.stateAt(number)?.classList.contains('selected') === true;
    if (number !== null) focus(number);
    choose(target);
    // A second click on a folded state opens it, as does a click on its plus sign.
    const isOpened = isSelected || (target instanceof Element && target.closest('.fold') !== null);
    if (number !== null && state?.inset != null && detail < 2 && isOpened && !isUnfolded(number)) open(number);
  };
  const reveal = (choice: ChartSelection): void => {
    const place = locateSelection(scene, choice);
    if (place === null) return;
    const near = fitTo(place.box, camera.size(), (1.1 * LEGIBLE) / place.fullScale, LEGIBLE / place.fullScale);
    // Also if the window is inside a state of that level.
    const isFar = camera.view().scale < near.scale || camera.view().scale > 3 * near.scale;
    move(isFar ? near : bringIntoView(camera.view(), place.box, camera.size()));
  };
  const doubleClick = ({ target }: MouseEvent): void => {
    const number = stateAt(target);
    if (number !== null && !isUnfolded(number)) open(number);
  };

  painter.stateAt(0)?.setAttribute('tabindex', '0');
  camera.go(fitted());
  const listening = new AbortController();
  const { signal } = listening;
  svg.addEventListener('keydown', press, { signal });
  svg.addEventListener('click', click, { signal });
  svg.addEventListener('dblclick', doubleClick, { signal });
  const unlisten = listenToPointers(svg, camera, (to) => move(to, 'jump'));
  const resized = new ResizeObserver(() => {
    if (isFitted) camera.go(fitted());
    else events.onView(camera.view(), camera.size());
  });
  resized.observe(svg);
  return {
    update: (input) => {
      highlight = painter.paint(input);
      if (follows) follow(true);
      else if (isFitted) camera.go(fitted(), 'animate');
    },
    zoom,
    fit: showAll,
    follow,
    reveal,
    center: ({ x, y }) => {
      const { width, height } = camera.size();
      const { scale } = camera.view();
      move({ scale, x: width / 2 - scale * x, y: height / 2 - scale * y });
    },
    refresh: () => events.onView(camera.view(), camera.size()),
    stop: () => {
      unlisten();
      resized.disconnect();
      camera.stop();
      listening.abort();
    },
  };
}

/** Where a level is in the whole picture. */
const extentOf = ({ origin, drawn, fullScale }: SceneChart): Box => ({
  ...origin,
  width: drawn.width * fullScale,
  height: drawn.height * fullScale,
});

const copyOf = ({ charts, states }: Scene, number: number): string | undefined =>
  charts[states[number]?.chart ?? -1]?.copy;

/**
 * The state an arrow key leads to: the parent, first child, or previous or next sibling; the same state if there is
 * none.
 */
function stateBeside(scene: Scene, from: number, key: string): number {
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
      return hasInside(state) ? (state.children[0] ?? from) : from;
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

/** How far an arrow key pans, in pixels. */
const PAN_KEYS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [60, 0],
  ArrowRight: [-60, 0],
  ArrowUp: [0, 60],
  ArrowDown: [0, -60],
};

/** The space that the minimap and the note about the selection take from an opened state, in pixels. */
const BESIDE = { map: 132, note: 68 } as const;

/** The largest arrowhead on the screen, in pixels, and its size at scale 1. */
const HEAD = { max: 10, length: 9 } as const;
/** Above this scale, a level shows only its boxes: the inside of a state fills the window. */
const MAX_LINES_SCALE = 3;
/** The largest useful text on the screen, in pixels: zooming in makes room for the insides of states, not for larger names. */
const MAX_SIZE = { name: 18, label: 15, title: 14 } as const;

interface Details {
  readonly show: (scale: number) => void;
  readonly isLegible: (chart: number, scale: number) => boolean;
}

/** Levels of detail: draws a level only while its smallest text is legible. */
function detailsFor(svg: SVGSVGElement, scene: Scene, elementOf: (state: number) => SVGElement | null): Details {
  const charts = [...svg.querySelectorAll<SVGGElement>('[data-chart]')];
  let shown = Number.NaN;
  const isLegible = (chart: number, scale: number): boolean =>
    scale * (scene.charts[chart]?.fullScale ?? 1) >= LEGIBLE * 0.999;
  return {
    isLegible,
    show: (scale) => {
      if (scale === shown) return;
      shown = scale;
      for (const element of charts) {
        const chart = Number(element.getAttribute('data-chart'));
        const { fullScale = 1, host = null } = scene.charts[chart] ?? {};
        const full = scale * fullScale;
        const isVisible = host === null || isLegible(chart, scale);
        toggle(element, 'data-folded', !isVisible);
        if (host !== null) {
          const state = elementOf(host);
          toggle(state, 'data-unfolded', isVisible);
          state?.setAttribute('aria-expanded', String(isVisible));
        }
        if (!isVisible) continue;
        toggle(element, 'data-hides-lines', full > MAX_LINES_SCALE);
        setSize(element, '--head', Math.min(1, HEAD.max / HEAD.length / full), '');
        setSize(element, '--name-size', Math.min(FONT.name, MAX_SIZE.name / full));
        setSize(element, '--label-size', Math.min(FONT.label, MAX_SIZE.label / full));
        setSize(element, '--title-size', Math.min(FONT.name, MAX_SIZE.title / full));
      }
    },
  };
}

function toggle(element: Element | null, name: string, isSet: boolean): void {
  if (element !== null && element.hasAttribute(name) !== isSet) element.toggleAttribute(name, isSet);
}

/** Rounds to three digits, so that a zoom changes few elements. */
function setSize(element: SVGGElement, name: string, size: number, unit = 'px'): void {
  const value = `${Number(size.toPrecision(3))}${unit}`;
  if (element.style.getPropertyValue(name) !== value) element.style.setProperty(name, value);
}
