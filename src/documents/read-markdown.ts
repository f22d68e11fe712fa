import MarkdownIt, { type Token } from 'markdown-it';
import type { Steps } from '../internal/async.ts';
import { BlockWriter, HeadingPath } from './block-writer.ts';
import { fenced, indentOf, joinLeadIns, shiftLines, splitTable } from './blocks.ts';
import type { Block } from './document.ts';
import { readHtml } from './read-html.ts';
import { readText } from './read-text.ts';

/**
 * Returns the blocks of Markdown text (CommonMark, and GitHub's tables) with `\n` line endings, in steps of a few thousand characters.
 * Omits front matter, link definitions, link targets and emphasis. Code spans keep their backticks. HTML is read by `readHtml`; lists
 * and quotes nested more than 50 or 100 levels deep are read as plain text.
 */
export function* readMarkdown(text: string): Steps<Block[]> {
  const headings = new HeadingPath();
  const blocks: Block[] = [];
  for (const section of markdownSections(withoutFrontMatter(text))) {
    for (const node of treeOf(parser.parse(section.text, {}))) {
      if (isTooDeep(node)) blocks.push(...(yield* plainBlocks(node, section, headings)));
      else yield* addNode(node, section.linesBefore, headings, blocks);
    }
    yield;
  }
  blocks.push(...headings.close());
  return joinLeadIns(blocks);
}

/** A list has two levels: the list and its item. The parser drops what is deeper. */
const MAX_NESTING = 100;
const parser = markdownParser();

/** Returns a parser whose inline tokens have a `map`, too: the line of the paragraph that they are in, counted from 0. */
function markdownParser(): InstanceType<typeof MarkdownIt> {
  const markdown = new MarkdownIt('commonmark', { maxNesting: MAX_NESTING });
  // Link targets are not read, so they need no check.
  markdown.validateLink = () => true;
  markdown.normalizeLink = (url) => url;
  markdown.inline.State = class extends markdown.inline.State {
    #line = 0;
    #nextBreak = -1;

    override push(...given: Parameters<InstanceType<typeof markdown.inline.State>['push']>): Token {
      return this.#withLine(super.push(...given));
    }

    override pushPending(): Token {
      return this.#withLine(super.pushPending());
    }

    #withLine(token: Token): Token {
      while (this.#nextBreak < this.pos) {
        if (this.#nextBreak >= 0) this.#line += 1;
        const next = this.src.indexOf('\n', this.#nextBreak + 1);
        this.#nextBreak = next === -1 ? Number.POSITIVE_INFINITY : next;
      }
      token.map = [this.#line, this.#line + 1];
      return token;
    }
  };
  return markdown;
}

/** A token, and what is between it and the token that closes it. */
interface Node {
  readonly token: Token;
  readonly children: readonly Node[];
}

function treeOf(tokens: readonly Token[]): Node[] {
  const root: Node[] = [];
  const open: Node[][] = [root];
  for (const token of tokens) {
    if (token.nesting === -1) {
      open.pop();
      continue;
    }
    const children: Node[] = [];
    open.at(-1)?.push({ token, children });
    if (token.nesting === 1) open.push(children);
  }
  return root;
}

function isTooDeep({ token: { type, level }, children }: Node): boolean {
  const isContainer = type === 'list_item_open' || type === 'blockquote_open';
  return (isContainer && level >= MAX_NESTING - 1) || children.some(isTooDeep);
}

function* plainBlocks({ token }: Node, section: MarkdownSection, headings: HeadingPath): Steps<Block[]> {
  const [from, to] = token.map ?? [0, 0];
  const made = yield* readText(section.text.split('\n').slice(from, to).join('\n'));
  headings.use();
  return made.map((block) => shiftLines({ ...block, heading: headings.current }, section.linesBefore + from));
}

/** The line of a token, counted from 1, in a text with `linesBefore` lines above the section. */
const lineOf = (token: Token, linesBefore: number): number => linesBefore + (token.map?.[0] ?? 0) + 1;

function* addNode(node: Node, linesBefore: number, headings: HeadingPath, blocks: Block[]): Steps<void> {
  const { token, children } = node;
  if (token.type === 'heading_open') {
    const title = children.map((child) => plainText(child.token.children)).join('');
    const line = lineOf(token, linesBefore);
    blocks.push(...headings.enter(Number(token.tag.slice(1)), title.replace(/\s+/g, ' ').trim(), line));
    return;
  }
  if (token.type === 'blockquote_open') {
    for (const child of children) yield* addNode(child, linesBefore, headings, blocks);
    return;
  }
  const made = yield* blocksOf(node, linesBefore, headings.current);
  if (made.length > 0) headings.use();
  blocks.push(...made);
}

function* blocksOf({ token, children }: Node, linesBefore: number, heading: readonly string[]): Steps<Block[]> {
  if (token.type === 'html_block') {
    const made = yield* readHtml(token.content.replace(/\n$/, ''));
    const before = lineOf(token, linesBefore) - 1;
    return made.map((block) => shiftLines({ ...block, heading: [...heading, ...block.heading] }, before));
  }
  const writer = new BlockWriter();
  if (token.type === 'paragraph_open') {
    for (const child of children) writeInline(child.token, linesBefore, writer);
    return splitTable(writer.finish(heading, 'prose'));
  }
  if (isList(token)) {
    writeList({ token, children }, linesBefore, writer, 0);
    return [writer.finish(heading, 'list')].filter((block) => block !== null);
  }
  if (token.type === 'fence' || token.type === 'code_block') {
    writer.write(token.content, lineOf(token, linesBefore) + (token.type === 'fence' ? 1 : 0));
    const language = languageOf(token);
    const made = [writer.finish(heading, 'code')].filter((block) => block !== null);
    return language === '' ? made : made.map((block) => ({ ...block, language }));
  }
  return [];
}

/** Returns the first word after a fence: the language of its code. */
const languageOf = ({ info }: Token): string => /^[^\s`]*/.exec(info.trim())?.[0] ?? '';

const isList = ({ type }: Token): boolean => type === 'bullet_list_open' || type === 'ordered_list_open';

/** Replaces YAML or TOML front matter with blank lines, so that line numbers stay the same. */
function withoutFrontMatter(text: string): string {
  const match = /^(---|\+\+\+)[ \t]*\n(?=\s*["'\w-]+\s*[:=])[\s\S]*?\n\1[ \t]*(?=\n|$)/.exec(text);
  return match === null ? text : match[0].replace(/[^\n]/g, '') + text.slice(match[0].length);
}

/** A part of a Markdown text that is parsed separately, and the number of lines above it. */
interface MarkdownSection {
  readonly text: string;
  readonly linesBefore: number;
}

/** A longer section is cut before the next heading, and at any blank line once it is twice as long. */
const SECTION_CHARS = 6_000;
/** A longer paragraph is cut: parsing inline markup can take quadratic time. */
const RUN_CHARS = 8_000;

/** Splits a Markdown text so that parsing takes linear time: before headings, or within extremely long paragraphs. */
function markdownSections(text: string): MarkdownSection[] {
  const sections: MarkdownSection[] = [];
  let [from, linesBefore, line, runFrom, at] = [0, 0, 0, 0, 0];
  let fenced = false;
  const cut = (to: number): void => {
    if (to > from) sections.push({ text: text.slice(from, to), linesBefore });
    [from, linesBefore, runFrom] = [to, line, to];
  };
  while (at < text.length) {
    const end = text.indexOf('\n', at) === -1 ? text.length : text.indexOf('\n', at);
    const head = text.slice(at, Math.min(end, at + 80));
    if (/^ {0,3}(?:```|~~~)/.test(head)) fenced = !fenced;
    if (head.trim() === '') {
      runFrom = end;
      if (!fenced && at - from > 2 * SECTION_CHARS) cut(at);
    } else if (!fenced && at - from > SECTION_CHARS && /^#{1,6} /.test(head)) cut(at);
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

/** Writes the visible text of a paragraph. */
function writeInline(inline: Token, linesBefore: number, writer: BlockWriter): void {
  const before = lineOf(inline, linesBefore);
  for (const token of inline.children ?? []) {
    const line = before + (token.map?.[0] ?? 0);
    if (token.type === 'text') writer.write(token.content, line);
    else if (token.type === 'code_inline') writer.writeWithin(`\`${token.content}\``, line);
    else if (token.type === 'image') writer.writeWithin(plainText(token.children).replace(/\s+/g, ' '), line);
    else if (token.type === 'html_inline' && /^<br\b/i.test(token.content)) writer.writeWithin(' ', line);
  }
}

/** Returns the text of inline tokens without markup, for headings and the alternative texts of images. */
function plainText(tokens: readonly Token[] | null): string {
  return (tokens ?? [])
    .map(({ type, content, children }) => {
      if (type === 'softbreak' || type === 'hardbreak') return '\n';
      return type === 'image' ? plainText(children) : content;
    })
    .join('');
}

/** Writes a list with one line per item, or more if the item is wrapped. Nested lists are indented. */
function writeList({ token, children }: Node, linesBefore: number, writer: BlockWriter, depth: number): void {
  const first = Number(token.attrGet('start') ?? 1);
  for (const [at, item] of children.entries()) {
    const marker = token.type === 'ordered_list_open' ? `${first + at}. ` : '- ';
    const line = lineOf(item.token, linesBefore);
    writer.breakLine(line);
    writer.writeWithin(`${indentOf(depth)}${marker}`, line);
    for (const child of item.children) writeItemPart(child, linesBefore, writer, depth);
  }
}

function writeItemPart(node: Node, linesBefore: number, writer: BlockWriter, depth: number): void {
  const { token, children } = node;
  if (isList(token)) writeList(node, linesBefore, writer, depth + 1);
  else if (token.type === 'fence' || token.type === 'code_block')
    writeCode(fenced(token.content.replace(/\n$/, ''), languageOf(token)), lineOf(token, linesBefore), writer);
  else if (token.type === 'inline') writeInline(token, linesBefore, writer);
  else for (const child of children) writeItemPart(child, linesBefore, writer, depth);
}

/** Writes fenced code within a list: the fences keep its lines from looking like wrapped text. */
function writeCode(code: string, line: number, writer: BlockWriter): void {
  for (const [at, text] of code.split('\n').entries()) {
    writer.breakLine(line + at);
    writer.writeWithin(text, line + at);
  }
}
