import type { Clock } from '../durable/clock.ts';
import { HttpError } from './http-error.ts';
import type { Owner } from './owners.ts';

/** Limits of one process of the server. */
export interface ServerLimits {
  /** The size of a request body, in bytes; 1 MB by default. */
  readonly bodyBytes: number;
  /** Runs in progress at the same time; 100 by default. A run that an event continues from the store counts as a new one. */
  readonly runs: number;
  /** Runs of one owner in progress at the same time; 20 by default. */
  readonly runsPerOwner: number;
  /** Connections that one owner may keep open to read runs; 1,000 by default. */
  readonly streamsPerOwner: number;
  /** Requests of one owner per minute; 600 by default. */
  readonly requestsPerMinute: number;
  /** The cost of one owner's runs per day (UTC), in the currency of the chain's prices; no limit by default. */
  readonly costPerDay: number;
  /** Events that one run accepts from clients, because its journal keeps each of them; 200 by default. */
  readonly eventsPerRun: number;
}

export const DEFAULT_LIMITS: ServerLimits = {
  bodyBytes: 1_000_000,
  runs: 100,
  runsPerOwner: 20,
  streamsPerOwner: 1_000,
  requestsPerMinute: 600,
  costPerDay: Number.POSITIVE_INFINITY,
  eventsPerRun: 200,
};

/** How long clients should wait when all places for runs are in use. */
const RETRY_AFTER_MS = 5_000;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** Counts the usage of each owner, and rejects requests above the limits. */
export interface UsageLimits {
  /** Counts a request. Throws an `HttpError` 429. */
  request(owner: Owner): void;
  /** Throws an `HttpError` 503 after `close`. */
  requireOpen(): void;
  /** Throws an `HttpError` 429 or 503 if the owner may not start a run now. */
  requireRun(owner: Owner): void;
  /** Counts a run in progress. Returns a function that ends it, with its cost. */
  startRun(owner: Owner): (cost: number) => void;
  /** Counts an open stream. Returns a function that ends it. Throws an `HttpError` 429. */
  startStream(owner: Owner): () => void;
  /** Rejects runs and events from now on, even for requests that are already authorized. */
  close(): void;
  /** The numbers of runs and streams in progress. */
  readonly runs: number;
  readonly streams: number;
}

export function createUsageLimits(limits: ServerLimits, clock: Pick<Clock, 'now'>): UsageLimits {
  const requests = periodCounts(clock, MINUTE_MS);
  const costs = periodCounts(clock, DAY_MS);
  const runs = openCounts();
  const streams = openCounts();
  let isClosed = false;
  const requireOpen = (): void => {
    if (isClosed) throw new HttpError(503, 'closing', 'The server is stopping. Try again.', { 'retry-after': '1' });
  };
  const requireStream = (owner: Owner): void => {
    if (streams.of(owner) >= limits.streamsPerOwner)
      throw tooMany('too_many_streams', `${limits.streamsPerOwner} open streams`, MINUTE_MS);
  };
  return {
    requireOpen,
    request(owner) {
      requests.add(owner, 1);
      if (requests.of(owner) > limits.requestsPerMinute)
        throw tooMany('too_many_requests', `${limits.requestsPerMinute} requests per minute`, requests.leftMs());
    },
    requireRun(owner) {
      requireOpen();
      // Otherwise, the request would start a run and then be rejected.
      requireStream(owner);
      if (costs.of(owner) >= limits.costPerDay)
        throw tooMany(
          'cost_limit_reached',
          `${limits.costPerDay} for the cost of runs per day (used: ${costs.of(owner)})`,
          costs.leftMs(),
        );
      if (runs.of(owner) >= limits.runsPerOwner)
        throw tooMany('too_many_runs', `${limits.runsPerOwner} runs in progress`, RETRY_AFTER_MS);
      if (runs.total() >= limits.runs)
        throw new HttpError(503, 'server_busy', `The server is at its limit of ${limits.runs} runs. Try again later.`, {
          'retry-after': String(RETRY_AFTER_MS / 1_000),
        });
    },
    startRun(owner) {
      const end = runs.start(owner);
      return (cost) => {
        end();
        costs.add(owner, cost);
      };
    },
    startStream(owner) {
      requireStream(owner);
      return streams.start(owner);
    },
    close() {
      isClosed = true;
    },
    get runs() {
      return runs.total();
    },
    get streams() {
      return streams.total();
    },
  };
}

function tooMany(code: string, limit: string, waitMs: number): HttpError {
  const message = `You have reached the limit of ${limit}. Try again later.`;
  return new HttpError(429, code, message, { 'retry-after': String(Math.ceil(waitMs / 1_000)) });
}

/** Returns sums by owner, which are reset at the start of each period. */
function periodCounts(clock: Pick<Clock, 'now'>, periodMs: number) {
  const sums = new Map<Owner, number>();
  let period = 0;
  const current = (): Map<Owner, number> => {
    const now = Math.floor(clock.now() / periodMs);
    if (now !== period) sums.clear();
    period = now;
    return sums;
  };
  return {
    add: (owner: Owner, amount: number) => void current().set(owner, (current().get(owner) ?? 0) + amount),
    of: (owner: Owner) => current().get(owner) ?? 0,
    leftMs: () => periodMs - (clock.now() % periodMs),
  };
}

/** Returns counts of open items by owner. */
function openCounts() {
  const open = new Map<Owner, number>();
  let total = 0;
  const change = (owner: Owner, by: 1 | -1): void => {
    total += by;
    const count = (open.get(owner) ?? 0) + by;
    if (count === 0) open.delete(owner);
    else open.set(owner, count);
  };
  return {
    of: (owner: Owner) => open.get(owner) ?? 0,
    total: () => total,
    start(owner: Owner) {
      change(owner, 1);
      let isOpen = true;
      return () => {
        if (isOpen) change(owner, -1);
        isOpen = false;
      };
    },
  };
}
