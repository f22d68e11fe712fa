import MarkdownIt, { type Token } from 'markdown-it';
import type { Steps } from '../internal/async.ts';
import type { Block } from './document.ts';
import { InlineText } from './inline-text.ts';
import { type Line, linesFrom } from './lines.ts';
import { notePlacer } from './note-placer.ts';
import { BlockBuilder, type Part } from './parts.ts';
import { htmlLines, htmlParts } from './read-html.ts';

/** The parser counts a list and its item as two levels, and drops what is nested more deeply. */
const MAX_NESTING = 50;
const TOKENS_PER_STEP = 1_000;

/**
 * Returns the blocks of Markdown text (CommonMark, and GitHub's tables) with `\n` line endings, in steps of a block or 1,000 tokens. Omits
 * front matter, link definitions, link targets and emphasis. Code spans keep their backticks. Each reference to a footnote is replaced by its
 * text, in brackets. HTML is read as by `readHtml`; quotes nested more than 50 levels deep, and lists more than 25, are read as plain text.
 */
export function* readMarkdown(text: string): Steps<Block[]> {
  const { markdown, notes } = withoutNotes(withoutFrontMatter(text));
  const place = notePlacer(text.length);
  const lines = markdown.split('\n');
  const references = definitionsIn(markdown);
  const builder = new BlockBuilder();
  for (const { tokens, from, to } of topLevelBlocks(markdown, references)) {
    for (const [at, token] of tokens.entries()) {
      if (token.type === 'inline') {
        parseInline(token, references);
        for (const child of token.children ?? []) if (child.type === 'text') child.content = withNotes(child.content);
      }
      if (at % TOKENS_PER_STEP === TOKENS_PER_STEP - 1) yield;
    }
    const source = (): Part => ({ kind: 'prose', lines: linesFrom(lines.slice(from, to).join('\n'), from + 1) });
    builder.add(isTooDeep(tokens) ? [source()] : partsOf(treeOf(tokens)));
    yield;
  }
  builder.add([...notes.values()].flatMap(({ lines, isPlaced }) => (isPlaced ? [] : [{ kind: 'prose', lines }])));
  return builder.finish();

  function withNotes(content: string): string {
    return content.replace(/(?!^\[[^\]]+\]:)\[\^([^\]\s]{1,200})\]/g, (reference, name: string) => {
      const note = notes.get(name);
      if (note === undefined) return reference;
      note.text ??= plainText(note.lines, references);
      const placed = place(note.text);
      note.isPlaced ||= placed !== null;
      return placed ?? reference;
    });
  }
}

/** A footnote, with its name in its first line. */
interface Note {
  readonly lines: Line[];
  text?: string;
  isPlaced: boolean;
}

const NOTE = /^ {0,3}\[\^([^\]\s]{1,200})\]:/;
const BLOCK_START = /^ ?(?:[#>|~`]|[-*+] |\d{1,9}[.)] )/;

/** Returns Markdown with its footnotes replaced by blank lines, so that line numbers stay the same, and the footnotes by name. */
function withoutNotes(text: string): { readonly markdown: string; readonly notes: ReadonlyMap<string, Note> } {
  const notes = new Map<string, Note>();
  if (!text.includes('[^')) return { markdown: text, notes };
  let open: Note | null = null;
  let [fence, isBlank] = ['', false];
  const lines = text.split('\n').map((line, at) => {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1] ?? '';
    if (fence !== '') {
      if (mark.startsWith(fence)) fence = '';
      return line;
    }
    const name = NOTE.exec(line)?.[1];
    if (name !== undefined && !notes.has(name)) {
      open = { lines: [], isPlaced: false };
      notes.set(name, open);
    } else if (name !== undefined || (/^ ?\S/.test(line) && (isBlank || BLOCK_START.test(line)))) open = null;
    isBlank = !/\S/.test(line);
    if (open === null) {
      fence = mark;
      return line;
    }
    open.lines.push({ text: line.trim(), line: at + 1 });
    return '';
  });
  return { markdown: lines.join('\n'), notes };
}

function plainText(lines: readonly Line[], references: References): string {
  const content = lines
    .map(({ text }) => text)
    .join(' ')
    .replace(NOTE, '');
  const tokens: Token[] = [];
  parser.inline.parse(content.slice(0, MAX_INLINE_CHARS), parser, { references }, tokens);
  const shown = tokens.filter(({ type }) => type !== 'html_inline').map(shownText);
  return shown.join('').trim().replace(/\s+/g, ' ');
}

const isTooDeep = (tokens: readonly Token[]): boolean =>
  tokens.some(({ type, level }) => level >= MAX_NESTING - 1 && /^(?:blockquote|list_item)_open$/.test(type));

const parser = markdownParser();
parser.enable('table');
const withoutTables = markdownParser();

/**
 * Returns a parser whose inline tokens have a `map`, too: their line in the paragraph, counted from 0. A footnote of one word, which looks
 * like the definition of a link, stays text.
 */
function markdownParser(): InstanceType<typeof MarkdownIt> {
  const markdown = new MarkdownIt('commonmark', { maxNesting: MAX_NESTING });
  // Link targets are not read, so they need no check.
  markdown.validateLink = () => true;
  markdown.normalizeLink = markdown.normalizeLinkText = (url) => url;
  const paragraph = markdown.block.ruler.getRules('').at(-1);
  markdown.block.ruler.before('reference', 'footnote', (state, from, to, silent) => {
    const isFootnote = state.src.startsWith('[^', (state.bMarks[from] ?? 0) + (state.tShift[from] ?? 0));
    return !silent && isFootnote && paragraph?.(state, from, to, silent) === true;
  });
  markdown.inline.State = class extends markdown.inline.State {
    #line = 0;
    #end = this.src.indexOf('\n');

    override push(...given: Parameters<InstanceType<typeof markdown.inline.State>['push']>): Token {
      return Object.assign(this.#withLine(super.push(...given)), { meta: { at: this.pos } });
    }

    override pushPending(): Token {
      return this.#withLine(super.pushPending());
    }

    #withLine(token: Token): Token {
      for (; this.#end !== -1 && this.#end < this.pos; this.#end = this.src.indexOf('\n', this.#end + 1))
        this.#line += 1;
      token.map = [this.#line, this.#line + 1];
      return token;
    }
  };
  return markdown;
}

type References = Record<string, { title: string; href: string }>;

/** Returns the definitions of links, which may be below the links. */
function definitionsIn(text: string): References {
  const found = text.matchAll(/^[ >]{0,20}\[(?!\^)((?:\\.|[^[\]\\]){1,200})\]:/gm);
  return Object.fromEntries(
    [...found].map(([, label = '']) => [parser.utils.normalizeReference(label), { title: '', href: '' }]),
  );
}

/** More text than this is never parsed as one block, because a token takes about 200 bytes. */
const MAX_BLOCK_CHARS = 500_000;
/** The parser fills up the short rows of a table, so a hostile text could ask for thousands of cells per line. */
const SPARE_TOKENS = 300_000;
const TOKENS_PER_CHAR = 2;

/** A block at the outermost level, with its lines, counted from 0. Its paragraphs are not parsed yet. */
interface TopLevelBlock {
  readonly tokens: readonly Token[];
  readonly from: number;
  readonly to: number;
}

function* topLevelBlocks(text: string, references: References): Generator<TopLevelBlock> {
  const state = new parser.block.State(text, parser, { references }, []);
  const { lineMax, bMarks, eMarks } = state;
  let [limit, spare] = [0, SPARE_TOKENS];
  for (let from = state.skipEmptyLines(0); from < lineMax; from = state.skipEmptyLines(state.line)) {
    const most = (bMarks[from] ?? 0) + MAX_BLOCK_CHARS;
    limit = Math.max(limit, from + 1);
    while (limit < lineMax && (eMarks[limit] ?? 0) < most) limit += 1;
    const tokens: Token[] = [];
    Object.assign(state, { tokens, line: from, lineMax: limit, md: spare > 0 ? parser : withoutTables });
    for (const rule of state.md.block.ruler.getRules('')) if (rule(state, from, limit, false)) break;
    spare -= Math.max(0, tokens.length - TOKENS_PER_CHAR * ((eMarks[state.line - 1] ?? 0) - (bMarks[from] ?? 0)));
    // The parser treats everything below as a part of the block.
    if (isTooDeep(tokens))
      for (state.line = from + 1; state.line < limit && !startsParagraph(state.line); ) state.line += 1;
    state.lineMax = lineMax;
    yield { tokens, from, to: state.line };
  }
  function startsParagraph(line: number): boolean {
    return state.isEmpty(line - 1) && /^[^\s>*+\d-]/.test(text.slice(bMarks[line], eMarks[line]));
  }
}

/** Longer paragraphs are cut, so that markup that looks far ahead takes linear time. */
const MAX_INLINE_CHARS = 10_000;

/** Text without these has no markup. */
const MARKUP = /[\\`*_[<&]/;

function parseInline(token: Token, references: References): void {
  const { content } = token;
  if (!MARKUP.test(content)) return;
  const children: Token[] = [];
  let line = 0;
  for (let from = 0; from < content.length; ) {
    const to = cutEnd(content, from);
    const piece = content.slice(from, to);
    const tokens: Token[] = [];
    parser.inline.parse(piece, parser, { references }, tokens);
    for (const child of tokens) {
      child.map = [line + lineOf(child) - 1, 0];
      if (child.type === 'code_inline') child.content = withLineBreaks(child, piece);
      children.push(child);
    }
    line += breaksIn(piece);
    from = to;
  }
  token.children = children;
}

const breaksIn = (text: string): number => text.split('\n').length - 1;

/** Returns the content of a code span, which the parser puts on one line. */
function withLineBreaks({ content, markup, meta }: Token, text: string): string {
  const from = Number(meta?.['at']) + markup.length;
  const [whole, trimmed] = [0, 1].map((spaces) => text.slice(from + spaces, from + spaces + content.length));
  return (whole?.replaceAll('\n', ' ') === content ? whole : trimmed) ?? '';
}

function cutEnd(text: string, from: number): number {
  const most = from + MAX_INLINE_CHARS;
  if (most >= text.length) return text.length;
  const space = text.lastIndexOf(' ', most);
  if (space > from) return space;
  return /[\uD800-\uDBFF]/.test(text.charAt(most - 1)) ? most - 1 : most;
}

/** A token, and what is between it and the token that closes it. */
interface Node {
  readonly token: Token;
  readonly children: readonly Node[];
}

const NONE: Node[] = [];

function treeOf(tokens: readonly Token[]): Node[] {
  const root: Node[] = [];
  const open: Node[][] = [root];
  for (const token of tokens) {
    if (token.nesting === -1) {
      open.pop();
      continue;
    }
    const children = token.nesting === 1 ? [] : NONE;
    open.at(-1)?.push({ token, children });
    if (token.nesting === 1) open.push(children);
  }
  return root;
}

const lineOf = ({ map }: Token): number => (map?.[0] ?? 0) + 1;

const partsOf = (nodes: readonly Node[]): Part[] => nodes.flatMap(partsOfNode);

function partsOfNode({ token, children }: Node): readonly Part[] {
  const line = lineOf(token);
  switch (token.type) {
    case 'heading_open':
      return [{ kind: 'heading', depth: Number(token.tag.slice(1)), lines: linesOf(children, line) }];
    case 'paragraph_open':
      return [{ kind: 'prose', lines: linesOf(children, line) }];
    case 'html_block':
      return htmlParts(token.content, line - 1);
    case 'code_block':
      return [{ kind: 'code', lines: codeOf(token, line), language: '' }];
    case 'fence': {
      const language = /^\s*([^\s`]*)/.exec(token.info)?.[1] ?? '';
      return [{ kind: 'code', lines: codeOf(token, line + 1), language }];
    }
    case 'table_open': {
      const rows = children.flatMap(({ token: { type }, children: rows }) =>
        rows.map(({ token: row, children: cells }) => ({
          line: lineOf(row),
          section: 0,
          isHeader: type === 'thead_open',
          cells: cells.map((cell) => ({ text: textOf(cell.children, lineOf(row)), columns: 1, rows: 1 })),
        })),
      );
      return [{ kind: 'table', rows }];
    }
    case 'bullet_list_open':
    case 'ordered_list_open': {
      const first = Number(token.attrGet('start') ?? 1);
      const items = children.map((item, at) => ({
        marker: token.tag === 'ol' ? `${first + at}.` : '-',
        line: lineOf(item.token),
        parts: partsOf(item.children),
      }));
      return [{ kind: 'list', items }];
    }
    default:
      return partsOf(children);
  }
}

const codeOf = ({ content }: Token, line: number): readonly Line[] => linesFrom(content.replace(/\n$/, ''), line);

const textOf = (nodes: readonly Node[], line: number): string =>
  linesOf(nodes, line)
    .map(({ text }) => text)
    .join(' ');

/** Returns the lines of the paragraph whose first line is `line`. */
function linesOf([inline]: readonly Node[], line: number): readonly Line[] {
  const { children, content = '' } = inline?.token ?? {};
  const tokens = children ?? [];
  if (tokens.some(({ type }) => type === 'html_inline')) return htmlLines(asHtml(tokens), line - 1);
  const text = new InlineText();
  if (tokens.length === 0) text.add(content, line);
  for (const token of tokens) {
    if (token.type.endsWith('break')) text.space();
    else if (token.type === 'image') text.addApart(shownText(token), line + lineOf(token) - 1);
    else text.add(shownText(token), line + lineOf(token) - 1);
  }
  return text.lines;
}

function shownText({ type, content, children }: Token): string {
  if (type === 'code_inline') return `\`${content}\``;
  if (type.endsWith('break')) return ' ';
  return type === 'image' ? (children ?? []).map(shownText).join('') : content;
}

/** Returns inline tokens as HTML with the same line breaks. */
function asHtml(tokens: readonly Token[]): string {
  let html = '';
  let line = 1;
  for (const token of tokens) {
    for (; line < lineOf(token); line += 1) html += '\n';
    if (token.type === 'html_inline') html += token.content;
    else if (token.type === 'hardbreak') html += '<br>';
    else if (token.type !== 'softbreak') html += shownText(token).replaceAll('&', '&amp;').replaceAll('<', '&lt;');
    line += breaksIn(token.content);
  }
  return html;
}

const YAML_KEY = /^(?:\{\s*$|[^\s#][^\n]{0,80}?:(?:\s|$))/u;
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
