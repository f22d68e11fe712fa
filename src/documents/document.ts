/** The kind of a block. A `list` starts with the lines that introduce it, if there are any. */
export type BlockKind = 'prose' | 'list' | 'code' | 'table';

/**
 * A part of a document: a paragraph, list, table or piece of code. A hard-wrapped paragraph keeps its lines.
 *
 * `lines` has one number per line of `text`: the line of the file, counted from 1, that it comes from. The numbers never decrease;
 * `startLine` is the first and `endLine` the last. `heading` is the path of headings above the block, outermost first.
 */
export interface Block {
  readonly text: string;
  readonly heading: readonly string[];
  readonly startLine: number;
  readonly endLine: number;
  readonly kind: BlockKind;
  readonly lines: readonly number[];
  readonly language?: string;
}

/**
 * A file that was read. `path` is the path shown to people, with forward slashes. `encoding` is the one that its bytes were read in, if it is
 * not UTF-8.
 */
export interface ParsedDocument {
  readonly path: string;
  readonly encoding?: string;
  readonly blocks: readonly Block[];
}
