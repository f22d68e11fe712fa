import { child, elements, mapElements, propertiesOf, value } from './docx-xml.ts';
import { MARKER, numeral } from './numerals.ts';

/** Encloses the number of a paragraph in its text: the package `mammoth` reads which paragraphs have numbers, but not the numbers. */
const MARK = '\uE000';

/** The most styles that a style is based on, directly and indirectly. */
const MAX_STYLES = 10;

/** Returns the XML of a document with the number of each numbered paragraph at the start of its text. */
export function withNumbers(document: string, numbering: string, styles: string): string {
  if (numbering === '') return document;
  const counter = new Counter(numbering, styles);
  return mapElements(document, 'p', (paragraph) => {
    const properties = propertiesOf(paragraph, 'pPr').split('<w:pPrChange')[0] ?? '';
    // A deleted paragraph becomes a part of the next.
    if (properties === '' || /<w:del[ /]/.test(properties)) return paragraph;
    const text = counter.next(properties);
    if (text === '') return paragraph;
    const at = paragraph.indexOf('</w:pPr>') + '</w:pPr>'.length;
    const run = `<w:r><w:t xml:space="preserve">${MARK}${text}${MARK}</w:t></w:r>`;
    return paragraph.slice(0, at) + run + paragraph.slice(at);
  });
}

/** Returns HTML in which the marked numbers are those of list items, or else part of the text. */
export const numberedItems = (html: string): string =>
  html
    .replace(/<li>\uE000([^\uE000]{1,100})\uE000/g, `<li ${MARKER}="$1">`)
    .replace(/\uE000([^\uE000]{1,100})\uE000/g, '$1 ');

const FORMATS: Readonly<Record<string, string>> = {
  decimalZero: '01',
  lowerLetter: 'a',
  upperLetter: 'A',
  lowerRoman: 'i',
  upperRoman: 'I',
};

/** A level of a numbering: its first number, numeral format, and text, such as `%1.%2.` */
interface Level {
  readonly start: number;
  readonly format: string;
  readonly text: string;
  /** The style of its paragraphs. */
  readonly style: string | null;
  /** All numbers are in digits. */
  readonly isLegal: boolean;
  /** It starts again below a higher level. */
  readonly restarts: boolean;
}

type Levels = Map<number, Level>;

/** A list has nine levels; a hostile file could declare more. */
const MAX_LEVELS = 9;

function levelsIn(xml: string): Levels {
  const levels = elements(xml, 'lvl').map((level): [number, Level] => [
    Number(value(level, 'ilvl')),
    {
      start: Number(child(level, 'start') ?? 1),
      format: child(level, 'numFmt') ?? 'decimal',
      text: child(level, 'lvlText') ?? '',
      style: child(level, 'pStyle'),
      isLegal: level.includes('<w:isLgl/>'),
      restarts: child(level, 'lvlRestart') !== '0',
    },
  ]);
  return new Map(levels.filter(([at]) => at < MAX_LEVELS));
}

/** A use of a list, with levels or starts of its own. */
interface Numbering {
  readonly list: string | null;
  readonly levels: Levels;
  readonly starts: Map<number, number>;
}

interface NumberedStyle {
  readonly basedOn: string | null;
  readonly id: string | null;
  readonly level: string | null;
}

class Counter {
  readonly #numberings = new Map<string | null, Numbering>();
  readonly #counts = new Map<string | null, (number | undefined)[]>();
  readonly #styles: ReadonlyMap<string | null, NumberedStyle>;

  constructor(numbering: string, styles: string) {
    const [abstract = '', ...nums] = numbering.split(/(?=<w:num )/);
    const lists = elements(abstract, 'abstractNum');
    const levelsOf = new Map(lists.map((list) => [list, levelsIn(list)]));
    const named = new Map(lists.map((list) => [child(list, 'styleLink'), levelsOf.get(list)]));
    const levels = new Map(
      lists.map((list) => {
        const link = child(list, 'numStyleLink');
        return [value(list, 'abstractNumId'), link === null ? levelsOf.get(list) : named.get(link)];
      }),
    );
    for (const num of nums.flatMap((xml) => elements(xml, 'num'))) {
      const list = child(num, 'abstractNumId');
      const starts = new Map<number, number>();
      for (const override of elements(num, 'lvlOverride')) {
        const start = child(override, 'startOverride');
        if (start !== null) starts.set(Number(value(override, 'ilvl')), Number(start));
      }
      this.#numberings.set(value(num, 'numId'), {
        list,
        levels: new Map([...(levels.get(list) ?? []), ...levelsIn(num)]),
        starts,
      });
    }
    this.#styles = new Map(
      elements(styles, 'style').map((style) => [
        value(style, 'styleId'),
        { basedOn: child(style, 'basedOn'), id: child(style, 'numId'), level: child(style, 'ilvl') },
      ]),
    );
  }

  /** Returns the text of the number of the next paragraph; empty for a bullet or no number. */
  next(properties: string): string {
    const name = child(properties, 'pStyle');
    const style = this.#styleOf(name);
    const numbering = this.#numberings.get(child(properties, 'numId') ?? style?.id ?? null);
    if (numbering === undefined) return '';
    const styled = [...numbering.levels].find(([, level]) => name !== null && level.style === name)?.[0];
    const level = Number(child(properties, 'ilvl') ?? style?.level ?? styled ?? 0);
    return this.#numberAt(numbering, level);
  }

  /** Returns the numbering of a style, which may be that of the style it is based on. */
  #styleOf(name: string | null, depth = 0): NumberedStyle | undefined {
    const style = this.#styles.get(name);
    if (style === undefined || style.id !== null || style.basedOn === null || depth > MAX_STYLES) return style;
    return this.#styleOf(style.basedOn, depth + 1);
  }

  #numberAt({ list, levels, starts }: Numbering, level: number): string {
    const own = levels.get(level);
    if (own === undefined) return '';
    const counts = this.#counts.get(list) ?? [];
    this.#counts.set(list, counts);
    const restart = starts.get(level);
    starts.delete(level);
    counts[level] = restart ?? (counts[level] === undefined ? own.start : counts[level] + 1);
    for (let below = level + 1; below < counts.length; below += 1)
      if (levels.get(below)?.restarts !== false) counts[below] = undefined;
    if (own.format === 'bullet' || own.format === 'none') return '';
    return own.text.replace(/%([1-9])/g, (_, digit: string) => {
      const at = Number(digit) - 1;
      const { start = 1, format = '' } = levels.get(at) ?? {};
      return numeral(counts[at] ?? start, own.isLegal ? '1' : FORMATS[format]);
    });
  }
}
