import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type ChartController, createChartController } from './chart-controller.ts';
import { type ChartProps, NONE_NEVER_TAKEN } from './chart-props.ts';
import { ChartShapes } from './chart-shapes.tsx';
import { ChartTools } from './chart-tools.tsx';
import { isChosenLine, isChosenState } from './choices.ts';
import type { Drawing } from './drawing.ts';
import { sceneOf } from './scene.ts';
import type { Hues } from './state-shape.tsx';
import { shownText } from './text-size.ts';

interface ChartPictureProps extends ChartProps {
  readonly drawings: Readonly<Record<string, Drawing>>;
  /** The same object each time: other hues are other shapes. */
  readonly hues?: Hues;
}

const NO_HUES: Hues = {};

/** The picture of a chart. It is drawn once; what a run lights up in it changes classes only. */
export function ChartPicture({
  drawings,
  root,
  marks,
  chosen = null,
  sought = null,
  onChoose,
  overlay = null,
  neverTaken = NONE_NEVER_TAKEN,
  hues = NO_HUES,
}: ChartPictureProps) {
  const svg = useRef<SVGSVGElement>(null);
  const world = useRef<SVGGElement>(null);
  const stage = useRef<ChartController | null>(null);
  const listener = useRef(onChoose);
  listener.current = onChoose;
  const [follows, setFollows] = useState(false);
  const scene = useMemo(() => sceneOf(drawings, root), [drawings, root]);
  const shapes = useMemo(() => <ChartShapes scene={scene} chart={0} hues={hues} />, [scene, hues]);

  useLayoutEffect(() => {
    if (svg.current === null || world.current === null) return;
    const created = createChartController(svg.current, world.current, scene, {
      onChoose: (choice) => listener.current?.(choice),
      onFollow: setFollows,
    });
    stage.current = created;
    return () => created.stop();
  }, [scene, shapes]);

  // A new stage is dark.
  useLayoutEffect(() => {
    const [isChosen, isLine] = [isChosenState(chosen), isChosenLine(chosen)];
    stage.current?.light({ marks, overlay, neverTaken, isChosen, isChosenLine: isLine });
  }, [shapes, marks, overlay, neverTaken, chosen]);

  useLayoutEffect(() => {
    if (sought !== null) stage.current?.seek(sought);
  }, [shapes, sought]);

  const name = shownText(root, 80);
  return (
    <div class="chart-picture">
      {/* biome-ignore lint/a11y/useSemanticElements: a drawing is no set of fields */}
      <svg
        ref={svg}
        role="group"
        aria-label={`Statechart ${name}. Arrow keys move it, plus and minus zoom, 0 fits it.`}
        tabindex={0}
      >
        <g ref={world}>
          <g role="tree" aria-label={`States of ${name}`}>
            {shapes}
          </g>
          <path class="jump" d="" />
        </g>
      </svg>
      <ChartTools
        follows={follows}
        onFollow={marks.isSum ? null : () => stage.current?.follow(!follows)}
        onZoom={(way) => stage.current?.zoom(way)}
        onFit={() => stage.current?.fit()}
      />
    </div>
  );
}
