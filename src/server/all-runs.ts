import type { ClientEvent } from '../../machines/contracts/events.ts';
import { describeValue } from '../internal/describe-value.ts';
import { HttpError, unknownRun } from './http-error.ts';
import type { Owner } from './owners.ts';
import type { ClientRequest, ListRunsOptions, ServedRuns } from './served-runs.ts';

/** The runs of a chain and of agents, by their names. A request without the name of an agent is for the first one, if it is the default. */
export class AllRuns implements ServedRuns {
  readonly #all: ReadonlyMap<string, ServedRuns>;
  readonly #default: string | null;

  constructor(all: ReadonlyMap<string, ServedRuns>, defaultName: string | null) {
    this.#all = all;
    this.#default = defaultName;
  }

  async start(owner: Owner, { agent, ...request }: ClientRequest) {
    const found = this.#all.get(agent ?? this.#default ?? '');
    if (found !== undefined) return found.start(owner, request);
    const names = [...this.#all.keys()].map((name) => describeValue(name)).join(', ');
    const message = `agent: expected one of ${names}; received ${describeValue(agent)}.`;
    throw new HttpError(404, 'unknown_agent', message, {}, 'agent');
  }

  async updates(owner: Owner, runId: string, signal: AbortSignal) {
    return (await this.#of(owner, runId)).updates(owner, runId, signal);
  }

  async stored(owner: Owner, runId: string) {
    return (await this.#of(owner, runId)).stored(owner, runId);
  }

  async send(owner: Owner, runId: string, event: ClientEvent) {
    return (await this.#of(owner, runId)).send(owner, runId, event);
  }

  async hasAccepted(owner: Owner, runId: string, event: ClientEvent) {
    return (await this.#of(owner, runId)).hasAccepted(owner, runId, event);
  }

  async list(owner: Owner, options: ListRunsOptions) {
    const lists = await Promise.all(Array.from(this.#all.values(), (runs) => runs.list(owner, options)));
    const newestFirst = lists.flat().toSorted((one, other) => (one.startedAt < other.startedAt ? 1 : -1));
    return newestFirst.slice(0, options.limit);
  }

  async delete(owner: Owner, runId: string) {
    return (await this.#of(owner, runId)).delete(owner, runId);
  }

  async journal(owner: Owner, runId: string) {
    return (await this.#of(owner, runId)).journal(owner, runId);
  }

  async has(owner: Owner, runId: string): Promise<boolean> {
    return (await this.#find(owner, runId)) !== null;
  }

  async #of(owner: Owner, runId: string): Promise<ServedRuns> {
    const [first, ...others] = this.#all.values();
    // A run that does not exist is its error.
    const found = others.length === 0 ? first : await this.#find(owner, runId);
    if (found) return found;
    throw unknownRun();
  }

  async #find(owner: Owner, runId: string): Promise<ServedRuns | null> {
    for (const runs of this.#all.values()) if (await runs.has(owner, runId)) return runs;
    return null;
  }
}
