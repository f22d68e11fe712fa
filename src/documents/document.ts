/** What a block of a document is; a `list` begins with the lines that lead into it, if there are any. */
export type BlockKind = 'prose' | 'list' | 'code' | 'table';

/**
 * A piece of a document that belongs together.
 *
 * 1. `text` has as many lines as `lines` has numbers, and line i of the text stands in line `lines[i]` of the file.
 * 2. `lines` never falls; lines of the file count from 1. `startLine` is its first number, `endLine` its last.
 *
 * `heading` is the path of headings above the block, outermost first. A hard-wrapped paragraph keeps its lines.
 */
export interface Block {
  readonly text: string;
  readonly heading: readonly string[];
  readonly startLine: number;
  readonly endLine: number;
  readonly kind: BlockKind;
  readonly lines: readonly number[];
}

/** A file that was read: `path` as it is shown to people, with forward slashes. */
export interface Document {
  readonly path: string;
  readonly blocks: readonly Block[];
}
