import type { JournalEntry } from '../../machines/contracts/journal.ts';
import type { ActorState, RunCharts, SystemState } from '../../src/inspection/wire.ts';
import { isCallFact } from '../../src/llm/call-facts.ts';
import { createPromptReader, type PromptReader } from '../../src/llm/recorded-prompts.ts';
import type { RunLog } from '../wire/run-log.ts';
import { type ActorEntry, ActorReader } from './actor-entries.ts';
import { type ActorLog, ActorLogFold, type ActorRecord } from './actor-log.ts';
import { ContextLog } from './context-log.ts';
import { EntryIndex } from './entry-index.ts';
import { Spans } from './spans.ts';
import { StateLog } from './state-log.ts';
import { TimeLine } from './time-line.ts';
import { TransitionLog } from './transition-log.ts';

export interface LoadedEntries {
  readonly log: RunLog;
  readonly fold: RunFold;
  readonly charts: RunCharts | null;
}

/**
 * Everything the page derives from a journal: small folds that read each entry once and answer for any entry.
 * Independent of charts, page and clock.
 */
export class RunFold {
  readonly #actors = new ActorLogFold((path, seq) => this.spans.endActor(path, seq));
  readonly #reader = new ActorReader((path, machine, seq) => this.#actors.chartOf(path, machine, seq));
  /** The numbers of entries whose states arrived before them. */
  #waiting: readonly number[] = [];
  readonly entries = new EntryIndex();
  readonly timeLine = new TimeLine(() => this.spans.isBusy());
  readonly spans = new Spans();
  readonly transitions = new TransitionLog();
  readonly context = new ContextLog();
  readonly states = new StateLog();
  readonly actors: ActorLog = this.#actors.log;
  /** The charts of the actors of a system, by id, each with the machine's chart that it copies. */
  readonly charts: ReadonlyMap<string, { readonly of: string }> = this.#actors.charts;
  readonly prompts: PromptReader = createPromptReader();

  readonly take = (entry: JournalEntry): void => {
    // The time line first: it asks what was running before the entry.
    for (const fold of [this.entries, this.timeLine, this.spans, this.transitions, this.context, this.prompts])
      fold.take(entry);
  };

  /** Reads a stored entry of an actor of any machine, which `takeOfActor` takes next. */
  readonly readOfActor: ActorReader['read'] = (entry) => this.#reader.read(entry);

  readonly takeOfActor = (entry: ActorEntry): void => {
    // Entries of actors have the members that these folds read in entries of runs.
    const shared = entry as unknown as JournalEntry;
    for (const fold of [this.entries, this.timeLine]) fold.take(shared);
    if ('actor' in entry && isCallFact(entry)) for (const fold of [this.spans, this.prompts]) fold.take(shared);
    if (entry.type === 'transition' || entry.type === 'timer-start') this.transitions.take(shared, false);
    if (entry.type === 'delivery' && entry.sender === null && !entry.isExternal)
      this.transitions.endTimer(entry.actor, entry.event.type, entry.seq);
    if (entry.type === 'retried') this.transitions.withdraw(entry.failed);
    this.#actors.take(entry);
    this.#showStates();
  };

  /** Takes state frames, each as JSON. `from`: the number of the first. */
  takeStates(from: number, frames: readonly string[]): void {
    const seqs = this.states.add(from, frames);
    // Only systems have states of actors.
    if (this.timeLine.count > 0 && this.actors.length === 0) return;
    this.#waiting = [...this.#waiting, ...seqs];
    this.#showStates();
  }

  #showStates(): void {
    const { count } = this.timeLine;
    if (!this.#waiting.some((seq) => seq < count)) return;
    for (const seq of this.#waiting.filter((one) => one < count))
      this.#actors.takeStates(this.#systemAt(seq - 1), this.#systemAt(seq), seq, (...changed) =>
        this.#placeActor(...changed),
      );
    this.#waiting = this.#waiting.filter((seq) => seq >= count);
  }

  #systemAt(seq: number): SystemState {
    return (this.states.at(seq) ?? {}) as SystemState;
  }

  /** Adds the positions that the journal does not contain. The states of an actor may arrive after its entries. */
  #placeActor({ machine }: ActorRecord, { started, initial, leaves, moved }: ActorState, isNew: boolean): void {
    if (machine === null) return;
    if (isNew && initial !== null && (moved ?? -1) !== started)
      this.transitions.place(machine, { targets: initial, since: started, isInitial: true });
    if (moved !== null) this.transitions.place(machine, { targets: leaves, since: moved, isInitial: false });
  }
}
