import { oneLine } from '../../internal/printable.ts';

/** Text as one line of Markdown that reads as it stands: no mark, tag, entity or link begins in it. */
export function escapeMarkdown(text: string): string {
  return oneLine(text)
    .replace(/[\\`*_[\]<&|~$]/g, '\\$&')
    .replace(/^(\d{1,9})([.)])/, '$1\\$2')
    .replace(/^[#>+=-]/, '\\$&');
}

/** Text on one line between as many backticks as it takes to hold it. */
export function codeSpan(line: string): string {
  const fence = '`'.repeat(longestRun(line) + 1);
  // A space on both sides belongs to the marks, not to the code.
  const padding = /^`|`$/.test(line) ? ' ' : '';
  return `${fence}${padding}${line}${padding}${fence}`;
}

/** Text as it stands, in a block that nothing in it can end. */
export function codeBlock(text: string): string {
  const fence = '`'.repeat(Math.max(3, longestRun(text) + 1));
  return `${fence}text\n${text}\n${fence}`;
}

function longestRun(text: string): number {
  return [...text.matchAll(/`+/g)].reduce((longest, [run]) => Math.max(longest, run.length), 0);
}
