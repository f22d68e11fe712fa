import type * as z from 'zod/mini';
import type { ClientEvent } from '../../machines/contracts/events.ts';
import type { TokenUsage } from '../../machines/contracts/usage.ts';
import type { RunOptions } from '../chain/runtime/run-options.ts';
import type { ListPage } from './own-journals.ts';
import type { Owner } from './owners.ts';
import type { RunUpdate, Updates } from './updates.ts';

/** A client's request for a run. */
export interface ClientRequest
  extends Pick<RunOptions, 'request' | 'history' | 'instructions' | 'mode' | 'clientTools' | 'answer'> {
  /** The name of the chain or agent; by default the chain, or the only agent. */
  readonly agent?: string | undefined;
  /** The earlier turns of the session as the client has them, for an agent. The chain has its own. */
  readonly earlier?: RunOptions['history'];
  /** JSON data that a protocol stores with the run. */
  readonly host?: Readonly<Record<string, z.core.util.JSONType>>;
  /** The client's name for the session. Owners do not share sessions, even if they use the same name. */
  readonly session?: string | undefined;
  /** The client's name for the conversation, to find its runs by. Unlike a session, it adds no earlier turns. */
  readonly conversation?: string | undefined;
  /** A repeated request with the same key returns the run of the first one. */
  readonly idempotencyKey?: string | undefined;
}

export interface ListRunsOptions extends ListPage {
  /** Only runs of this conversation. */
  readonly conversation?: string | undefined;
}

/** A run in a list. */
interface ListedRun {
  readonly id: string;
  readonly request: string;
  readonly startedAt: string;
  readonly status:
    | 'completed'
    | 'degraded'
    | 'cancelled'
    | 'running'
    | 'waiting'
    | 'interrupted'
    | 'queued'
    | 'damaged';
  readonly waitingFor: string | null;
}

/** A turn of a conversation. The data of a file is Base64 text. */
interface StoredTurn {
  readonly role: 'user' | 'assistant';
  readonly text: string;
  readonly files: readonly { readonly data: string; readonly mediaType: string; readonly name: string | null }[];
}

/** What is stored of a run so far. */
export interface StoredRun {
  /** The name of its chain or agent. */
  readonly name: string;
  readonly updates: readonly RunUpdate[];
  /** The conversation that the run was started with; the request is last. */
  readonly turns: readonly StoredTurn[];
  /** The id of its session, see `sessionIdOf`; null without one. */
  readonly sessionId: string | null;
  /** The data that a protocol has stored with it. */
  readonly host: Readonly<Record<string, unknown>>;
  /** The results that the client gave for calls, by the id of the question. */
  readonly outputs: ReadonlyMap<string, string>;
  /** Returns the tokens of the model calls that ended before a question, or for null so far. */
  usageBefore(questionId: string | null): TokenUsage;
}

/** Runs as protocols see them. Each is visible only to its owner; to others, it does not exist. */
export interface ServedRuns {
  /** Starts a run, or returns the run that was started with the same idempotency key. */
  start(owner: Owner, request: ClientRequest): Promise<{ readonly runId: string; readonly isNew: boolean }>;
  /** Yields the updates of a run from the beginning until its answer. Ends early when the signal aborts. */
  updates(owner: Owner, runId: string, signal: AbortSignal): Promise<Updates>;
  has(owner: Owner, runId: string): Promise<boolean>;
  stored(owner: Owner, runId: string): Promise<StoredRun>;
  /** Sends an event to a run, and resolves when it is stored. Rejects with `answer_refused` if it has no effect. */
  send(owner: Owner, runId: string, event: ClientEvent): Promise<void>;
  /** Whether an equal event has had an effect before. */
  hasAccepted(owner: Owner, runId: string, event: ClientEvent): Promise<boolean>;
  /** Returns runs of the owner, newest first. */
  list(owner: Owner, options: ListRunsOptions): Promise<readonly ListedRun[]>;
  /** Deletes a run that has ended. Rejects with an `HttpError` for any other, and if the store cannot delete journals. */
  delete(owner: Owner, runId: string): Promise<void>;
  /** Returns the entries of the journal of a run. */
  journal(owner: Owner, runId: string): Promise<readonly object[]>;
}
