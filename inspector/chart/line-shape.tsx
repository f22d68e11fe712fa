import type { Chip, DrawnEdge } from './drawing.ts';
import { LABEL_LENGTH } from './elk-graph.ts';
import { arrowPath, linePath } from './line-path.ts';
import { chipTexts, labelText } from './state-box.ts';

/** All transitions between two states, as one line with an arrow. */
export function EdgeShape({ number, edge }: { readonly number: number; readonly edge: DrawnEdge }) {
  const { points, label, labels, dashed } = edge;
  const path = linePath(points);
  return (
    <g class={dashed ? 'edge outside' : 'edge'} data-line={number}>
      <path class="reach" d={path} />
      <path class="line" d={path} />
      <path class="head" d={arrowPath(points)} />
      {label !== null && (
        <g class="label">
          <rect x={label.x} y={label.y} width={label.width} height={label.height} rx={3} />
          <text x={label.x + label.width / 2} y={label.y + label.height / 2}>
            {labelText(labels, LABEL_LENGTH)}
          </text>
        </g>
      )}
    </g>
  );
}

/** Transitions told in words in the state that they leave. */
export function ChipShape({ number, chip }: { readonly number: number; readonly chip: Chip }) {
  const { label, labelAt, arrowAt, target, targetAt } = chipTexts(chip);
  const middle = chip.y + chip.height / 2;
  return (
    <g class="chip" data-line={number}>
      <rect x={chip.x} y={chip.y} width={chip.width} height={chip.height} rx={chip.height / 2} />
      <text x={chip.x + labelAt} y={middle}>
        {label}
      </text>
      <path d={`M${chip.x + arrowAt} ${middle}h7m-2.5 -2.5l2.5 2.5l-2.5 2.5`} />
      <text x={chip.x + targetAt} y={middle}>
        {target}
      </text>
    </g>
  );
}
