import type { JournalEntry } from '../../machines/contracts/journal.ts';
import type { TokenUsage } from '../../machines/contracts/usage.ts';
import { addCall, NO_USAGE } from '../../machines/policies/usage.ts';
import { runStartOf } from '../chain/journal/run-start.ts';
import { fileIn } from '../llm/content.ts';
import type { StoredRun } from './served-runs.ts';
import { type RunUpdate, updatesOf } from './updates.ts';

/** A run of the chain, read from its journal. */
export class StoredChainRun implements StoredRun {
  readonly name: string;
  readonly #entries: readonly JournalEntry[];
  readonly updates: readonly RunUpdate[];

  constructor(name: string, entries: readonly JournalEntry[]) {
    this.name = name;
    this.#entries = entries;
    this.updates = [...updatesOf(entries)];
  }

  get turns(): StoredRun['turns'] {
    const { messages, request, attachments = [] } = runStartOf(this.#entries).input;
    const turns = [...messages, { role: 'user', content: request, attachments } as const];
    return turns.flatMap(({ role, content: text, attachments = [] }) =>
      role === 'search' ? [] : [{ role, text, files: attachments.map((file) => fileIn(this.#entries, file)) }],
    );
  }

  get sessionId(): string | null {
    return runStartOf(this.#entries).input.sessionId;
  }

  get host(): StoredRun['host'] {
    return runStartOf(this.#entries).product.host ?? {};
  }

  get outputs(): StoredRun['outputs'] {
    return new Map(
      this.#entries.flatMap((entry) =>
        entry.type === 'delivery' && entry.event.type === 'approval.given'
          ? [[entry.event.questionId, entry.event.output ?? entry.event.reason ?? '']]
          : [],
      ),
    );
  }

  usageBefore(questionId: string | null): TokenUsage {
    const isAsked = (entry: JournalEntry): boolean =>
      entry.type.endsWith('-asked') && 'questionId' in entry && entry.questionId === questionId;
    return this.#entries
      .slice(0, Math.max(0, this.#entries.findIndex(isAsked)))
      .reduce((sum, entry) => (entry.type === 'attempt-end' ? addCall(sum, entry.usage, null) : sum), NO_USAGE);
  }
}
