import { useRef } from 'preact/hooks';
import { PANES, type PaneName, paneSizes } from '../ui-state/panes.ts';

function resizePane(name: PaneName, size: number): void {
  const { min, max } = PANES[name];
  paneSizes.value = { ...paneSizes.peek(), [name]: Math.round(Math.min(max, Math.max(min, size))) };
}

/** Where a pane grows when the pointer moves right or down. */
const DIRECTIONS: Readonly<Record<PaneName, 1 | -1>> = { step: -1, trace: -1 };
const STEP_PX = 16;

/** The border of a pane: dragging it, or the arrow keys, resize the pane; a double click restores the default size. */
export function Separator({ pane }: { readonly pane: PaneName }) {
  const start = useRef<{ readonly at: number; readonly size: number } | null>(null);
  const { label, min, max } = PANES[pane];
  const isVertical = pane !== 'trace';
  const size = paneSizes.value[pane];
  const direction = DIRECTIONS[pane];
  const positionOf = (event: PointerEvent): number => (isVertical ? event.clientX : event.clientY);
  const keys: Readonly<Record<string, number>> = isVertical
    ? { ArrowLeft: -direction, ArrowRight: direction }
    : { ArrowUp: -direction, ArrowDown: direction };

  return (
    // biome-ignore lint/a11y/useSemanticElements: a rule cannot take the focus and a value
    <div
      class={`separator ${pane}`}
      role="separator"
      tabIndex={0}
      aria-label={label}
      aria-orientation={isVertical ? 'vertical' : 'horizontal'}
      aria-valuemin={min}
      aria-valuemax={max}
      aria-valuenow={size ?? min}
      title={`${label}: drag, or use the arrow keys`}
      onKeyDown={(event) => {
        const step = keys[event.key];
        if (step === undefined) return;
        event.preventDefault();
        resizePane(pane, sizeOf(event.currentTarget, isVertical) + step * STEP_PX);
      }}
      onDblClick={() => {
        const { [pane]: _, ...others } = paneSizes.peek();
        paneSizes.value = others;
      }}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        start.current = { at: positionOf(event), size: sizeOf(event.currentTarget, isVertical) };
      }}
      onPointerMove={(event) => {
        if (start.current === null) return;
        resizePane(pane, start.current.size + direction * (positionOf(event) - start.current.at));
      }}
      onPointerUp={() => {
        start.current = null;
      }}
      onPointerCancel={() => {
        start.current = null;
      }}
    />
  );
}

function sizeOf(separator: HTMLElement, isVertical: boolean): number {
  const box = separator.nextElementSibling?.getBoundingClientRect();
  return (isVertical ? box?.width : box?.height) ?? 0;
}
