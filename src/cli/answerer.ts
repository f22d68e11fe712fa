import { createInterface, type Interface } from 'node:readline';
import type { ChainEvent } from '../../machines/contracts/chain-event.ts';
import type { ConsentChoice, ConsentRequest } from '../../machines/contracts/consent.ts';
import { askConsent } from './consent-question.ts';
import { askDirection, directionLine, directionOf } from './direction-question.ts';
import type { Terminal } from './select.ts';

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
