import type { Message } from '../../../machines/contracts/message.ts';
import type { Passage } from '../../../machines/contracts/passage.ts';
import { isTableRow, LIST_ITEM } from '../../documents/blocks.ts';

/** A text that may contain an answer. `heading` may be empty. */
export interface Evidence {
  readonly id: string;
  readonly heading: string;
  readonly body: string;
}

const MAX_HEADING_CHARS = 240;
const MAX_BODY_CHARS = 20_000;

/** Returns the search results of a context, in order. */
export function messageEvidence(messages: readonly Message[]): Evidence[] {
  return messages.filter(({ role }) => role === 'search').map(({ id, content }) => ({ id, ...splitHeading(content) }));
}

/** Returns retrieved passages as evidence, in order. */
export function passageEvidence(passages: readonly Passage[]): Evidence[] {
  return passages.map(({ id, heading, text }) => ({
    id,
    heading: heading.join(' > '),
    body: text.slice(0, MAX_BODY_CHARS),
  }));
}

/**
 * Splits a search result into heading path and text. The first line is a heading if it starts with `# `, contains ` > `, or is short, does
 * not end like a sentence, and is not a list item, table row, fence or introduction of a list.
 */
export function splitHeading(content: string): { heading: string; body: string } {
  const end = content.indexOf('\n');
  const first = (end === -1 ? '' : content.slice(0, end)).trim();
  const rest = content.slice(end + 1).slice(0, MAX_BODY_CHARS);
  if (first === '' || rest.trim() === '' || !isHeading(first))
    return { heading: '', body: content.slice(0, MAX_BODY_CHARS) };
  return { heading: first.replace(/^#+\s+/, ''), body: rest };
}

function isHeading(line: string): boolean {
  if (line.length > MAX_HEADING_CHARS) return false;
  if (/^#{1,6}\s/.test(line)) return true;
  if (LIST_ITEM.test(line) || isTableRow(line) || line.startsWith('```')) return false;
  return line.includes(' > ') || (line.length <= 100 && !/[.:;,…。：；]["'”’)]*$/.test(line));
}
