import type { ChartState } from '../../src/engine/charts/chart.ts';
import type { Edge } from '../../src/engine/charts/edges.ts';
import { excerpt } from '../fold/text.ts';
import type { Box, Chip } from './drawing.ts';

export const NAME_LENGTH = 32;
const PAD = 10;
const PAD_TOP = 6;
const NOTE_HEIGHT = 12;
const CHIP = { height: 14, gap: 3, pad: 6, arrow: 8 } as const;
const MIN_WIDTH = 56;

/** The upper part of a state: its name, invoked actors and chips. */
export interface Head {
  readonly width: number;
  readonly height: number;
  readonly chips: readonly Chip[];
}

interface HeadParts {
  readonly state: ChartState;
  readonly chips: readonly Edge[];
  readonly nameOf: (id: string) => string;
  /** The root state shows only its chips. */
  readonly isRoot: boolean;
  /** It has child states or an inner chart. */
  readonly isBox: boolean;
  /** It has a line with its invoked actors. */
  readonly hasNote: boolean;
}

/** The head of a state of at least this width, with chips in as many rows as needed. */
export function headOf({ state, chips, nameOf, isRoot, isBox, hasNote }: HeadParts, width: number): Head {
  if (isRoot && chips.length === 0) return { width, height: 14, chips: [] };
  const name = isRoot ? 0 : widthOf(excerpt(state.name, NAME_LENGTH), isBox ? FONT.title : FONT.name);
  const note = hasNote ? widthOf(noteOf(state), FONT.note) : 0;
  const sized = chips.map((edge) => chipOf(edge, nameOf));
  const inner = Math.max(MIN_WIDTH - 2 * PAD, name, note, width - 2 * PAD, ...sized.map((chip) => chip.width));
  const top = isRoot ? 10 : PAD_TOP + (isBox ? FONT.title : FONT.name) + 4 + (hasNote ? NOTE_HEIGHT : 0);
  const placed: Chip[] = [];
  let x = 0;
  let y = top;
  for (const chip of sized) {
    if (x > 0 && x + chip.width > inner) {
      x = 0;
      y += CHIP.height + CHIP.gap;
    }
    placed.push({ ...chip, x: PAD + x, y });
    x += chip.width + CHIP.gap;
  }
  const height = placed.length === 0 ? top + 5 : y + CHIP.height + 7;
  return { width: inner + 2 * PAD, height, chips: placed };
}

export function noteOf({ invokes }: ChartState): string {
  return excerpt(invokes.join(', '), NAME_LENGTH);
}

function chipOf({ source, labels, target, transitions }: Edge, nameOf: (id: string) => string): Chip {
  const targetName = source === target ? 'itself' : nameOf(target);
  return {
    ...CHIP_PLACE,
    width: chipTexts({ labels, targetName }).width,
    labels,
    target,
    targetName,
    transitions,
  };
}

const CHIP_PLACE: Box = { x: 0, y: 0, width: 0, height: CHIP.height };

/** The texts of a chip (first label, number of others, target) and their positions. */
export function chipTexts({ labels, targetName }: Pick<Chip, 'labels' | 'targetName'>) {
  const label = labelText(labels, 16);
  const target = excerpt(targetName, 20);
  const arrowAt = CHIP.pad + (label === '' ? 0 : widthOf(label, FONT.chip) + 3);
  const targetAt = arrowAt + CHIP.arrow + 3;
  return {
    label,
    labelAt: CHIP.pad,
    arrowAt,
    target,
    targetAt,
    width: targetAt + widthOf(target, FONT.chip) + CHIP.pad,
  };
}

/** The first label, and the number of others. */
export function labelText(labels: readonly string[], max: number): string {
  const texts = labels.filter((label) => label !== '');
  const [first = ''] = texts;
  const more = texts.length > 1 ? ` +${texts.length - 1}` : '';
  return `${excerpt(first, max)}${more}`;
}

/**
 * Font sizes at scale 1, in pixels. The layout runs without a page to measure text in: widths are estimated generously for the fonts of
 * `--font`.
 */
export const FONT = { title: 28, name: 18, note: 9.5, chip: 9.5, label: 9 } as const;

const NARROW = /[ijlftr.,:;'|!()[\]\- ]/;
const WIDE = /[mwMW@%→…]/;

/** Estimates the width of a text. A non-Latin character counts as one em. */
export function widthOf(text: string, size: number): number {
  let ems = 0;
  for (const character of text) ems += emsOf(character);
  return Math.ceil(ems * size);
}

function emsOf(character: string): number {
  if (NARROW.test(character)) return 0.37;
  if (WIDE.test(character)) return 0.92;
  if (character >= 'A' && character <= 'Z') return 0.68;
  return character <= '\u024f' ? 0.6 : 1.05;
}
