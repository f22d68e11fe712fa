import { excerpt } from '../fold/text.ts';
import { MAX_NAME } from './normalize-chart.ts';

/** Font sizes of a picture at scale 1. The layout runs without a page to measure text in: widths are generous. */
export const FONT = { name: 13, label: 12 } as const;

/** Lengths in the box of a state: its name, a line of text, and the space beside and below its lines. */
export const BOX = { head: 26, line: 16, side: 12, below: 7 } as const;

/** The longest path, in characters, of an active state inside a folded one. */
export const MAX_PATH = 24;

/** At this scale, the smallest text has 11 px. */
export const LEGIBLE = 11 / FONT.label;

/** The text at the end of a line outside a level, with the state that a line from any state last left: `any state`, `here group2 › step2`. */
export function stubLines(text: string, left?: string): readonly string[] {
  if (left !== undefined && text.startsWith('any')) return ['any state', `here ${excerpt(left, MAX_PATH)}`];
  return excerpt(left ?? text, left === undefined ? MAX_NAME : MAX_PATH).split(/ (?=› [^›]*$)/u);
}

const NARROW = /[ijlftr.,:;'|!()[\]\- ]/;
const WIDE = /[mwMW@%→…×]/;

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

type Size = Readonly<Record<'width' | 'height', number>>;

/** The count that a line of text has room for; a longer one takes from the space beside the text. */
const MOST = ' ×9';

/** What the lines of text in a state need below its name, with counts; nothing without lines. */
export const linesSize = (lines: readonly { readonly text: string }[]): Size => ({
  width: Math.max(0, ...lines.map(({ text }) => widthOf(`${text}${MOST}`, FONT.label))),
  height: lines.length === 0 ? 0 : lines.length * BOX.line + BOX.below,
});

const SHOWN = 2;
/** The characters of a line of a label: of the chain, and of another program. */
const WRAP = { own: 33, other: 15 } as const;
const MAX_WORD = 60;

/** The lines of a label of the chain: up to two transitions, and the number of the others. Wraps between words; never within one. */
export function labelLines(words: readonly string[], count = ''): readonly string[] {
  const distinct = [...new Set(words)];
  const shown = distinct.slice(0, SHOWN).map((word) => excerpt(word, MAX_WORD));
  const more = distinct.length > SHOWN ? ` +${distinct.length - SHOWN}` : '';
  return wrapped(`${shown.join(', ')}${more}${count === '' ? '' : ` ${count}`}`, WRAP.own);
}

/** Wraps a text between words into lines of up to `most` characters. */
export function wrapped(text: string, most: number): readonly string[] {
  const lines: string[] = [];
  // A count stays behind a word, the mark of actions before them, and the unit of a delay behind its number.
  for (const part of text.split(/(?<!\/) (?!×|\w+\))/u)) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + part.length < most) lines[lines.length - 1] = `${last} ${part}`;
    else lines.push(part);
  }
  return lines;
}

const MAX_WAYS = 3;

/** The frames of a label of another program, with their lines: up to three transitions below each other, each with its actions, and the number of the others. */
export function framesOf(ways: readonly string[]): readonly (readonly string[])[] {
  const distinct = [...new Set(ways)];
  const more = distinct.length > MAX_WAYS ? [[`+${distinct.length - MAX_WAYS} more`]] : [];
  return [...distinct.slice(0, MAX_WAYS).map(linesOfWay), ...more];
}

/** Wraps a transition the same with and without the count that it has once it is taken. */
function linesOfWay(way: string): readonly string[] {
  const count = / ×\d+\+?$/u.exec(way)?.[0] ?? '';
  const lines = wrapped(`${excerpt(way.slice(0, way.length - count.length), MAX_WORD)}${MOST}`, WRAP.other);
  return lines.map((line, at) => (at < lines.length - 1 ? line : line.slice(0, -MOST.length) + count));
}

export const LABEL_LINE = 14;
/** The space between a label and the border around it; the chain's labels have no border. */
export const CHIP_PAD = { x: 5, y: 1 } as const;
export const NO_CHIP = { x: 2, y: 0 } as const;

export const frameHeights = (
  frames: readonly (readonly string[])[],
  { y }: { readonly y: number },
): readonly number[] => frames.map((lines) => lines.length * LABEL_LINE + 2 * y);

/** Room for a label in any order of its words, with a count, or with one at each word. */
export function labelSize(all: readonly string[], isEach = false): Size {
  const words = [...new Set(all)].map((word) => (isEach ? `${word}${MOST}` : word));
  const longest = words.sort((one, other) => other.length - one.length);
  const linesOf = (some: readonly string[]) => (isEach ? framesOf(some) : [labelLines(some, MOST.trim())]);
  const pad = isEach ? CHIP_PAD : NO_CHIP;
  const lines = [longest, ...longest.map((word) => [word])].flatMap(linesOf).flat();
  const height = frameHeights(linesOf(longest), pad).reduce((sum, one) => sum + one, 0);
  return { width: Math.max(...lines.map((line) => widthOf(line, FONT.label))) + 2 * pad.x, height };
}
