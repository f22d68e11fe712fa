import type { Clock } from '../durable/clock.ts';
import { HttpError } from './http-error.ts';
import type { Owner } from './owners.ts';

/** Limits of one process of the server. */
export interface ServerLimits {
  /** The size of a request body, in bytes; 1 MB by default. */
  readonly bodyBytes: number;
  /** Runs in progress at a time; 100 by default. */
  readonly runs: number;
  /** Runs in progress at a time of one owner; 20 by default. */
  readonly runsPerOwner: number;
  /** Connections that one owner may keep open to read runs; 1,000 by default. */
  readonly streamsPerOwner: number;
  /** Requests of one owner in a minute; 600 by default. */
  readonly requestsPerMinute: number;
  /** The cost of the runs that one owner starts in a day (UTC), in the currency of the chain's prices; no limit by default. */
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

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** Counts what owners use, and refuses what exceeds the limits. */
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
  /** Refuses runs and events from now on, also of requests that were let in before. */
  close(): void;
  /** Runs and streams in progress. */
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
    if (isClosed) throw new HttpError(503, 'closing', 'The server is closing. Try again.', { 'retry-after': '1' });
  };
  const requireStream = (owner: Owner): void => {
    if (streams.of(owner) >= limits.streamsPerOwner)
      throw tooMany('too_many_streams', `At most ${limits.streamsPerOwner} streams of yours may be open`, MINUTE_MS);
  };
  return {
    requireOpen,
    request(owner) {
      requests.add(owner, 1);
      if (requests.of(owner) > limits.requestsPerMinute)
        throw tooMany('too_many_requests', `At most ${limits.requestsPerMinute} requests a minute`, requests.leftMs());
    },
    requireRun(owner) {
      requireOpen();
      // Else the request would start a run and then be refused.
      requireStream(owner);
      if (costs.of(owner) >= limits.costPerDay)
        throw tooMany(
          'cost_limit_reached',
          `Your runs of today have cost ${costs.of(owner)}, of ${limits.costPerDay}`,
          costs.leftMs(),
        );
      if (runs.of(owner) >= limits.runsPerOwner)
        throw tooMany('too_many_runs', `At most ${limits.runsPerOwner} of your runs may be in progress`, MINUTE_MS);
      if (runs.total() >= limits.runs)
        throw new HttpError(503, 'server_busy', `The server runs ${limits.runs} runs, its limit. Try again later.`, {
          'retry-after': '10',
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

function tooMany(code: string, what: string, waitMs: number): HttpError {
  return new HttpError(429, code, `${what}. Try again later.`, { 'retry-after': String(Math.ceil(waitMs / 1_000)) });
}

/** Sums by owner, which begin again at 0 in each period. */
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

/** Counts by owner of what is open. */
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
