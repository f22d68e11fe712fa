import type { AnyStateMachine, InputFrom, OutputFrom } from 'xstate';
import * as z from 'zod/mini';
import { PostChainError } from '../../machines/contracts/error.ts';
import type { ClientEvent } from '../../machines/contracts/events.ts';
import { firstChars } from '../../machines/text/clip.ts';
import { nodesOf } from '../durable/charts/chart-nodes.ts';
import type { DurableMachine } from '../durable/durable-machine.ts';
import { type DurableEntry, hasEnded, isExternal, type StartEntry } from '../durable/entries.ts';
import { declaredOutcomes } from '../internal/declared-outcomes.ts';
import { describeValue } from '../internal/describe-value.ts';
import { functionSchema } from '../internal/options.ts';
import { usageIn } from '../llm/call-facts.ts';
import { readContent } from '../llm/content.ts';
import { actorNames } from '../xstate/actors.ts';
import { invokedLogics, isMachine } from '../xstate/states.ts';
import { type MachineOptions, machinesOf } from './actor-routes.ts';
import type { ActorService } from './actor-service.ts';
import { AgentUpdates, agentUpdatesOf, editedQuestion, replyTo, type ShownAgent } from './agent-updates.ts';
import { createFeeds, type Feeds } from './feeds.ts';
import { HttpError, refusedAnswer, runEnded } from './http-error.ts';
import { type FollowableJournals, followable, type Labels, OwnJournals } from './own-journals.ts';
import { type Owner, ownId, sessionIdOf } from './owners.ts';
import type { ClientRequest, ListRunsOptions, ServedRuns, StoredRun } from './served-runs.ts';
import type { NumberedUpdate } from './updates.ts';
import type { UsageLimits } from './usage-limits.ts';

/** A client's request to an agent. */
export interface AgentRequest {
  readonly request: string;
  /** Earlier turns, oldest first. */
  readonly history: readonly { readonly role: 'user' | 'assistant'; readonly content: string }[];
  /** Absent if the client sends none. */
  readonly instructions?: string;
}

/** A durable machine that answers requests. */
export interface AgentOptions<Machine extends AnyStateMachine = AnyStateMachine>
  extends Pick<MachineOptions, 'events' | 'view'> {
  readonly host: DurableMachine<Machine>;
  /** Returns the input of the chart; by default the request itself. Required if the chart has another input. */
  readonly input?: (asked: AgentRequest) => InputFrom<Machine>;
  /** Returns the answer for an output of the chart; by default a string as it is, and anything else as JSON. */
  readonly reply?: (output: OutputFrom<Machine>) => string;
  /**
   * The actor whose text is the answer, by its `src` in the chart: one made by `generate` or `runTools`. Clients see its text while the model
   * writes it. By default, they see no text before the end.
   */
  readonly answer?: string;
}

/** What the options of an agent need besides `host`: `input`, unless its chart accepts the request itself. */
export type RequiredInput<Machine extends AnyStateMachine> =
  AgentRequest extends InputFrom<Machine> ? unknown : Pick<Required<AgentOptions<Machine>>, 'input'>;

export const agentsSchema = machinesOf('expected a durable machine, or { host, input, reply, answer, events, view }', {
  input: z.optional(functionSchema),
  reply: z.optional(functionSchema),
  answer: z.optional(z.string()),
});

/** Throws `invalid_option` if no actor of the chart, or of its child machines, has the name in the option `answer`. */
function requireAnswer({ name, host, answer }: NamedAgent): void {
  if (answer === undefined) return;
  const names = new Set<string>();
  const machines = new Set([host.machine]);
  for (const machine of machines) {
    const invoked = nodesOf(machine).flatMap(invokedLogics);
    for (const one of [...actorNames(machine), ...invoked]) if (typeof one === 'string') names.add(one);
    for (const logic of [...invoked, ...Object.values(machine.implementations.actors as object)])
      if (isMachine(logic) && declaredOutcomes(logic) === undefined) machines.add(logic);
  }
  if (!names.has(answer))
    throw new PostChainError(
      'invalid_option',
      `agents.${name}.answer: expected the name of an actor of "${host.machineId}" (${[...names].join(', ') || 'it has none'}); received ${describeValue(answer)}.`,
    );
}

interface NamedAgent extends AgentOptions, Pick<ShownAgent, 'name'> {}

export interface AgentRunsOptions {
  readonly agent: NamedAgent;
  readonly actors: ActorService;
  readonly usage: UsageLimits;
  readonly eventsPerRun: number;
  readonly onFailure: (owner: Owner | null, runId: string, error: unknown) => void;
}

/** What the first entry of an agent's run contains besides its owner. */
interface StoredRequest {
  readonly asked: AgentRequest;
  readonly sessionId: string | null;
  /** Not named `host`, because lists look for the owner in the `host` of a product. */
  readonly data: StoredRun['host'];
}

const STATUS = { done: 'completed', error: 'degraded', stopped: 'cancelled' } as const;

/** The actors of a durable machine as runs: each answers one request. */
export class AgentRuns implements ServedRuns {
  readonly #agent: NamedAgent;
  readonly #actors: ActorService;
  readonly #journals: FollowableJournals;
  readonly #feeds: Feeds<NumberedUpdate>;
  readonly #own: OwnJournals;
  readonly #onFailure: AgentRunsOptions['onFailure'];

  constructor({ agent, actors, usage, eventsPerRun, onFailure }: AgentRunsOptions) {
    const { name, host } = agent;
    requireAnswer(agent);
    const journals = followable(host.journals, `agents.${name}`, 'a durable machine');
    this.#agent = agent;
    this.#actors = actors;
    this.#onFailure = onFailure;
    this.#journals = journals;
    this.#feeds = createFeeds((id, follow) => agentUpdatesOf(agent, id, journals.follow(id, follow)));
    this.#own = new OwnJournals({
      journals,
      machine: host.machineId,
      noun: 'run',
      path: '/runs',
      usage,
      eventsPerRun,
      labelsIn: (first) => {
        if (first.type !== 'start' || first.machine.id !== host.machineId) return {};
        const { agent: of, owner, title, conversation } = Object(first.product);
        return of === name ? { owner, title, conversation } : {};
      },
    });
  }

  async start(owner: Owner, asked: ClientRequest) {
    const { history = [], earlier = [], instructions, session, conversation, idempotencyKey, host: data = {} } = asked;
    for (const member of ['clientTools', 'answer', 'mode'] as const)
      if (asked[member] !== undefined && asked[member] !== 'automatic') throw this.#unsupported(member);
    // A protocol that shows the earlier turns needs no session.
    if (session !== undefined && asked.earlier === undefined) throw this.#unsupported('session');
    const request = this.#textOf('request', asked.request);
    if (request.trim() === '')
      throw new PostChainError('invalid_request', 'request: expected a text; received an empty one.');
    const turns = [...earlier, ...history].map(({ role, content }) => ({
      role,
      content: this.#textOf('history', content),
    }));
    const given: AgentRequest = { request, history: turns, ...(instructions !== undefined && { instructions }) };
    const { name, input = (one: AgentRequest) => one } = this.#agent;
    const labels = {
      agent: name,
      title: firstChars(request, 200),
      ...(conversation !== undefined && { conversation }),
      asked: given,
      sessionId: session === undefined ? null : await sessionIdOf(owner, session),
      data,
    };
    const { id: runId, isNew } = await this.#actors.start(
      owner,
      { input: input(given) },
      idempotencyKey,
      labels as never,
    );
    return { runId, isNew };
  }

  updates(owner: Owner, runId: string, signal: AbortSignal) {
    return this.#own.read(owner, runId, this.#feeds.items(runId, signal));
  }

  has(owner: Owner, runId: string): Promise<boolean> {
    return this.#own.has(owner, runId);
  }

  async stored(owner: Owner, runId: string): Promise<StoredRun> {
    const { entries, numbered } = await this.#read(owner, runId);
    const { asked, sessionId, data: host } = (entries[0] as StartEntry).product as unknown as StoredRequest;
    const request = { role: 'user', content: asked.request } as const;
    return {
      name: this.#agent.name,
      updates: numbered.map(({ update }) => update),
      turns: [...asked.history, request].map(({ role, content: text }) => ({ role, text, files: [] })),
      sessionId,
      host,
      outputs: new Map(),
      usageBefore(questionId) {
        const asked = numbered.find(
          ({ update }) => update.type === 'question' && update.question.questionId === questionId,
        );
        const next = entries.findIndex(
          (entry) => entry.seq > Number.parseInt(asked?.id ?? '', 10) && isExternal(entry),
        );
        return usageIn(next === -1 ? entries : entries.slice(0, next));
      },
    };
  }

  async send(owner: Owner, runId: string, event: ClientEvent): Promise<void> {
    const { asked, entries } = await this.#read(owner, runId);
    if (hasEnded(entries)) throw runEnded();
    if (event.type === 'run.cancelled') {
      if (await this.#actors.stop(owner, runId)) return;
      throw runEnded();
    }
    if (event.type !== 'approval.given' || event.decision === 'respond')
      throw refusedAnswer(
        `the agent "${this.#agent.name}" accepts only approvals and run.cancelled here; send its own events to /machines/${this.#agent.name}/${runId}/events`,
      );
    const { questionId: id, digest, decision, reason, arguments: edited } = event;
    const approval = asked.get(id);
    if (approval === undefined) throw refusedAnswer(`the run has no question ${id}`);
    const given = {
      ...{ type: 'approval.given', id, digest, decision, by: owner },
      ...(edited !== undefined && { edited: editedQuestion(approval, edited) }),
      ...(reason !== undefined && { reason }),
    };
    const isChanged = await this.#actors.send(owner, runId, given, await keyOf(event));
    if (!isChanged && !(await this.hasAccepted(owner, runId, event)))
      throw refusedAnswer(`the question ${id} is closed, or has another digest`);
  }

  async hasAccepted(owner: Owner, runId: string, event: ClientEvent): Promise<boolean> {
    const key = await keyOf(event);
    return (await this.#own.entries(owner, runId)).some((entry) => entry.type === 'delivery' && entry.id === key);
  }

  async list(owner: Owner, { conversation, ...page }: ListRunsOptions) {
    const found = await this.#own.list(
      owner,
      page,
      (labels) => conversation === undefined || labels['conversation'] === conversation,
    );
    return Promise.all(
      found.map(async ({ id, startedAt, status, waiting }) => {
        const waitingFor = waiting && (waiting.approvals ? 'approval' : waiting.events.join(' or ') || 'timer');
        const isOver = status === 'done' || status === 'error' || status === 'stopped';
        const request = String((await this.#own.labelsOf(id))['title']);
        return { id, request, startedAt, status: isOver ? STATUS[status] : status, waitingFor };
      }),
    );
  }

  /** Reports why a run of this agent, or its `reply`, failed: clients see only that it did. */
  async reportFailure({ id, output }: { readonly id: string; readonly output: Promise<unknown> }): Promise<void> {
    const failure = await output
      .then((value) => void replyTo(this.#agent, value))
      .catch((error: unknown) => ({ error }));
    if (!failure || isCancelled(failure.error)) return;
    const { owner } = await this.#own.labelsOf(id).catch(() => ({}) as Labels);
    this.#onFailure(typeof owner === 'string' ? owner : null, id, failure.error);
  }

  /** Like `reportFailure`, for a run that a worker has continued. */
  async reportStored(id: string): Promise<void> {
    try {
      if ((await this.#own.labelsOf(id))['owner'] === undefined) return;
      const { status, output, error } = Object((await this.#agent.host.query(id)).snapshot);
      if (status === 'error') await this.reportFailure({ id, output: Promise.reject(error) });
      if (status === 'done') await this.reportFailure({ id, output: Promise.resolve(output) });
    } catch (error) {
      this.#onFailure(null, id, error);
    }
  }

  delete(owner: Owner, runId: string): Promise<void> {
    return this.#own.delete(owner, runId, this.#journals.delete && ((ended) => this.#agent.host.delete(ended)));
  }

  journal(owner: Owner, runId: string): Promise<readonly DurableEntry[]> {
    return this.#own.entries(owner, runId);
  }

  async #read(owner: Owner, runId: string) {
    const entries = await this.#own.entries(owner, runId);
    const updates = new AgentUpdates(this.#agent, runId);
    const numbered: NumberedUpdate[] = [];
    for await (const one of updates.take(entries)) numbered.push(one);
    return { entries, numbered, asked: updates.asked };
  }

  #textOf(member: string, content: ClientRequest['request']): string {
    const { text, files } = readContent(content, member);
    if (files.length === 0) return text;
    throw new HttpError(400, 'unsupported_file', `${member}: the agent "${this.#agent.name}" reads text only.`);
  }

  #unsupported(member: string): HttpError {
    const message = `${member}: not supported by the agent "${this.#agent.name}"; omit it.`;
    return new HttpError(400, 'unsupported_parameter', message, {}, member);
  }
}

/** Whether an actor was stopped or closed. */
const isCancelled = (error: unknown): boolean => PostChainError.isInstance(error) && error.code === 'cancelled';

/** An answer that is sent twice takes effect once. */
const keyOf = (event: ClientEvent): Promise<string> => ownId('answer', JSON.stringify(event));
