import { createInterface, type Interface } from 'node:readline';
import wrapAnsi from 'wrap-ansi';
import type { ConsentChoice, ConsentRequest } from '../../machines/contracts/context.ts';
import type { ChainEvent } from '../../machines/contracts/events.ts';

import { PHASES } from '../../machines/contracts/phase.ts';
import { count, grouped, oneLine } from '../internal/printable.ts';
import { type Question, select, type Terminal } from './select.ts';

/** Who answers the chart's questions. What it says is null where nobody waits any more for it. */
export interface Answerer {
  consent(request: ConsentRequest, signal: AbortSignal, waitMs: number): Promise<ChainEvent | null>;
  direction(proposal: string, signal: AbortSignal): Promise<ChainEvent | null>;
  close(): void;
}

/** A person, by prompts. */
export function personAt(terminal: Terminal): Answerer {
  return {
    consent: (request, signal, waitMs) => askConsent(request, terminal, signal, waitMs),
    direction: (proposal, signal) => askDirection(proposal, terminal, signal),
    close: () => {},
  };
}

/** Lines of an input: directions are read from it, and its end means "finish". Nobody is asked for consent: everything is kept. */
export function linesOf({ input, out }: Pick<Terminal, 'input' | 'out'>): Answerer {
  let reader: Interface | null = null;
  let lines: AsyncIterator<string> | null = null;
  return {
    consent: async () => ({ type: 'consent.given', choice: 'keep', by: 'nobody' }),
    async direction(proposal) {
      reader ??= createInterface({ input, terminal: false });
      lines ??= reader[Symbol.asyncIterator]();
      out.write(directionLine(proposal));
      const { value, done } = await lines.next();
      return directionOf(done ? 'finish' : value.trim() || proposal);
    },
    close: () => reader?.close(),
  };
}

/** The same, with the word on consent said beforehand, or kept because nobody is asked. */
export function withConsent(answerer: Answerer, choice: ConsentChoice, by: 'option' | 'nobody'): Answerer {
  return { ...answerer, consent: async () => ({ type: 'consent.given', choice, by }) };
}

type Item = ConsentRequest['items'][number];

const MAX_LISTED = 10;
const INDENT = '      ';

const KEEP: ChainEvent = { type: 'consent.given', choice: 'keep' };

/**
 * Asks what becomes of the user's own long messages: once for all of them [U8], or one by one [U9]. Escape keeps what is not answered
 * yet. Gives null where nobody waits any more for the answer.
 */
async function askConsent(
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

const WORDS: readonly string[] = [...PHASES, 'finish', 'cancel'];

/** A word as what it tells the run [Y4]: a phase, "finish" or "cancel". What is none of them, the chart refuses. */
function directionOf(word: string): ChainEvent {
  if (word === 'finish') return { type: 'run.finished' };
  if (word === 'cancel') return { type: 'run.cancelled' };
  return { type: 'run.directed', phase: word };
}

/** The question in one line, for an answer in words. */
function directionLine(proposal: string): string {
  return `  Go on with (${WORDS.join(', ')}) [${oneLine(proposal)}]: `;
}

/** Asks where to go on; the proposal is marked. Escape finishes. Gives null where nobody waits any more for the answer. */
async function askDirection(proposal: string, terminal: Terminal, signal: AbortSignal): Promise<ChainEvent | null> {
  const known = WORDS.includes(proposal);
  const reply = await select(
    {
      text: known ? 'Where to go on?' : `Where to go on? ("${oneLine(proposal)}", as proposed, is no phase)`,
      choices: WORDS.map((value) => ({ value, label: value, ...(value === proposal && { note: 'proposed' }) })),
      initial: proposal,
      otherwise: 'finish',
    },
    terminal,
    signal,
  );
  if (reply.kind === 'gone') return null;
  return directionOf(reply.kind === 'chosen' ? reply.value : 'finish');
}
