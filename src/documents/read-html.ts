import { defaultTreeAdapter, Parser, type DefaultTreeAdapterTypes as Tree } from 'parse5';
import { memoize } from '../../machines/text/memoize.ts';
import type { Steps } from '../internal/async.ts';
import type { Block } from './document.ts';
import { InlineText } from './inline-text.ts';
import { type Line, linesFrom } from './lines.ts';
import { notePlacer } from './note-placer.ts';
import { MARKER, numeral } from './numerals.ts';
import { BlockBuilder, type Cell, type Part, type TableRow } from './parts.ts';
import { readText } from './read-text.ts';

const CHARS_PER_STEP = 16_000;

/**
 * Returns the blocks of HTML text, which may be malformed, in steps of 16,000 characters. Omits what a browser does not show, and
 * navigation. Headings form the heading path, with the page's title as fallback. Each list item and table row is a line. Each
 * reference to a footnote is replaced by its text, in brackets.
 */
export function* readHtml(html: string): Steps<Block[]> {
  const parser = boundedParser(html.length);
  try {
    for (let at = 0; at < html.length; at += CHARS_PER_STEP) {
      parser.tokenizer.write(html.slice(at, at + CHARS_PER_STEP), false);
      yield;
    }
    parser.tokenizer.write('', true);
  } catch (error) {
    if (!(error instanceof TooLarge)) throw error;
    return yield* readText(html.replace(/<[^<>]*>/g, ''));
  }
  const builder = new BlockBuilder();
  const title = descendants(parser.document, 'title').find(({ parentNode }) => parentNode?.nodeName === 'head');
  const { line } = inlineOf(title?.childNodes ?? []);
  if (line !== '') builder.fallback = [line];
  placeNotes(parser.document, html.length);
  yield;
  builder.add(partsOf(parser.document.childNodes, 0));
  return builder.finish();
}

/** Returns the parts of HTML within another text, with `before` lines of it above. */
export function htmlParts(html: string, before: number): Part[] {
  return partsOf(parsed(html), before);
}

export function htmlLines(html: string, before: number): readonly Line[] {
  return inlineOf(parsed(html), before).lines;
}

function parsed(html: string): readonly Tree.ChildNode[] {
  const parser = boundedParser(html.length);
  try {
    parser.tokenizer.write(withoutOpenEnds(html), true);
    return parser.document.childNodes;
  } catch (error) {
    if (!(error instanceof TooLarge)) throw error;
    return parsed(html.replace(/[<>]+/g, ' '));
  }
}

/** In HTML within other text, a tag without an end is meant as text, as in "the <title> element"; it would hide all that follows. */
function withoutOpenEnds(html: string): string {
  const lowerCase = html.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
  const ends = new Map<string, number>();
  return html.replace(HIDING_TAG, (tag: string, name: string, attributes: string | undefined, at: number) => {
    const end = ends.get(name) ?? lowerCase.lastIndexOf(`</${name.toLowerCase()}`);
    ends.set(name, end);
    if (at < end || tag.endsWith('/>')) return tag;
    return attributes === undefined ? `&lt;${name}&gt;` : '';
  });
}

class TooLarge extends Error {}

/** Real pages are not nested this deeply. */
const MAX_DEPTH = 500;
const SPARE_ELEMENTS = 100;

/** Returns a parser that throws for a page that would take more than linear time: the parser corrects nesting by copying elements. */
function boundedParser(chars: number): Parser<Tree.DefaultTreeAdapterMap> {
  let elements = 0;
  const depths = new WeakMap<object, number>();
  const attach = (parent: object, node: object): void => {
    const depth = (depths.get(parent) ?? 0) + 1;
    depths.set(node, depth);
    if (depth > MAX_DEPTH) throw new TooLarge();
  };
  return new Parser<Tree.DefaultTreeAdapterMap>({
    sourceCodeLocationInfo: true,
    treeAdapter: {
      ...defaultTreeAdapter,
      createElement(name, namespace, attributes) {
        elements += 1;
        if (elements > chars / 3 + SPARE_ELEMENTS) throw new TooLarge();
        return defaultTreeAdapter.createElement(name, namespace, attributes);
      },
      appendChild(parent, node) {
        attach(parent, node);
        defaultTreeAdapter.appendChild(parent, node);
      },
      insertBefore(parent, node, reference) {
        attach(parent, node);
        // The reference is near the end.
        parent.childNodes.splice(parent.childNodes.lastIndexOf(reference), 0, node);
        node.parentNode = parent;
      },
      detachNode(node) {
        if (node.parentNode) node.parentNode.childNodes.splice(node.parentNode.childNodes.lastIndexOf(node), 1);
        node.parentNode = null;
      },
      adoptAttributes() {},
    },
  });
}

const UNSEEN = new Set(
  `head title script style template noscript svg nav iframe object select datalist audio video canvas meter progress annotation annotation-xml`.split(
    ' ',
  ),
);
const HIDING_TAG = new RegExp(
  `<(${[...UNSEEN, 'textarea', 'xmp', 'plaintext', 'noembed', 'noframes'].join('|')})(\\s[^<>]*)?>`,
  'gi',
);
const INLINE = new Set(
  `a abbr acronym b bdi bdo big br cite code data del dfn em font i img input ins kbd label mark q s samp small span strike
  strong sub sup time tt u var wbr button ruby rp rt picture source output math semantics mrow mstyle mi mn mo ms
  mtext msup msub msubsup mfrac msqrt mroot`.split(/\s+/),
);
const STRUCK = new Set(['del', 's', 'strike']);
const STRIKE = '~~';

const isElement = (node: Tree.Node): node is Tree.Element => 'tagName' in node;
const isText = (node: Tree.Node): node is Tree.TextNode => node.nodeName === '#text';
const childrenOf = (node: Tree.Node): readonly Tree.ChildNode[] => ('childNodes' in node ? node.childNodes : []);
const attribute = ({ attrs }: Tree.Element, name: string): string | undefined =>
  attrs.find((one) => one.name === name)?.value;
const lineOf = (node: Tree.Node, before: number): number => (node.sourceCodeLocation?.startLine ?? 1) + before;

function descendants(node: Tree.Node, tag: string): Tree.Element[] {
  return childrenOf(node).flatMap((child) =>
    isElement(child) && child.tagName === tag ? [child] : descendants(child, tag),
  );
}

const startOf = (node: Tree.Node): number => node.sourceCodeLocation?.startOffset ?? 0;

/** Returns the target of a superscript link, `<sup><a href="#n">1</a></sup>` or `<a href="#n"><sup>1</sup></a>`; null for other elements. */
function superscriptTarget(element: Tree.Element): string | null {
  const [only, ...others] = element.childNodes.filter((node) => !isText(node) || node.value.trim() !== '');
  if (only === undefined || others.length > 0 || !isElement(only)) return null;
  const [link, raised] = element.tagName === 'a' ? [element, only] : [only, element];
  if (raised.tagName !== 'sup') return null;
  return link.tagName === 'a' ? linkedId(link) : superscriptTarget(link);
}

const linkedId = (link: Tree.Element): string | null => /^#(.+)$/.exec(attribute(link, 'href') ?? '')?.[1] ?? null;

const hide = ({ attrs }: Tree.Element): unknown => attrs.push({ name: 'hidden', value: '' });

/** Replaces each superscript link to a note further down with the text of the note, and hides these notes. */
function placeNotes(document: Tree.Document, chars: number): void {
  const targets = new Map<string, Tree.Element>();
  const references = new Map<Tree.Element, string>();
  const visit = (node: Tree.ChildNode, within?: Tree.Element): void => {
    if (!isElement(node) || isHidden(node)) return;
    const id = within === undefined ? superscriptTarget(node) : null;
    if (id !== null) references.set(node, id);
    const reference = id === null ? within : node;
    const own = attribute(node, 'id') ?? attribute(node, 'name');
    if (own !== undefined && !targets.has(own)) targets.set(own, reference ?? node);
    for (const child of node.childNodes) visit(child, reference);
  };
  for (const node of document.childNodes) visit(node);
  const leadsBack = (link: Tree.Element): boolean => {
    const target = targets.get(linkedId(link) ?? '');
    return target === undefined ? !/[\p{L}\p{N}]/u.test(inlineOf([link]).line) : references.has(target);
  };
  const place = notePlacer(chars);
  const texts = new Map<Tree.Element, string>();
  const placed = new Set<Tree.Element>();
  for (const [reference, id] of references) {
    const note = noteOf(targets.get(id));
    if (note === null || startOf(note) < startOf(reference)) continue;
    const text = texts.get(note) ?? noteText(note, inlineOf(reference.childNodes).line, leadsBack);
    texts.set(note, text);
    const value = place(text);
    if (value === null) continue;
    placed.add(note);
    const { sourceCodeLocation } = reference;
    reference.tagName = 'span';
    reference.childNodes = [
      { nodeName: '#text', value, parentNode: reference, ...(sourceCodeLocation && { sourceCodeLocation }) },
    ];
  }
  for (const note of placed) hide(note);
}

/** Returns the note that a link target is, or is the number of; null if it is neither. */
function noteOf(target: Tree.Element | undefined): Tree.Element | null {
  if (target === undefined) return null;
  const { tagName, parentNode } = target;
  if (/^(?:li|p|div|aside|dd)$/.test(tagName)) return target;
  const isNumber = INLINE.has(tagName) && parentNode !== null && isElement(parentNode);
  return isNumber && /^(?:li|p)$/.test(parentNode.tagName) ? parentNode : null;
}

/** Returns the text of a note without its number and back links. */
function noteText(note: Tree.Element, label: string, leadsBack: (link: Tree.Element) => boolean): string {
  for (const link of descendants(note, 'a')) if (leadsBack(link)) hide(link);
  const { line } = inlineOf(note.childNodes);
  const [number = ''] = /^\S+/.exec(line) ?? [];
  const name = (text: string): string => text.replace(/[^\p{L}\p{N}*†‡§]/gu, '');
  return name(number) === name(label) ? line.slice(number.length).trim() : line;
}

const NO_STYLE: ReadonlyMap<string, string> = new Map();

/** The last declaration of a property counts. */
function styleOf(element: Tree.Element): ReadonlyMap<string, string> {
  const style = attribute(element, 'style');
  if (style === undefined) return NO_STYLE;
  const declarations = style.toLowerCase().split(';');
  return new Map(
    declarations.map((one): [string, string] => {
      const [property = '', value = ''] = one.split(':');
      return [property.trim(), value.replace(/!\s*important/, '').trim()];
    }),
  );
}

const ZERO = /^(?:0+(?:\.0*)?|\.0+)[a-z%]*$/;
const FAR_AWAY = /^-\d{3,}/;
/** Styles that hide an element, or place it off the page. */
const HIDING: readonly (readonly [string, RegExp])[] = [
  ['display', /^none$/],
  ['visibility', /^(?:hidden|collapse)$/],
  ['content-visibility', /^hidden$/],
  ['mso-hide', /^all$/],
  ['opacity', ZERO],
  ['font-size', ZERO],
  ['color', /^transparent$/],
  ['transform', /^scale[xy]?\(0[,)]/],
  ['clip', /^rect\((?:0(?:px)?[,\s]*){4}\)$/],
  ['clip-path', /^(?:inset\((?:50|100)%|circle\(0)/],
  ['text-indent', FAR_AWAY],
  ['left', FAR_AWAY],
  ['top', FAR_AWAY],
];

function isHidden(element: Tree.Element): boolean {
  const { tagName } = element;
  if (UNSEEN.has(tagName) || attribute(element, 'hidden') !== undefined) return true;
  if (
    attribute(element, 'aria-hidden') === 'true' ||
    (tagName === 'dialog' && attribute(element, 'open') === undefined)
  )
    return true;
  const style = styleOf(element);
  if (style.size === 0) return false;
  const isEmpty = ['width', 'height', 'max-width', 'max-height'].some((size) => ZERO.test(style.get(size) ?? 'auto'));
  if (isEmpty && style.get('overflow') === 'hidden') return true;
  return HIDING.some(([property, hides]) => hides.test(style.get(property) ?? 'auto'));
}

function isStruck(element: Tree.Element): boolean {
  if (STRUCK.has(element.tagName)) return true;
  const style = styleOf(element);
  return `${style.get('text-decoration')} ${style.get('text-decoration-line')}`.includes('line-through');
}

const isInline: (node: Tree.Node) => boolean = memoize(
  (node) => !isElement(node) || isHidden(node) || (INLINE.has(node.tagName) && node.childNodes.every(isInline)),
);

function partsOf(nodes: readonly Tree.ChildNode[], before: number, struck = false): Part[] {
  const parts: Part[] = [];
  let run: Tree.ChildNode[] = [];
  const flush = (): void => {
    const { lines } = inlineOf(run, before, struck);
    if (lines.length > 0) parts.push({ kind: 'prose', lines });
    run = [];
  };
  for (const node of nodes) {
    if (isInline(node) || !isElement(node)) run.push(node);
    else {
      flush();
      for (const part of elementParts(node, before, struck || isStruck(node))) parts.push(part);
    }
  }
  flush();
  return parts;
}

function elementParts(element: Tree.Element, before: number, struck: boolean): Part[] {
  const { tagName, childNodes } = element;
  if (/^h[1-6]$/.test(tagName))
    return [{ kind: 'heading', depth: Number(tagName[1]), lines: inlineOf(childNodes, before, struck).lines }];
  if (tagName === 'ul' || tagName === 'ol' || tagName === 'menu') return [listOf(element, before, struck)];
  if (tagName === 'table' && !isLayout(element)) return tableParts(element, before, struck);
  if (tagName === 'pre') {
    const text = preformatted(childNodes);
    // The parser drops a line break after the tag.
    const [first] = childNodes;
    const line = first === undefined ? lineOf(element, before) : lineOf(first, before);
    return [{ kind: 'code', language: '', lines: linesFrom(text, line) }];
  }
  return partsOf(childNodes, before, struck);
}

function preformatted(nodes: readonly Tree.ChildNode[]): string {
  return nodes
    .map((node) => {
      if (isText(node)) return node.value;
      if (!isElement(node) || isHidden(node)) return '';
      return node.tagName === 'br' ? '\n' : preformatted(node.childNodes);
    })
    .join('');
}

const LIST_TYPES: Readonly<Record<string, string>> = {
  'lower-alpha': 'a',
  'lower-latin': 'a',
  'upper-alpha': 'A',
  'upper-latin': 'A',
  'lower-roman': 'i',
  'upper-roman': 'I',
  'decimal-leading-zero': '01',
  decimal: '1',
};

/** Returns the type of a list or item as in HTML's attribute `type`; empty for bullets. */
function listType(element: Tree.Element): string | undefined {
  const style = styleOf(element);
  const words = `${style.get('list-style-type') ?? style.get('list-style') ?? ''}`.split(/\s+/);
  const named = words.map((word) => LIST_TYPES[word]).find((type) => type !== undefined);
  if (named !== undefined) return named;
  return words.some((word) => /^(?:none|disc|circle|square)$/.test(word)) ? '' : attribute(element, 'type');
}

function listOf(list: Tree.Element, before: number, struck: boolean): Part {
  const isItem = (node: Tree.ChildNode): node is Tree.Element =>
    isElement(node) && node.tagName === 'li' && !isHidden(node);
  const step = attribute(list, 'reversed') === undefined ? 1 : -1;
  const first = step === 1 ? 1 : list.childNodes.filter(isItem).length;
  let number = integer(attribute(list, 'start')) ?? first;
  const type = listType(list) ?? (list.tagName === 'ol' ? '1' : '');
  const items = list.childNodes.flatMap((node) => {
    if (!isElement(node) || isHidden(node)) return [];
    // A list that is a child of a list belongs to the item before it.
    if (!isItem(node)) return [{ marker: '', line: lineOf(node, before), parts: partsOf([node], before, struck) }];
    number = integer(attribute(node, 'value')) ?? number;
    const own = listType(node) ?? type;
    const marker = own === '' || /^(?:disc|circle|square)$/.test(own) ? '-' : `${numeral(number, own)}.`;
    const given = attribute(node, MARKER);
    number += step;
    return [
      {
        marker: given ?? marker,
        line: lineOf(node, before),
        parts: partsOf(node.childNodes, before, struck || isStruck(node)),
      },
    ];
  });
  return { kind: 'list', items };
}

function integer(value: string | undefined): number | null {
  const digits = /^\s*([+-]?\d{1,9})/.exec(value ?? '')?.[1];
  return digits === undefined ? null : Number(digits);
}

/** A table that only places other content is read as that content: it contains tables, and has no header of its own. */
const isLayout = (table: Tree.Element): boolean =>
  /^(?:presentation|none)$/.test(attribute(table, 'role') ?? '') ||
  (descendants(table, 'table').length > 0 && !rowsOf(table).some(({ row }) => childrenOf(row).some(isHeaderCell)));

const isHeaderCell = (node: Tree.Node): boolean =>
  isElement(node) &&
  (node.tagName === 'th' || attribute(node, 'scope') === 'col' || attribute(node, 'role') === 'columnheader');

/** Returns the visible rows with their group, in the order that a browser shows them. */
function rowsOf(table: Tree.Element) {
  const shownIn = (node: Tree.Element): Tree.Element[] =>
    node.childNodes.filter((child) => isElement(child)).filter((child) => !isHidden(child));
  const place = ({ tagName }: Tree.Element): number => (tagName === 'thead' ? 0 : tagName === 'tfoot' ? 2 : 1);
  return shownIn(table)
    .sort((one, other) => place(one) - place(other))
    .flatMap((group, section) => {
      const rows = shownIn(group).filter((row) => row.tagName === 'tr');
      return rows.map((row) => ({ row, cells: shownIn(row), section, inHead: group.tagName === 'thead' }));
    });
}

function tableParts(table: Tree.Element, before: number, struck: boolean): Part[] {
  const captions = table.childNodes.filter((node) => isElement(node) && node.tagName === 'caption' && !isHidden(node));
  const given = rowsOf(table).filter(({ cells }) => cells.length > 0);
  // A row above the header that consists of one wide cell is a title.
  const [first, second] = given;
  const hasTitle =
    first?.cells.length === 1 && (second?.cells.length ?? 0) > 1 && second?.cells.every(isHeaderCell) === true;
  const titles = hasTitle ? [...captions, ...first.cells] : captions;
  let isHeader = true;
  const rows = given.slice(hasTitle ? 1 : 0).map(({ row, cells, section, inHead }, at): TableRow => {
    isHeader &&= inHead || ((at === 0 || cells.length > 1) && isHeaderRow(row, cells, at === 0));
    return { line: lineOf(row, before), section, isHeader, cells: cells.map((cell) => cellOf(cell, before, struck)) };
  });
  return [...titles.flatMap((title) => partsOf(childrenOf(title), before, struck)), { kind: 'table', rows }];
}

/** A row of header cells. In the first row, others may be among them if they have no number, or all text is bold. */
function isHeaderRow(row: Tree.Element, cells: readonly Tree.Element[], isFirst: boolean): boolean {
  const filled = cells
    .map((cell) => ({ cell, text: inlineOf(cell.childNodes).line }))
    .filter(({ text }) => text !== '');
  const others = filled.filter(({ cell }) => !isHeaderCell(cell));
  if (filled.length === 0 || others.length === 0 || !isFirst) return filled.length > 0 && others.length === 0;
  return isBold(row) || (others.length * 2 < filled.length && !others.some(({ text }) => /\d/.test(text)));
}

/** Whether all text in an element is bold, or is the text of a header cell. */
function isBold(element: Tree.Element): boolean {
  const weight = styleOf(element).get('font-weight') ?? '';
  if (/^(?:b|strong|th)$/.test(element.tagName) || /^(?:bold|[6-9]00)/.test(weight)) return true;
  return element.childNodes.every((child) =>
    isElement(child) ? isBold(child) : !isText(child) || child.value.trim() === '',
  );
}

function cellOf(cell: Tree.Element, before: number, struck: boolean): Cell {
  const span = (name: string): number => Math.max(1, integer(attribute(cell, name)) ?? 1);
  return {
    text: inlineOf(cell.childNodes, before, struck || isStruck(cell)).line,
    columns: span('colspan'),
    rows: attribute(cell, 'rowspan')?.trim() === '0' ? Number.POSITIVE_INFINITY : span('rowspan'),
  };
}

function inlineOf(nodes: readonly Tree.ChildNode[], before = 0, struck = false): InlineText {
  const text = new InlineText();
  if (struck) text.open(STRIKE);
  addNodes(nodes, before, text, struck);
  if (struck) text.close(STRIKE);
  return text;
}

function addNodes(nodes: readonly Tree.ChildNode[], before: number, text: InlineText, struck: boolean): void {
  for (const [at, node] of nodes.entries()) {
    if (isText(node)) text.add(node.value, lineOf(node, before), (node.sourceCodeLocation?.endLine ?? 1) + before);
    if (!isElement(node) || isHidden(node)) continue;
    const next = nodes[at + 1];
    addInline(node, next !== undefined && isText(next) ? next.value : '', before, text, struck);
  }
}

function addInline(node: Tree.Element, next: string, before: number, text: InlineText, struck: boolean): void {
  const { tagName, childNodes } = node;
  const line = lineOf(node, before);
  if (tagName === 'br') text.break();
  else if (tagName === 'img') text.addApart((attribute(node, 'alt') ?? '').replaceAll('\n', ' '), line);
  else if (tagName === 'sup' || tagName === 'sub') {
    const own = inlineOf(childNodes, before).line;
    text.add(tagName === 'sup' ? raised(own, text.end, next) : lowered(own, text.end), line);
    if (/\d$/.test(own) && /^\d/.test(next)) text.space();
  } else if (tagName === 'msup' || tagName === 'mfrac') {
    const [first, second] = childNodes
      .filter((child) => isElement(child))
      .map((child) => inlineOf([child], before).line);
    text.add(`${first ?? ''}${tagName === 'msup' ? raised(second ?? '') : `/${second ?? ''}`}`, line);
  } else {
    const isBlock = !INLINE.has(tagName);
    const strikes = !struck && isStruck(node);
    if (isBlock) text.space();
    if (strikes) text.open(STRIKE);
    addNodes(childNodes, before, text, struck || strikes);
    if (strikes) text.close(STRIKE);
    if (isBlock) text.space();
  }
}

/** Returns a superscript apart from the text before it: "10^2", "x^(n+1)", "1 1/2"; but "1st", "note[3]" and "20°". */
function raised(text: string, before = '', next = ''): string {
  const isOrdinal = /^(?:st|nd|rd|th|e|er|re|ère|ème|o|a)$/i.test(text) && /\d$/.test(before);
  if (isOrdinal || /^[[(]/.test(text) || !/[\p{L}\p{N}]/u.test(text)) return text;
  if (/^\d+$/.test(text) && /^[/⁄]/.test(next)) return /\d$/.test(before) ? ` ${text}` : text;
  return /^[-−+]?[\p{L}\p{N}.,]+$/u.test(text) ? `^${text}` : `^(${text})`;
}

/** Returns a subscript apart from a number before it: "10_2"; but "H2O". */
const lowered = (text: string, before: string): string => (/\d$/.test(before) && /^\d/.test(text) ? `_${text}` : text);
