import { excerpt } from '../fold/text.ts';
import type { JoinedTransitions } from './drawing.ts';

/**
 * Font sizes of a picture at scale 1, in pixels. The layout runs without a page to measure text in: widths are estimated generously for
 * the fonts of `--font`.
 */
export const FONT = { name: 13, badge: 12, label: 12 } as const;

/** Text smaller than this on the screen is not drawn, in pixels. */
const MIN_TEXT = 11;

/** At this scale, the smallest text of a picture has the minimum size. */
export const LEGIBLE = MIN_TEXT / FONT.label;

const LABEL_LENGTH = 18;
const JOINED_LENGTH = 26;
export const NAME_LENGTH = 28;
export const BADGE_LENGTH = 22;

const NARROW = /[ijlftr.,:;'|!()[\]\- ]/;
const WIDE = /[mwMW@%→…]/;

/** A non-Latin character counts as one em. */
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

type Label = Pick<JoinedTransitions, 'text' | 'more' | 'labels'>;

interface LabelOptions {
  /** The index of the label to show; null stands for all of them, like the label of a line that was not taken. */
  readonly shown?: number | null;
  readonly count?: string;
}

/** The label of a line, with the number of others or a text on how often the line was taken. */
export function labelText({ text, more, labels }: Label, { shown = null, count = '' }: LabelOptions = {}): string {
  const first = excerpt(text, more > 0 ? LABEL_LENGTH : JOINED_LENGTH);
  const label = more > 0 && shown ? excerpt(labels[shown] ?? '', Math.max(6, first.length)) : first;
  const others = more > 0 && shown === null ? ` +${more}` : '';
  if (count === '') return `${label}${others}`;
  const end = `${others} ${count}`;
  return `${shortened(label, widthOf(`${first} ×9`, FONT.label) + FONT.label / 2, end)}${end}`;
}

/** A name that leaves room for a share, which is wider than a count. */
function shortened(name: string, room: number, end: string): string {
  let [shown, length] = [name, name.length];
  while (!end.startsWith(' ×') && length > 7 && widthOf(`${shown}${end}`, FONT.label) > room) {
    length -= 1;
    shown = excerpt(name, length);
  }
  return shown;
}

/** Splits a label into its name and its number: how often the line was taken, or `+2`, how many other transitions it stands for. */
export function labelParts(label: string, count = '') {
  const number = count === '' ? (/\+\d+$/u.exec(label)?.[0] ?? '') : count;
  const kind = number === '' ? '' : count === '' ? 'more' : 'times';
  return { name: label.slice(0, label.length - number.length), number, kind };
}

/** Room for the label of a line, with a number after it. */
export function labelWidth({ text, more }: Label): number {
  return widthOf(`${excerpt(text, more > 0 ? LABEL_LENGTH : JOINED_LENGTH)} ×9`, FONT.label) + 2;
}
