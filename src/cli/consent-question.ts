import wrapAnsi from 'wrap-ansi';
import type { ChainEvent } from '../../machines/contracts/chain-event.ts';
import type { ConsentChoice, ConsentRequest } from '../../machines/contracts/consent.ts';
import { count, grouped, oneLine } from '../internal/printable.ts';
import { type Question, select, type Terminal } from './select.ts';

type Item = ConsentRequest['items'][number];

const MAX_LISTED = 10;
const INDENT = '      ';

const KEEP: ChainEvent = { type: 'consent.given', choice: 'keep' };

/**
 * Asks what becomes of the user's own long messages: once for all of them [U8], or one by one [U9]. Escape keeps what is not answered
 * yet. Gives null where nobody waits any more for the answer.
 */
export async function askConsent(
  { items }: ConsentRequest,
  terminal: Terminal,
  signal: AbortSignal,
  waitMs: number,
): Promise<ChainEvent | null> {
  const [only, ...others] = items;
  if (only === undefined) return KEEP;
  const wait = `(no answer within ${Math.round(waitMs / 1000)} s keeps ${others.length === 0 ? 'it' : 'them'})`;
  if (others.length === 0) {
    terminal.screen.line(`  A message of yours is long ${wait}:`);
    return askEach(items, terminal, signal);
  }
  terminal.screen.line(`  ${count(items.length, 'message')} of yours are long ${wait}:`);
  for (const item of items.slice(0, MAX_LISTED)) terminal.screen.line(`    ${titleOf(item)}`);
  if (items.length > MAX_LISTED) terminal.screen.line(`    … and ${items.length - MAX_LISTED} more`);
  const reply = await select(FOR_ALL, terminal, signal);
  if (reply.kind !== 'chosen') return reply.kind === 'left' ? KEEP : null;
  return reply.value === 'each' ? askEach(items, terminal, signal) : { type: 'consent.given', choice: reply.value };
}

const FOR_ALL: Question<ConsentChoice | 'each'> = {
  text: 'What becomes of them?',
  choices: [
    { value: 'keep', label: 'keep all' },
    { value: 'summarise', label: 'summarise all' },
    { value: 'remove', label: 'remove all' },
    { value: 'each', label: 'one by one' },
  ],
  initial: 'keep',
  otherwise: 'keep all',
};

async function askEach(items: readonly Item[], terminal: Terminal, signal: AbortSignal): Promise<ChainEvent | null> {
  const said: [string, ConsentChoice][] = [];
  for (const [index, item] of items.entries()) {
    const place = items.length === 1 ? '' : `${index + 1} of ${items.length}: `;
    terminal.screen.line(`    ${place}${titleOf(item)}`);
    if (item.summary !== '') terminal.screen.line(summaryText(item, terminal.out.columns || 80));
    const reply = await select(forOne(item, index < items.length - 1), terminal, signal);
    if (reply.kind === 'gone') return null;
    if (reply.kind === 'left') break;
    said.push([item.messageId, reply.value]);
  }
  return { type: 'consent.given', choice: 'keep', items: Object.fromEntries(said) };
}

/** What is recommended is what the operation that asks would do; a summary is offered where there is one. */
function forOne({ summary }: Item, more: boolean): Question<ConsentChoice> {
  const recommended = summary === '' ? 'remove' : 'summarise';
  const offered: ConsentChoice[] = summary === '' ? ['keep', 'remove'] : ['keep', 'summarise', 'remove'];
  return {
    text: 'What becomes of it?',
    choices: offered.map((value) => ({ value, label: value, ...(value === recommended && { note: 'recommended' }) })),
    initial: 'keep',
    otherwise: more ? 'keep it and the rest' : 'keep',
  };
}

function summaryText({ summary }: Item, columns: number): string {
  const text = `its summary: "${oneLine(summary)}" (${grouped(summary.length)} characters)`;
  return wrapAnsi(text, Math.max(20, columns - INDENT.length - 1), { hard: true }).replace(/^/gm, INDENT);
}

function titleOf({ preview, chars }: Item): string {
  return `"${oneLine(preview)}" (${grouped(chars)} characters)`;
}
