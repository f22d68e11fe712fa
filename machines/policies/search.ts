import type { ChainState, Search, SourceError, SourceRetry } from '../contracts/chain-state.ts';
import type { GuardResult } from '../contracts/decision.ts';
import type { Retrieval, RetrievePassagesInput } from '../contracts/passage.ts';
import { unexpectedFailure } from './failures.ts';
import { visibleMessages } from './progress.ts';
import { phaseDeadlineMs } from './usage.ts';

/** Returns the search of the current cycle. It starts with Action, because it does not depend on what Action answers. */
function searchInput({ request, results, thresholds }: ChainState): RetrievePassagesInput {
  const missing = results.experience?.reply.missing.slice(0, 8) ?? [];
  return {
    query: [request, ...missing].join(' '),
    limit: thresholds.passages,
    minRelevance: thresholds.passageRelevance,
  };
}

/** Returns the search that Action or Experience starts; null without documents, and if it has already started. */
export function searchToStart(state: ChainState): Search | null {
  const input = searchInput(state);
  const isStarted = JSON.stringify(state.search?.input) === JSON.stringify(input);
  return isStarted || !state.hasDocuments ? null : { input, result: null };
}

export function endSearch({ search }: ChainState, result: Search['result']): Partial<ChainState> {
  return { search: search && { ...search, result } };
}

/** Whether the search has succeeded. A chain without documents does not search, so there is nothing to wait for. */
export function searchIsDone({ search, hasDocuments }: ChainState): GuardResult {
  const passages = search?.result?.found?.passages.length ?? null;
  return { holds: passages !== null || !hasDocuments, inputs: { passages, hasDocuments } };
}

export function searchHasFailed({ search }: ChainState): GuardResult {
  const error = search?.result?.error?.message ?? null;
  return { holds: error !== null, inputs: { error } };
}

/** Returns the changes when Experience takes the result of the search: passages, or why there are none. */
export function takeSearch(state: ChainState): Partial<ChainState> {
  const { search } = state;
  if (search === null) return {};
  const { input, result } = search;
  const nothing: Retrieval = { query: input.query, passages: [], widened: false };
  const found = usablePassages(state, result?.found ?? nothing);
  return { search: null, retrieval: { found, failure: result?.error?.message ?? null } };
}

/** Ids that the engine generates: of the request, and of the messages of a step. */
const ENGINE_ID = /^(?:request|s\d+\.m\d+)$/;

/** Renames passages whose ids collide with the engine's, because a source is user code, and leaves out those that were removed before. */
function usablePassages(state: ChainState, found: Retrieval): Retrieval {
  const visible = new Set(visibleMessages(state).map(({ id }) => id));
  const removed = new Set(state.messages.flatMap(({ id }) => (visible.has(id) ? [] : [id])));
  const passages = found.passages
    .map((passage) => (ENGINE_ID.test(passage.id) ? { ...passage, id: `passage.${passage.id}` } : passage))
    .filter(({ id }) => !removed.has(id));
  return { ...found, passages };
}

/** HTTP statuses of an overloaded server [RFC 6585, RFC 9110]. */
const OVERLOADED: ReadonlySet<unknown> = new Set([429, 503]);

/**
 * Whether a failed search is repeated: the source reported a rate limit (an error with `status` 429 or 503, with `code` `rate_limited`, or
 * with `retryAfterMs`), there is a retry left, and all waits together take at most half of the phase's time.
 */
export function sourceMayRecover(state: ChainState): GuardResult {
  const { limits, sourceRetry } = state;
  const retries = sourceRetry?.retries ?? 0;
  const limited = limitOf(state) !== null;
  const { waitMs, waitedMs } = nextSourceRetry(state);
  const longestMs = phaseDeadlineMs(limits, 'experience') / 2;
  return {
    holds: limited && retries < limits.maxTransportRetries && waitedMs <= longestMs,
    inputs: { limited, retries, maxRetries: limits.maxTransportRetries, waitMs, waitedMs, longestMs },
  };
}

/** Returns the changes when a search is to be repeated after a wait: what the source requested, or exponential backoff as for models. */
export function backOff(state: ChainState): Partial<ChainState> {
  return { search: null, sourceRetry: nextSourceRetry(state) };
}

function nextSourceRetry(state: ChainState): SourceRetry {
  const { limits, sourceRetry } = state;
  const retries = sourceRetry?.retries ?? 0;
  const doubled = Math.min(limits.backoffMaxMs, limits.backoffBaseMs * 2 ** retries);
  const waitMs = limitOf(state)?.retryAfterMs ?? doubled;
  return { retries: retries + 1, waitMs, waitedMs: (sourceRetry?.waitedMs ?? 0) + waitMs };
}

function limitOf({ search }: ChainState): Pick<SourceError, 'retryAfterMs'> | null {
  const error = search?.result?.error ?? null;
  if (error === null) return null;
  const { status, code, retryAfterMs } = error;
  return retryAfterMs !== null || OVERLOADED.has(status) || code === 'rate_limited' ? { retryAfterMs } : null;
}

/** Reads what a source threw. Sources are user code: it may be anything. */
export function sourceError(thrown: unknown): SourceError {
  const { message } = unexpectedFailure(thrown);
  try {
    const { status, code, retryAfterMs } = Object(thrown) as Record<string, unknown>;
    return {
      message,
      status: typeof status === 'number' ? status : null,
      code: typeof code === 'string' ? code : null,
      retryAfterMs: typeof retryAfterMs === 'number' && retryAfterMs >= 0 ? retryAfterMs : null,
    };
  } catch {
    return { message, status: null, code: null, retryAfterMs: null };
  }
}
