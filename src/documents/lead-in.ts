import type { Block } from './document.ts';

const MAX_LEAD_IN_CHARS = 400;

/** Joins every list to the paragraph right before it, so that "The rules are, in order:" stays with the rules. Linear. */
export function joinLeadIns(blocks: readonly Block[]): Block[] {
  const joined: Block[] = [];
  for (const block of blocks) {
    const before = joined.at(-1);
    if (block.kind === 'list' && before !== undefined && leadsInto(before, block)) {
      joined[joined.length - 1] = {
        ...block,
        text: `${before.text}\n${block.text}`,
        startLine: before.startLine,
        lines: [...before.lines, ...block.lines],
      };
    } else joined.push(block);
  }
  return joined;
}

function leadsInto(before: Block, list: Block): boolean {
  if (before.kind !== 'prose' || before.heading.join('\n') !== list.heading.join('\n')) return false;
  return before.text.length <= MAX_LEAD_IN_CHARS || before.text.endsWith(':');
}
