import type { ActorRefFrom } from 'xstate';
import type { chainMachine } from '../../../machines/chain/chain.machine.ts';
import type { ChainEvent } from '../../../machines/contracts/chain-event.ts';
import type { JournalEntry } from '../../../machines/contracts/journal-entry.ts';
import type { FinalAnswer } from '../../../machines/contracts/synthesis.ts';
import type { RunEvent } from './event-stream.ts';

/** A run under way. */
export interface Run {
  readonly runId: string;
  /** Everything that happens, from the beginning, however late one starts to read. */
  readonly events: AsyncIterable<RunEvent>;
  /** Resolves once, always with an answer; it never rejects. */
  readonly answer: Promise<FinalAnswer>;
  /** The journal so far; at the end it is the whole run. */
  readonly journal: readonly JournalEntry[];
  /** Why its journal is no longer written, where the chain keeps journals; null while all is well. The run goes on. */
  readonly journalFailure: string | null;
  /** Tells the run something. Throws `invalid_option` for what is no event; after the end it does nothing. */
  readonly send: (event: ChainEvent) => void;
  /** The user's own wish to stop: the run answers at once with what it has. */
  readonly cancel: (reason?: string) => void;
  /** The XState actor of the chart. */
  readonly actor: ActorRefFrom<typeof chainMachine>;
}
