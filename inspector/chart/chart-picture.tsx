import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type Camera, createCamera } from './camera.ts';
import { PAN_KEYS, seenState, stateBeside } from './chart-keys.ts';
import { ChartShapes } from './chart-shapes.tsx';
import { ChartTools } from './chart-tools.tsx';
import { choiceAt, isChosenLine, isChosenState } from './choices.ts';
import { detailsFor } from './details.ts';
import type { Drawing } from './drawing.ts';
import type { Lit } from './lit.ts';
import type { Choice, Marks, Overlay } from './marks.ts';
import { createPainter, type Painter } from './painter.ts';
import { listenToPointers } from './pointers.ts';
import { hasInside, sceneOf } from './scene.ts';
import type { Hues } from './state-shape.tsx';
import { shownText } from './text-size.ts';
import { bringIn, fitTo, panBy, zoomAt } from './viewport.ts';

export interface ChartPictureProps {
  readonly drawings: Readonly<Record<string, Drawing>>;
  /** The chart on top. */
  readonly root: string;
  readonly marks: Marks;
  readonly chosen?: Choice | null;
  readonly onChoose?: (choice: Choice) => void;
  readonly overlay?: Overlay | null;
  /** As `transitionKey` names them. */
  readonly neverTaken?: ReadonlySet<string>;
  /** Colours of states of the chart on top, by their ids. */
  readonly hues?: Hues;
}

const NOTHING: ReadonlySet<string> = new Set();
const NO_HUES: Hues = {};
const ZOOM_STEP = 1.3;

interface Stage {
  readonly camera: Camera;
  readonly painter: Painter;
}

/** The picture of a chart. It is drawn once; what a run lights up in it changes classes only. */
export function ChartPicture(props: ChartPictureProps) {
  const {
    drawings,
    root,
    marks,
    chosen = null,
    onChoose,
    overlay = null,
    neverTaken = NOTHING,
    hues = NO_HUES,
  } = props;
  const svg = useRef<SVGSVGElement>(null);
  const world = useRef<SVGGElement>(null);
  const stage = useRef<Stage | null>(null);
  const focused = useRef(0);
  const isFitted = useRef(true);
  const [follows, setFollows] = useState(false);
  const [collapsed, setCollapsed] = useState<ReadonlySet<number>>(new Set());
  const scene = useMemo(() => sceneOf(drawings, root), [drawings, root]);
  const shapes = useMemo(() => <ChartShapes scene={scene} chart={0} hues={hues} />, [scene, hues]);
  const whole = { x: 0, y: 0, width: scene.width, height: scene.height };

  useLayoutEffect(() => {
    const [picture, inner] = [svg.current, world.current];
    if (picture === null || inner === null) return;
    const painter = createPainter(picture, scene);
    const camera = createCamera(picture, inner, scene, detailsFor(picture, scene));
    stage.current = { camera, painter };
    isFitted.current = true;
    focused.current = 0;
    painter.stateAt(0)?.setAttribute('tabindex', '0');
    const unlisten = listenToPointers(picture, camera, () => {
      isFitted.current = false;
      setFollows(false);
    });
    const resized = new ResizeObserver(() => {
      if (isFitted.current) camera.go(fitTo(whole, camera.size()));
    });
    resized.observe(picture);
    camera.go(fitTo(whole, camera.size()));
    return () => {
      stage.current = null;
      unlisten();
      resized.disconnect();
      camera.stop();
    };
  }, [scene]);

  const lit = useRef<Lit | null>(null);
  useLayoutEffect(() => {
    lit.current =
      stage.current?.painter.paint({
        marks,
        overlay,
        neverTaken,
        collapsed,
        isChosen: isChosenState(chosen),
        isChosenLine: isChosenLine(chosen),
      }) ?? null;
  }, [scene, marks, overlay, neverTaken, collapsed, chosen]);

  useEffect(() => {
    const leaf = lit.current?.leaves[0];
    const camera = stage.current?.camera;
    const box = leaf === undefined ? undefined : scene.states[seenState(scene, leaf, collapsed)]?.box;
    if (follows && box !== undefined && camera !== undefined)
      camera.go(bringIn(camera.view(), box, camera.size()), 'smoothly');
  }, [follows, marks, scene, collapsed]);

  const zoom = (factor: number): void => {
    const camera = stage.current?.camera;
    if (camera === undefined) return;
    isFitted.current = false;
    const { width, height } = camera.size();
    camera.go(zoomAt(camera.view(), factor, { x: width / 2, y: height / 2 }), 'smoothly');
  };
  const fit = (): void => {
    isFitted.current = true;
    const camera = stage.current?.camera;
    camera?.go(fitTo(whole, camera.size()), 'smoothly');
  };
  const zoomTo = (number: number): void => {
    const state = scene.states[number];
    const camera = stage.current?.camera;
    if (state === undefined || camera === undefined) return;
    isFitted.current = false;
    camera.go(fitTo(state.box, camera.size(), 1.5 / (scene.charts[state.chart]?.fullScale ?? 1)), 'smoothly');
  };
  const toggle = (number: number): void => {
    const state = scene.states[number];
    if (state === undefined || !hasInside(state)) return;
    setCollapsed((before) => {
      const after = new Set(before);
      if (!after.delete(number)) after.add(number);
      return after;
    });
  };
  const focus = (number: number): void => {
    const current = stage.current;
    const state = scene.states[number];
    if (current === null || state === undefined) return;
    current.painter.stateAt(focused.current)?.setAttribute('tabindex', '-1');
    focused.current = number;
    const element = current.painter.stateAt(number);
    element?.setAttribute('tabindex', '0');
    element?.focus({ preventScroll: true });
    current.camera.go(bringIn(current.camera.view(), state.box, current.camera.size()), 'smoothly');
  };
  const choose = (target: EventTarget | null): void => {
    const choice = choiceAt(scene, target);
    if (choice !== null) onChoose?.(choice);
  };

  const onKey = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const number = stateOf(event.target);
    const pan = number === null || event.shiftKey ? PAN_KEYS[event.key] : undefined;
    if (pan !== undefined) {
      isFitted.current = false;
      const camera = stage.current?.camera;
      camera?.go(panBy(camera.view(), ...pan));
    } else if (event.key === '+' || event.key === '=') zoom(ZOOM_STEP);
    else if (event.key === '-') zoom(1 / ZOOM_STEP);
    else if (event.key === '0') fit();
    else if (number === null) return;
    else if (event.key === 'Enter') {
      choose(event.target);
      zoomTo(number);
    } else if (event.key === ' ') toggle(number);
    else if (STRUCTURE_KEYS.has(event.key)) focus(stateBeside(scene, number, event.key, collapsed));
    else return;
    event.preventDefault();
  };

  return (
    <div class="chart-picture">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it is moved by keys */}
      <svg
        ref={svg}
        role="group"
        aria-label={`Statechart ${shownText(root, 80)}. Arrow keys move it, plus and minus zoom, 0 fits it.`}
        tabIndex={0}
        onKeyDown={onKey}
        onClick={({ target }) => {
          const number = stateOf(target);
          if (isToggle(target) && number !== null) toggle(number);
          else {
            if (number !== null) focusQuietly(number);
            choose(target);
          }
        }}
        onDblClick={({ target }) => {
          const number = stateOf(target);
          if (number !== null && !isToggle(target)) zoomTo(number);
        }}
      >
        <g ref={world}>
          <g role="tree" aria-label={`States of ${shownText(root, 80)}`}>
            {shapes}
          </g>
          <path class="jump" d="" />
        </g>
      </svg>
      <ChartTools
        follows={follows}
        onFollow={() => setFollows(!follows)}
        onZoom={(way) => zoom(way > 0 ? ZOOM_STEP : 1 / ZOOM_STEP)}
        onFit={fit}
      />
    </div>
  );

  /** A state that was clicked takes the place in the order of the keyboard; the picture stays where it is. */
  function focusQuietly(number: number): void {
    const painter = stage.current?.painter;
    painter?.stateAt(focused.current)?.setAttribute('tabindex', '-1');
    focused.current = number;
    const element = painter?.stateAt(number);
    element?.setAttribute('tabindex', '0');
    element?.focus({ preventScroll: true });
  }
}

const STRUCTURE_KEYS = new Set(['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'Home', 'End']);

function stateOf(target: EventTarget | null): number | null {
  const element = target instanceof Element ? target.closest('[data-state], [data-cover]') : null;
  const number = element?.getAttribute('data-state') ?? element?.getAttribute('data-cover') ?? null;
  return number === null ? null : Number(number);
}

const isToggle = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('.toggle') !== null;
