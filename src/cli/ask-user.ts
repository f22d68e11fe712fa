import type { ChainEvent } from '../../machines/contracts/chain-event.ts';
import { EXTERNAL_EVENTS, type JournalEntry } from '../../machines/contracts/journal-entry.ts';
import type { RunEvent } from '../engine/runtime/event-stream.ts';
import type { Run } from '../engine/runtime/run.ts';
import { printable } from '../internal/printable.ts';
import type { Answerer } from './answerer.ts';
import type { Screen } from './screen.ts';

type Ask = (signal: AbortSignal) => Promise<ChainEvent | null>;

const QUESTIONS: ReadonlySet<JournalEntry['type']> = new Set(['consent-asked', 'direction-asked', 'direction-refused']);

const isStimulus = ({ type }: JournalEntry): boolean => EXTERNAL_EVENTS.has(type);

/** Puts the chart's questions to who answers them: where to go on (manual mode), and consent. A question ends with the run's wait. */
export function createAsker({ send, journal }: Pick<Run, 'send' | 'journal'>, answerer: Answerer, screen: Screen) {
  let waiting = new AbortController();
  let consentMs = 0;
  let proposal = 'finish';

  /** A prompt that breaks is one that nobody can answer. */
  async function put(ask: Ask, unanswered: ChainEvent): Promise<void> {
    const { signal } = waiting;
    const event = await ask(signal).catch(() => unanswered);
    if (event !== null && !signal.aborted) send(event);
  }
  const askDirection = (): Promise<void> =>
    put((signal) => answerer.direction(proposal, signal), { type: 'run.finished' });

  /** Of a run that goes on: what was asked before was answered in another process. */
  const isOver = ({ seq }: JournalEntry): boolean => (journal.findLast(isStimulus)?.seq ?? 0) > seq;

  function hearEntry(entry: JournalEntry): void {
    if (QUESTIONS.has(entry.type) && isOver(entry)) return;
    switch (entry.type) {
      case 'run-start':
        consentMs = entry.limits.consentMs;
        return;
      case 'consent-asked':
        void put((signal) => answerer.consent(entry.request, signal, consentMs), {
          type: 'consent.given',
          choice: 'keep',
        });
        return;
      case 'direction-asked':
        proposal = entry.proposal;
        screen.line(`\n${printable(entry.answer) || '(no answer yet)'}\n`);
        void askDirection();
        return;
      case 'direction-refused':
        void askDirection();
    }
  }

  return {
    hear(event: RunEvent): void {
      if (event.type === 'partial') return;
      // Where anything comes to a run that waits, it goes on.
      if (isStimulus(event)) {
        waiting.abort();
        waiting = new AbortController();
      }
      hearEntry(event);
    },
    close(): void {
      waiting.abort();
      answerer.close();
    },
  };
}
