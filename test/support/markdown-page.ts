import { fromMarkdown } from 'mdast-util-from-markdown';
import { toString as plainText } from 'mdast-util-to-string';

interface Node {
  readonly type: string;
  readonly depth?: number;
  readonly value?: string;
  readonly children?: readonly Node[];
}

/** What a reader of CommonMark makes of a page. */
export interface Page {
  /** The headings of the first and second level. */
  readonly sections: readonly string[];
  /** The items of the list of sources: the code that each begins with, and the text quoted below it. */
  readonly sources: readonly { readonly place: string; readonly quote: string }[];
  /** What stands in the last section. */
  readonly last: string;
  readonly html: readonly string[];
}

export function readPage(markdown: string): Page {
  const nodes = (fromMarkdown(markdown) as Node).children ?? [];
  const at = nodes.findIndex((node) => isSection(node) && plainText(node) === 'Sources');
  const list = nodes.slice(at + 1, at + 2).find(({ type }) => type === 'list');
  return {
    sections: nodes.filter(isSection).map((node) => plainText(node)),
    sources: at === -1 ? [] : (list?.children ?? []).map(sourceOf),
    last: nodes
      .slice(nodes.findLastIndex(isSection) + 1)
      .map((node) => plainText(node))
      .join('\n'),
    html: everyNode(nodes).flatMap(({ type, value }) => (type === 'html' ? [value ?? ''] : [])),
  };
}

const isSection = ({ type, depth = 9 }: Node): boolean => type === 'heading' && depth < 3;

/** Throws for an item that is anything but a piece of code, and at most one quotation of one paragraph. */
function sourceOf({ children = [] }: Node) {
  const [place, quote, ...more] = children;
  const [code, ...beside] = place?.children ?? [];
  const [paragraph, ...others] = quote?.children ?? [];
  const isQuote = quote === undefined || (quote.type === 'blockquote' && paragraph?.type === 'paragraph');
  const isText = (paragraph?.children ?? []).every(({ type }) => type === 'text');
  if (code?.type !== 'inlineCode' || !isQuote || !isText || more.length + beside.length + others.length > 0)
    throw new Error(`no source: ${JSON.stringify(children)}`);
  return { place: code.value ?? '', quote: paragraph === undefined ? '' : plainText(paragraph) };
}

function everyNode(nodes: readonly Node[]): readonly Node[] {
  return nodes.flatMap((node) => [node, ...everyNode(node.children ?? [])]);
}
