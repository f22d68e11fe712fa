import './markdown.css';
import MarkdownIt, { type Token } from 'markdown-it';
import { type ComponentChildren, createElement } from 'preact';
import { useMemo } from 'preact/hooks';
import { excerpt, revealHidden } from '../fold/text.ts';

/** HTML stays text, and nothing becomes a link: the text comes from a model. */
const parser = new MarkdownIt('commonmark', { html: false, maxNesting: 20 }).enable(['table', 'strikethrough']);

/** Longer texts are shown as they are. */
const MAX_CHARS = 50_000;

/** Links are not clickable; their target is shown. */
export function Markdown({ text }: { readonly text: string }) {
  const content = useMemo(
    () => (text.length > MAX_CHARS ? <p class="verbatim">{revealHidden(text)}</p> : childrenOf(parser.parse(text, {}))),
    [text],
  );
  return <div class="markdown stack">{content}</div>;
}

/** Returns Markdown as plain text, on one line of at most `chars` characters. */
export function plainMarkdown(text: string, chars: number): string {
  const plain = plainText(parser.parse(text.slice(0, 4 * chars), {})).trim();
  // The parser reads table rows without a header as text, and those after other text on their line.
  const isTable = plain.startsWith('|') || /\|\s*:?-{3}/u.test(plain);
  const cells = isTable ? plain.split(/\s*\|\s*/u).filter((cell) => !/^[-:]*$/u.test(cell)) : [plain];
  return excerpt(cells.join(' – ').replace(' · – ', ' · '), chars);
}

const plainText = (tokens: readonly Token[]): string =>
  tokens
    .map(({ type, children, content, block }) => {
      if (type === 'inline') return plainText(children ?? []);
      return content !== '' ? content : block || type.endsWith('break') ? ' ' : '';
    })
    .join('');

interface Open {
  readonly token: Token | null;
  readonly children: ComponentChildren[];
}

/** Builds the elements of nested tokens: an opening token starts one, and its closing token ends it. */
function childrenOf(tokens: readonly Token[]): readonly ComponentChildren[] {
  const root: Open = { token: null, children: [] };
  const open: Open[] = [root];
  for (const token of tokens) {
    const top = open.at(-1) ?? root;
    if (token.nesting === 1) open.push({ token, children: [] });
    else if (token.nesting === 0) top.children.push(leafOf(token));
    else if (open.length > 1) {
      open.pop();
      (open.at(-1) ?? root).children.push(elementOf(top));
    }
  }
  return root.children;
}

function elementOf({ token, children }: Open): ComponentChildren {
  if (token === null || token.hidden) return children;
  if (token.type === 'link_open') return linkOf(children, String(token.attrGet('href') ?? ''));
  // The page has headings of its own.
  if (token.type === 'heading_open')
    return (
      <p>
        <strong>{children}</strong>
      </p>
    );
  const start = token.type === 'ordered_list_open' ? Number(token.attrGet('start') ?? 1) : undefined;
  return createElement(TAGS.has(token.tag) ? token.tag : 'span', start === undefined ? null : { start }, children);
}

const TAGS = new Set('p ul ol li blockquote strong em s table thead tbody tr th td'.split(' '));

function leafOf(token: Token): ComponentChildren {
  switch (token.type) {
    case 'inline':
      return childrenOf(token.children ?? []);
    case 'code_inline':
      return <code class="verbatim">{revealHidden(token.content)}</code>;
    case 'fence':
    case 'code_block':
      return <pre class="verbatim">{revealHidden(token.content)}</pre>;
    case 'softbreak':
      return ' ';
    case 'hardbreak':
      return <br />;
    case 'hr':
      return <hr />;
    case 'image':
      return linkOf(token.content, String(token.attrGet('src') ?? ''));
    default:
      return revealHidden(token.content);
  }
}

const linkOf = (children: ComponentChildren, target: string): ComponentChildren => (
  <>
    <span class="link">{children}</span> <span class="muted verbatim">({revealHidden(target)})</span>
  </>
);
