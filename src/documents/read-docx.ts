import { inTurns } from '../internal/async.ts';
import type { Block } from './document.ts';
import { MARKER, numeral } from './numerals.ts';
import { docxHtml } from './office-files.ts';
import { readHtml } from './read-html.ts';
import { contentOf, unpackProblem, type ZipEntry, zipEntries, zipOf } from './zip.ts';

/** Returns a DOCX file's text by way of HTML, which keeps headings, lists and tables; null if it cannot be parsed, or why it must not be. */
export async function readDocx(bytes: Uint8Array, what: string): Promise<readonly Block[] | string | null> {
  let file: Uint8Array;
  try {
    const entries = [...zipEntries(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))];
    const problem = unpackProblem(entries);
    if (problem !== null) return problem;
    file = readableDocx(entries) ?? bytes;
  } catch {
    return null;
  }
  const html = await docxHtml(file, what);
  if (!Array.isArray(html)) return html as string | null;
  // Each block on its own line, because the file has no lines.
  const lines = numberedItems(html.join('')).replace(/(<\/(?:p|h[1-6]|li|tr|table|ul|ol)>)/gu, '$1\n');
  return inTurns(readHtml(lines));
}

const DOCUMENT = 'word/document.xml';

/**
 * Returns the DOCX file in a form that the package `mammoth` reads as Word shows it: with the numbers of paragraphs, without hidden text,
 * with double strikes as single ones, and with cells in the place of those that a row leaves out. Null if nothing is changed.
 */
function readableDocx(entries: readonly ZipEntry[]): Buffer | null {
  const xml = (path: string): string => {
    const entry = entries.find((one) => one.path === path);
    return entry === undefined ? '' : contentOf(entry).toString('utf8');
  };
  const [document, numbering, styles] = [xml(DOCUMENT), xml('word/numbering.xml'), xml('word/styles.xml')];
  const plain = withPlainMarkup(document.replaceAll('<w:dstrike', '<w:strike'));
  const visible = withFirstCells(withoutHiddenText(plain, styles));
  const numbered = withTitles(withNumbers(visible, numbering, styles), styles);
  const margins = entries
    .filter(({ path }) => /^word\/(?:header|footer)\d*\.xml$/.test(path))
    .map(({ path }) => xml(path));
  const readable = withMargins(numbered, margins);
  return readable === document ? null : zipOf(entries, DOCUMENT, Buffer.from(readable));
}

/** Elements whose content the package `mammoth` leaves out: fields, directions, and annotated text. */
const TRANSPARENT =
  /<\/?w:(?:fldSimple|dir|bdo|ruby|rubyBase|rubyPr)(?: [^<>]*)?>|<m:oMathPara(?: [^<>]*)?>|<\/m:oMathPara>/g;

const textRun = (text: string): string => `<w:r><w:t xml:space="preserve">${text}</w:t></w:r>`;

/** Returns the XML of a document with the content of such elements in their place, and equations as text: "a=(b)/(2)". */
function withPlainMarkup(document: string): string {
  const readings = mapSpans(document, /<w:rt(?: [^<>]*)?(?<!\/)>/g, '</w:rt>', () => '');
  const plain = readings.replace(TRANSPARENT, '');
  return mapSpans(plain, /<m:oMath(?: [^<>]*)?(?<!\/)>/g, '</m:oMath>', (math) => textRun(linearMath(math)));
}

/** Changes what is between an opening tag and the next closing one, with both. Linear. */
function mapSpans(
  text: string,
  opening: RegExp,
  closing: string,
  change: (inner: string, tag: string) => string,
): string {
  let [done, changed] = [0, ''];
  for (const { 0: tag, index } of text.matchAll(opening)) {
    if (index < done) continue;
    const end = text.indexOf(closing, index);
    if (end === -1) break;
    changed += text.slice(done, index) + change(text.slice(index + tag.length, end), tag);
    done = end + closing.length;
  }
  return changed + text.slice(done);
}

/** What the parts of an equation begin and end with. */
const MATH: Readonly<Record<string, readonly [before: string, after: string]>> = {
  num: ['(', ')/'],
  den: ['(', ')'],
  sup: ['^(', ')'],
  sub: ['_(', ')'],
  rad: ['√(', ')'],
  d: ['(', ')'],
};

const linearMath = (math: string): string =>
  math
    .replace(/<m:chr m:val="([^"]*)" ?\/>/g, '$1')
    .replace(/<(\/?)m:(\w+)(?: [^<>]*)?(\/?)>/g, (_, end: string, name: string, empty: string) =>
      empty === '' ? (MATH[name]?.[end === '' ? 0 : 1] ?? '') : '',
    )
    .replace(/<[^<>]*>/g, '')
    .replace(
      /([\^_√/])?\(([\p{L}\p{N}]+)\)(?=(\/)?)/gu,
      (whole, sign: string | undefined, inner: string, over: string | undefined) =>
        sign === undefined && over === undefined ? whole : `${sign ?? ''}${inner}`,
    );

/** Returns the document with each paragraph that is a title or has an outline level, itself or by its style, as a heading. */
function withTitles(document: string, styles: string): string {
  const levels = new Map<string | null, number>();
  for (const style of elements(styles, 'style')) {
    const name = child(style, 'name')?.toLowerCase() ?? '';
    const level = name === 'title' ? '0' : child(style, 'outlineLvl');
    if (level !== null && !name.startsWith('heading')) levels.set(value(style, 'styleId'), Number(level));
  }
  return mapElements(document, 'p', (paragraph) => {
    const properties = propertiesOf(paragraph, 'pPr').split('<w:pPrChange')[0] ?? '';
    const own = child(properties, 'outlineLvl');
    const level = own === null ? levels.get(child(properties, 'pStyle')) : Number(own);
    if (level === undefined || level > 5) return paragraph;
    return paragraph
      .replace(/<w:pStyle [^<>]*\/>/, '')
      .replace('<w:pPr>', `<w:pPr><w:pStyle w:val="Heading${level + 1}"/>`);
  });
}

/** Returns the document with the distinct texts of its headers and footers before the first paragraph. */
function withMargins(document: string, margins: readonly string[]): string {
  const texts = margins.flatMap((margin) =>
    elements(withPlainMarkup(margin), 'p').map((paragraph) =>
      Array.from(
        paragraph.matchAll(/<w:t(?: [^<>]*)?>([^<]*)<\/w:t>|<w:(?:tab|br)\b/g),
        ([, text]) => text ?? ' ',
      ).join(''),
    ),
  );
  const shown = [...new Set(texts)].filter((text) => /\p{L}/u.test(text));
  const paragraphs = shown.map((text) => `<w:p>${textRun(text)}</w:p>`).join('');
  return document.replace(/<w:body(?: [^<>]*)?>/, (body) => body + paragraphs);
}

const isHidden = (properties: string): boolean =>
  /<w:vanish(?: w:val="(?:1|true|on)")? ?\/>/.test(properties.split('<w:rPrChange')[0] ?? '');

function withoutHiddenText(document: string, styles: string): string {
  const hidden = new Set(
    elements(styles, 'style')
      .filter(isHidden)
      .map((style) => value(style, 'styleId')),
  );
  if (hidden.size === 0 && !document.includes('<w:vanish')) return document;
  return mapElements(document, 'p', (paragraph) => {
    const isAllHidden = hidden.has(child(propertiesOf(paragraph, 'pPr'), 'pStyle'));
    return mapElements(paragraph, 'r', (run) => {
      const properties = propertiesOf(run, 'rPr');
      const isGone = isAllHidden || isHidden(properties) || hidden.has(child(properties, 'rStyle'));
      return isGone ? run.replace(/<w:t(?: [^<>]*)?>[^<]*<\/w:t>/g, '') : run;
    });
  });
}

/** A row may begin in a later column. */
const withFirstCells = (document: string): string =>
  mapElements(document, 'tr', (row) => {
    const properties = propertiesOf(row, 'trPr');
    const columns = child(properties, 'gridBefore');
    if (columns === null) return row;
    const at = properties.length + '</w:trPr>'.length;
    const cell = `<w:tc><w:tcPr><w:gridSpan w:val="${Number(columns)}"/></w:tcPr><w:p/></w:tc>`;
    return row.slice(0, at) + cell + row.slice(at);
  });

/** Encloses the number of a paragraph in its text: the package `mammoth` reads which paragraphs have numbers, but not the numbers. */
const MARK = '\uE000';

/** The most styles that a style is based on, directly and indirectly. */
const MAX_STYLES = 10;

function withNumbers(document: string, numbering: string, styles: string): string {
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
const numberedItems = (html: string): string =>
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

/** Returns the XML of the elements of a name, each up to the next one. */
const elements = (xml: string, name: string): readonly string[] => xml.split(new RegExp(`<w:${name}(?=[ >])`)).slice(1);

/** Changes the text before the first element of a name, and each such element together with the text up to the next one. */
const mapElements = (xml: string, name: string, change: (element: string) => string): string =>
  xml
    .split(new RegExp(`(?=<w:${name}[ >])`))
    .map(change)
    .join('');

/** Returns the value of an attribute of an element without its `<w:name`. */
const value = (element: string, name: string): string | null =>
  new RegExp(`^[^<>]*\\bw:${name}="([^"]*)"`).exec(element)?.[1] ?? null;

/** Returns the value of the first element of a name. */
const child = (xml: string, name: string): string | null =>
  new RegExp(`<w:${name} [^<>]*?w:val="([^"]*)"`).exec(xml)?.[1] ?? null;

/** Returns the properties at the start of a paragraph, run or row, without their end; empty if there are none. */
function propertiesOf(xml: string, name: string): string {
  const isFirst = new RegExp(`^<w:[a-zA-Z]+(?: [^<>]*)?>\\s*<w:${name}>`).test(xml);
  return isFirst ? xml.slice(0, Math.max(0, xml.indexOf(`</w:${name}>`))) : '';
}
