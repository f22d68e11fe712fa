import { useEffect, useRef } from 'preact/hooks';
import type { Viewport, WindowSize } from './camera.ts';
import type { Scene } from './scene.ts';

export type ShowView = (view: Viewport, size: WindowSize) => void;

/** How much of the picture may be outside the window before the minimap appears, in pixels of the picture. */
const SLACK = 28;

interface MinimapProps {
  readonly scene: Scene;
  readonly onReady: (show: ShowView) => void;
  /** The pointer chose a point of the picture; the keyboard moves the chart itself. */
  readonly onCenter: (point: DOMPoint) => void;
}

/** A small copy of the outermost level, with a frame around the visible part. Hidden while all of it is visible. */
export function Minimap({ scene, onReady, onCenter }: MinimapProps) {
  const map = useRef<HTMLDivElement>(null);
  const frame = useRef<SVGRectElement>(null);
  useEffect(() => {
    onReady(({ x, y, scale }, { width, height }) => {
      const box = { x: -x / scale, y: -y / scale, width: width / scale, height: height / scale };
      const isWhole =
        box.x <= SLACK &&
        box.y <= SLACK &&
        box.x + box.width >= scene.width - SLACK &&
        box.y + box.height >= scene.height - SLACK;
      map.current?.toggleAttribute('data-whole', isWhole);
      for (const [name, value] of Object.entries(box)) frame.current?.setAttribute(name, String(Math.round(value)));
    });
  }, [scene, onReady]);
  const states = scene.charts[0]?.states ?? [];
  return (
    <div
      class="minimap"
      aria-hidden="true"
      ref={map}
      onPointerUp={({ clientX, clientY }) => {
        const matrix = map.current?.querySelector('svg')?.getScreenCTM()?.inverse();
        if (matrix != null) onCenter(new DOMPoint(clientX, clientY).matrixTransform(matrix));
      }}
    >
      <svg aria-hidden="true" viewBox={`0 0 ${scene.width} ${scene.height}`}>
        {states.map((number) => {
          const { box, drawn } = scene.states[number] as Scene['states'][number];
          return <rect key={number} class={drawn.isOpen ? 'open' : ''} {...box} rx={8} />;
        })}
        <rect class="frame" ref={frame} />
      </svg>
    </div>
  );
}
