import { describeValue } from '../internal/describe-value.ts';
import { HttpError, unknownRun } from './http-error.ts';
import type { Owner } from './owners.ts';
import type { ServedRuns } from './served-runs.ts';

/** Returns the runs of a chain and of agents, by their names, as one. A request that names none is for the default. */
export function allRuns(all: ReadonlyMap<string, ServedRuns>, defaultName: string | null): ServedRuns {
  async function find(owner: Owner, runId: string): Promise<ServedRuns | null> {
    for (const runs of all.values()) if (await runs.has(owner, runId)) return runs;
    return null;
  }
  async function of(owner: Owner, runId: string): Promise<ServedRuns> {
    const [only, ...others] = all.values();
    const found = others.length === 0 ? only : await find(owner, runId);
    if (found) return found;
    throw unknownRun();
  }
  return {
    async start(owner, { agent, ...request }) {
      const found = all.get(agent ?? defaultName ?? '');
      if (found !== undefined) return found.start(owner, request);
      const expected = `expected one of ${[...all.keys()].join(', ')}`;
      const message = `agent: ${expected}; received ${describeValue(agent)}.`;
      throw new HttpError(404, 'unknown_agent', message, {}, 'agent');
    },
    async list(owner, options) {
      const lists = await Promise.all(Array.from(all.values(), (runs) => runs.list(owner, options)));
      const newestFirst = lists.flat().toSorted((one, other) => (one.startedAt < other.startedAt ? 1 : -1));
      return newestFirst.slice(0, options.limit);
    },
    has: async (owner, runId) => (await find(owner, runId)) !== null,
    updates: async (owner, runId, signal) => (await of(owner, runId)).updates(owner, runId, signal),
    stored: async (owner, runId) => (await of(owner, runId)).stored(owner, runId),
    send: async (owner, runId, event) => (await of(owner, runId)).send(owner, runId, event),
    hasAccepted: async (owner, runId, event) => (await of(owner, runId)).hasAccepted(owner, runId, event),
    delete: async (owner, runId) => (await of(owner, runId)).delete(owner, runId),
    journal: async (owner, runId) => (await of(owner, runId)).journal(owner, runId),
  };
}
