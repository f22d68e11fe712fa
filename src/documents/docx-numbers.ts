import { numeral } from './numerals.ts';
import { MARKER } from './read-html.ts';
import { contentOf, type ZipEntry, zipOf } from './zip.ts';

/** Encloses the number of a paragraph in its text: the package `mammoth` reads which paragraphs have numbers, but not the numbers. */
const MARK = '\uE000';

/** A level of a numbering: its first number, its numeral format, and its text, such as `%1.%2.` */
interface Level {
  readonly start: number;
  readonly format: string;
  readonly text: string;
}

/** Returns the DOCX file with the number of each numbered paragraph at the start of its text. Without numbers, null. */
export function withNumbers(entries: readonly ZipEntry[]): Buffer | null {
  const xml = (path: string): string => {
    const entry = entries.find((one) => one.path === path);
    return entry === undefined ? '' : contentOf(entry).toString('utf8');
  };
  const [numbering, document] = [xml('word/numbering.xml'), xml('word/document.xml')];
  if (numbering === '' || document === '') return null;
  const styles = new Map(
    elements(xml('word/styles.xml'), 'style').map((style) => [value(style, 'styleId'), numberOf(style)]),
  );
  const counter = new Counter(numbering);
  const numbered = document.split(/(?=<w:p[ >])/).map((paragraph) => {
    const end = /^<w:p(?: [^<>]*)?>\s*<w:pPr>/.test(paragraph) ? paragraph.indexOf('</w:pPr>') : -1;
    if (end === -1) return paragraph;
    const [properties = ''] = paragraph.slice(0, end).split('<w:pPrChange');
    const style = styles.get(child(properties, 'pStyle'));
    const own = numberOf(properties);
    const text = counter.next(own.id ?? style?.id ?? null, own.level ?? style?.level ?? 0);
    if (text === '') return paragraph;
    const at = end + '</w:pPr>'.length;
    const run = `<w:r><w:t xml:space="preserve">${MARK}${text}${MARK}</w:t></w:r>`;
    return paragraph.slice(0, at) + run + paragraph.slice(at);
  });
  return zipOf(entries, 'word/document.xml', Buffer.from(numbered.join('')));
}

/** Returns HTML in which the marked numbers are those of list items, or else part of the text. */
export const numberedItems = (html: string): string =>
  html
    .replace(/<li>\uE000([^\uE000]{1,100})\uE000/g, `<li ${MARKER}="$1">`)
    .replace(/\uE000([^\uE000]{1,100})\uE000/g, '$1 ');

/** Returns the XML of the elements of a name, each up to the next one. */
const elements = (xml: string, name: string): readonly string[] => xml.split(new RegExp(`<w:${name}(?=[ >])`)).slice(1);
const value = (element: string, name: string): string | null =>
  new RegExp(`^[^<>]*\\bw:${name}="([^"]*)"`).exec(element)?.[1] ?? null;
const child = (xml: string, name: string): string | null =>
  new RegExp(`<w:${name} [^<>]*?w:val="([^"]*)"`).exec(xml)?.[1] ?? null;

function numberOf(xml: string): { readonly id: string | null; readonly level: number | null } {
  const level = child(xml, 'ilvl');
  return { id: child(xml, 'numId'), level: level === null ? null : Number(level) };
}

const FORMATS: Readonly<Record<string, string>> = {
  lowerLetter: 'a',
  upperLetter: 'A',
  lowerRoman: 'i',
  upperRoman: 'I',
};

class Counter {
  readonly #lists = new Map<string | null, Map<number, Level>>();
  readonly #nums = new Map<string | null, { list: string | null; starts: Map<number, number> }>();
  readonly #counts = new Map<string | null, (number | undefined)[]>();

  constructor(numbering: string) {
    for (const list of elements(numbering, 'abstractNum')) {
      const levels = elements(list.split('<w:num ')[0] ?? '', 'lvl').map((level): [number, Level] => {
        const [start, format, text] = ['start', 'numFmt', 'lvlText'].map((name) => child(level, name));
        return [
          Number(value(level, 'ilvl')),
          { start: Number(start ?? 1), format: format ?? 'decimal', text: text ?? '' },
        ];
      });
      this.#lists.set(value(list, 'abstractNumId'), new Map(levels));
    }
    for (const num of elements(numbering, 'num')) {
      const starts = elements(num, 'lvlOverride').flatMap((override): [number, number][] => {
        const start = child(override, 'startOverride');
        return start === null ? [] : [[Number(value(override, 'ilvl')), Number(start)]];
      });
      this.#nums.set(value(num, 'numId'), { list: child(num, 'abstractNumId'), starts: new Map(starts) });
    }
  }

  /** Returns the text of the next number; empty for a bullet or no number. */
  next(id: string | null, level: number): string {
    const num = this.#nums.get(id);
    const levels = this.#lists.get(num?.list ?? null);
    const own = levels?.get(level);
    if (num === undefined || levels === undefined || own === undefined) return '';
    const counts = this.#counts.get(num.list) ?? [];
    this.#counts.set(num.list, counts);
    const restart = num.starts.get(level);
    num.starts.delete(level);
    counts[level] = restart ?? (counts[level] === undefined ? own.start : counts[level] + 1);
    counts.length = level + 1;
    if (own.format === 'bullet' || own.format === 'none') return '';
    return own.text.replace(/%([1-9])/g, (_, digit: string) => {
      const at = Number(digit) - 1;
      return numeral(counts[at] ?? levels.get(at)?.start ?? 1, FORMATS[levels.get(at)?.format ?? '']);
    });
  }
}
