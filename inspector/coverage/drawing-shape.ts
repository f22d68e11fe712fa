import type { Chip, Drawing, DrawnEdge, DrawnState, Inset } from '../chart/drawing.ts';
import { isCount, isFlag, isListOf, isNullOr, isNumber, isOneOf, isRecordOf, isShape, isText } from './shape.ts';

const STATE_TYPES = ['atomic', 'compound', 'parallel', 'final', 'history'] as const;

const point = { x: isNumber, y: isNumber };
const box = { ...point, width: isNumber, height: isNumber };

const isChip = isShape<Chip>({
  ...box,
  labels: isListOf(isText),
  target: isText,
  targetName: isText,
  transitions: isListOf(isCount),
});

const isDrawnState = isShape<DrawnState>({
  ...box,
  id: isText,
  name: isText,
  parent: isNullOr(isText),
  type: isOneOf(...STATE_TYPES),
  description: isText,
  note: isText,
  isInitial: isFlag,
  chips: isListOf(isChip),
  inset: isNullOr(isShape<Inset>({ ...point, chartId: isText, scale: isNumber })),
});

const isDrawnEdge = isShape<DrawnEdge>({
  source: isText,
  target: isText,
  labels: isListOf(isText),
  dashed: isFlag,
  points: isListOf(isShape<DrawnEdge['points'][number]>(point)),
  label: isNullOr(isShape<NonNullable<DrawnEdge['label']>>(box)),
  transitions: isListOf(isCount),
});

export const isStateType = isOneOf(...STATE_TYPES);

/** Drawings by the ids of their charts. */
export const isDrawings = isRecordOf(
  isShape<Drawing>({
    chartId: isText,
    width: isNumber,
    height: isNumber,
    chips: isListOf(isChip),
    states: isListOf(isDrawnState),
    edges: isListOf(isDrawnEdge),
  }),
);
