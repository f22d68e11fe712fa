import type { Drawing } from './drawing.ts';

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === 'string';
const isFlag: Check = (value) => typeof value === 'boolean';
const isNumber: Check = Number.isFinite;
const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);
const list =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
const object =
  (members: Readonly<Record<string, Check>>): Check =>
  (value) =>
    typeof value === 'object' &&
    value !== null &&
    Object.entries(members).every(([name, check]) => check((value as Record<string, unknown>)[name]));

const point = { x: isNumber, y: isNumber };
const box = { ...point, width: isNumber, height: isNumber };
const lines = list(object({ kind: isText, text: isText, transitions: list(isNumber) }));
const isLevel = object({
  lines,
  width: isNumber,
  height: isNumber,
  states: list(
    object({
      ...box,
      id: isText,
      isOpen: isFlag,
      lines,
      chips: list(object({ ...box, id: orNull(isText), text: isText })),
    }),
  ),
  stubs: list(object({ ...box, text: isText })),
  edges: list(
    object({
      source: orNull(isText),
      target: orNull(isText),
      transitions: list(isNumber),
      points: list(object(point)),
      label: orNull(object(box)),
      isBranch: isFlag,
    }),
  ),
});

/** Whether data from a file has the form of a drawing. */
export const isDrawing = (value: unknown): value is Drawing =>
  typeof value === 'object' && value !== null && Object.values(value).every(isLevel);
