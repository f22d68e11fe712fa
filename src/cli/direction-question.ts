import type { ChainEvent } from '../../machines/contracts/chain-event.ts';
import { PHASES } from '../../machines/contracts/phase.ts';
import { oneLine } from '../internal/printable.ts';
import { select, type Terminal } from './select.ts';

const WORDS: readonly string[] = [...PHASES, 'finish', 'cancel'];

/** A word as what it tells the run [Y4]: a phase, "finish" or "cancel". What is none of them, the chart refuses. */
export function directionOf(word: string): ChainEvent {
  if (word === 'finish') return { type: 'run.finished' };
  if (word === 'cancel') return { type: 'run.cancelled' };
  return { type: 'run.directed', phase: word };
}

/** The question in one line, for an answer in words. */
export function directionLine(proposal: string): string {
  return `  Go on with (${WORDS.join(', ')}) [${oneLine(proposal)}]: `;
}

/** Asks where to go on; the proposal is marked. Escape finishes. Gives null where nobody waits any more for the answer. */
export async function askDirection(
  proposal: string,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<ChainEvent | null> {
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
