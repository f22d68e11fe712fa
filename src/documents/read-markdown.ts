import type { Nodes } from 'mdast';
import { type CompileContext, type Extension, fromMarkdown, type Token } from 'mdast-util-from-markdown';
import { gfmTable } from 'micromark-extension-gfm-table';
import type { Steps } from '../internal/async.ts';
import type { Block } from './document.ts';
import { InlineText } from './inline-text.ts';
import { type Line, linesFrom } from './lines.ts';
import { BlockBuilder, type Part } from './parts.ts';
import { htmlLines, htmlParts } from './read-html.ts';
import type { Row } from './table-lines.ts';

/**
 * Returns the blocks of Markdown text (CommonMark, and GitHub's tables) with `\n` line endings, in steps of a few thousand characters.
 * Omits front matter, link definitions, link targets and emphasis. Code spans keep their backticks. HTML is read as by `readHtml`; lists
 * and quotes nested more than 100 levels deep are read as plain text.
 */
export function* readMarkdown(text: string): Steps<Block[]> {
  const builder = new BlockBuilder();
  for (const section of markdownSections(withoutFrontMatter(text))) {
    builder.add(new SectionReader(section).parts(), section.continues);
    yield;
  }
  return builder.finish();
}

/** Creates the nodes of tables. The package `mdast-util-gfm-table` does the same, but also contains a Markdown writer. */
const enter = (type: 'table' | 'tableRow' | 'tableCell') =>
  function (this: CompileContext, token: Token): void {
    this.enter({ type, children: [] }, token);
  };
function exit(this: CompileContext, token: Token): void {
  this.exit(token);
}
const tables: Extension = {
  enter: {
    table: enter('table'),
    tableRow: enter('tableRow'),
    tableHeader: enter('tableCell'),
    tableData: enter('tableCell'),
  },
  exit: { table: exit, tableRow: exit, tableHeader: exit, tableData: exit },
};
const options = { extensions: [gfmTable()], mdastExtensions: [tables] };

const MAX_NESTING = 100;

/** A part of a Markdown text that is parsed separately, and the number of lines above it. */
interface MarkdownSection {
  readonly text: string;
  readonly linesBefore: number;
  /** Whether it begins with a further item of the list at the end of the section before. */
  readonly continues: boolean;
}

class SectionReader {
  readonly #section: MarkdownSection;

  constructor(section: MarkdownSection) {
    this.#section = section;
  }

  parts(): Part[] {
    return this.#partsOf(fromMarkdown(this.#section.text, options).children, 0);
  }

  #lineOf({ position }: Nodes): number {
    return this.#section.linesBefore + (position?.start.line ?? 1);
  }

  #source({ position }: Nodes): string {
    return this.#section.text.slice(position?.start.offset, position?.end.offset);
  }

  #partsOf(nodes: readonly Nodes[], depth: number): Part[] {
    return nodes.flatMap((node) => this.#partsOfNode(node, depth + 1));
  }

  #partsOfNode(node: Nodes, depth: number): Part[] {
    const line = this.#lineOf(node);
    if (depth > MAX_NESTING) return [{ kind: 'prose', lines: linesFrom(this.#source(node), line) }];
    switch (node.type) {
      case 'heading':
        return [{ kind: 'heading', depth: node.depth, lines: this.#linesOf(node.children) }];
      case 'paragraph':
        return [{ kind: 'prose', lines: this.#linesOf(node.children) }];
      case 'html':
        return htmlParts(node.value, line - 1);
      case 'code': {
        const isFenced = /^[`~]/.test(this.#source(node));
        const lines = linesFrom(node.value, isFenced ? line + 1 : line);
        return [{ kind: 'code', lines, language: /^[^\s`]*/.exec(node.lang ?? '')?.[0] ?? '' }];
      }
      case 'table':
        return [{ kind: 'table', rows: node.children.map((row, at) => this.#rowOf(row, at === 0)) }];
      case 'list': {
        const first = node.start ?? 1;
        const items = node.children.map((item, at) => ({
          marker: node.ordered ? `${first + at}.` : '-',
          line: this.#lineOf(item),
          parts: this.#partsOf(item.children, depth + 1),
        }));
        return [{ kind: 'list', items }];
      }
      default:
        return 'children' in node ? this.#partsOf(node.children, depth) : [];
    }
  }

  #rowOf(row: Extract<Nodes, { type: 'tableRow' }>, isHeader: boolean): Row {
    const cells = row.children.map((cell) => {
      const text = this.#linesOf(cell.children).map((one) => one.text);
      return { text: text.join(' '), columns: 1, rows: 1 };
    });
    return { line: this.#lineOf(row), section: 0, isHeader, cells };
  }

  #linesOf(nodes: readonly Nodes[]): readonly Line[] {
    const [first] = nodes;
    if (first === undefined) return [];
    if (hasHtml(nodes)) return htmlLines(nodes.map(asHtml).join(''), this.#lineOf(first) - 1);
    const text = new InlineText();
    this.#addInline(nodes, text);
    return text.lines;
  }

  #addInline(nodes: readonly Nodes[], text: InlineText): void {
    for (const node of nodes) {
      if (node.type === 'break') text.space();
      else if ('children' in node) this.#addInline(node.children, text);
      else text.add(textOf(node), this.#lineOf(node), this.#section.linesBefore + (node.position?.end.line ?? 1));
    }
  }
}

const hasHtml = (nodes: readonly Nodes[]): boolean =>
  nodes.some((node) => node.type === 'html' || ('children' in node && hasHtml(node.children)));

function textOf(node: Nodes): string {
  if (node.type === 'inlineCode') return `\`${node.value}\``;
  if (node.type === 'image' || node.type === 'imageReference') return (node.alt ?? '').replaceAll('\n', ' ');
  return node.type === 'text' ? node.value : '';
}

/** Returns a node as HTML with the same line breaks. */
function asHtml(node: Nodes): string {
  if (node.type === 'html') return node.value;
  if (node.type === 'break') return '<br>\n';
  if ('children' in node) return node.children.map(asHtml).join('');
  return textOf(node).replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

const YAML_KEY = /^[^\s#][^\n]{0,80}?:(?:\s|$)/u;
/** An indented line, an item, or the end of a value in brackets. */
const YAML_REST = /^(?:\s|-\s|[\]}])/u;
const TOML_START = /^(?:\[|[^\s=]+\s*=)/u;

/** Replaces YAML or TOML front matter with blank lines, so that line numbers stay the same. Text between two rules is none. */
function withoutFrontMatter(text: string): string {
  const fence = /^(---|\+\+\+)[ \t]*\n/.exec(text)?.[1];
  if (fence === undefined) return text;
  const lines = text.split('\n');
  const ends = fence === '---' ? ['---', '...'] : [fence];
  const end = lines.findIndex((line, at) => at > 0 && ends.includes(line.trimEnd()));
  const [first = '', ...rest] = lines.slice(1, Math.max(1, end)).filter((line) => !/^\s*(?:#.*)?$/.test(line));
  const isYaml = YAML_KEY.test(first) && rest.every((line) => YAML_KEY.test(line) || YAML_REST.test(line));
  if (fence === '---' ? !isYaml : !TOML_START.test(first)) return text;
  return lines.map((line, at) => (at > end ? line : '')).join('\n');
}

/** A longer section is cut before a heading, a list item or other text that is not indented; one of twice the length at any blank line. */
const SECTION_CHARS = 2_000;
/** A longer paragraph is cut: parsing inline markup can take quadratic time. */
const RUN_CHARS = 4_000;
const ITEM = /^(?:[-*+]|\d{1,9}[.)])[ \t]/;

/** Splits a Markdown text so that parsing takes linear time. */
function markdownSections(text: string): MarkdownSection[] {
  const sections: MarkdownSection[] = [];
  const definitions = definitionsIn(text);
  let [from, linesBefore, line, runFrom, at] = [0, 0, 0, 0, 0];
  let [fenced, afterBlank, inList, continues] = [false, false, false, false];
  const cut = (to: number): void => {
    if (to > from) {
      const own = text.slice(from, to);
      sections.push({ text: fenced ? own : own + definitionsFor(own, definitions), linesBefore, continues });
    }
    [from, linesBefore, runFrom, continues] = [to, line, to, false];
  };
  while (at < text.length) {
    const end = text.indexOf('\n', at) === -1 ? text.length : text.indexOf('\n', at);
    const head = text.slice(at, Math.min(end, at + 80));
    const isItem = ITEM.test(head);
    if (!fenced && at - from > SECTION_CHARS) {
      if (/^#{1,6} /.test(head) || (afterBlank && /^\S/.test(head) && !isItem)) cut(at);
      else if (isItem && inList) {
        cut(at);
        continues = true;
      } else if (head.trim() === '' && at - from > 2 * SECTION_CHARS) cut(at);
    }
    if (/^ {0,3}(?:```|~~~)/.test(head)) fenced = !fenced;
    afterBlank = head.trim() === '';
    if (afterBlank) runFrom = end;
    else if (/^\S/.test(head)) inList = isItem;
    if (!fenced && end - runFrom > RUN_CHARS && at > runFrom) cut(at);
    for (let most = from + RUN_CHARS; !fenced && end - at > RUN_CHARS && most < end; most = from + RUN_CHARS) {
      const space = text.lastIndexOf(' ', most);
      cut(space > from ? space : most);
    }
    line += 1;
    at = end + 1;
  }
  cut(text.length);
  return sections;
}

const labelOf = (label: string): string => label.trim().replace(/\s+/g, ' ').toLowerCase();

/** A link may be in another section than its definition. */
function definitionsIn(text: string): ReadonlySet<string> {
  const found = text.matchAll(/^ {0,3}\[([^[\]\n]{1,200})\]: *<?\S.{0,500}$/gm);
  return new Set([...found].map(([, label = '']) => labelOf(label)));
}

/** Returns definitions for the links of a section, with any target. */
function definitionsFor(section: string, definitions: ReadonlySet<string>): string {
  if (definitions.size === 0) return '';
  const labels = new Set([...section.matchAll(/\[([^[\]\n]{1,200})\]/g)].map(([, label = '']) => labelOf(label)));
  return [...labels].map((label) => (definitions.has(label) ? `\n\n[${label}]: x` : '')).join('');
}
