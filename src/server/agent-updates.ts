import { type DurableEntry, hasEnded, type OpenApproval, type StartEntry } from '../durable/entries.ts';
import type { ReplayStep } from '../durable/replay.ts';
import { describeValue } from '../internal/describe-value.ts';
import { isJsonNode } from '../internal/json-schema.ts';
import { plainJson } from '../internal/plain-json.ts';
import { usageIn } from '../llm/call-facts.ts';
import { activeNodes } from '../xstate/actors.ts';
import { batchesOf, GrowingReplay, type ShownMachine } from './actor-states.ts';
import { AgentText } from './agent-text.ts';
import type { NumberedUpdate, Question, RunUpdate, ServedAnswer } from './updates.ts';

/** A client that waits for the answer waits for a shorter delay too, in milliseconds. */
const SOON_MS = 60_000;

/** A machine that is served as an agent. */
export interface ShownAgent extends ShownMachine {
  /** Returns the text of an output. */
  readonly reply?: ((output: unknown) => string) | undefined;
  /** The actor that writes the answer. */
  readonly answer?: string | undefined;
}

/** Computes the updates of an agent from the steps of its journal. A step has the same updates whenever it is read. */
export class AgentUpdates {
  readonly #agent: ShownAgent;
  readonly #id: string;
  readonly #replay: GrowingReplay;
  /** The approvals that were asked so far, by id. */
  readonly asked = new Map<string, OpenApproval>();
  /** Those that are open. */
  #open: readonly OpenApproval[] = [];
  readonly #tools = new Map<number, { readonly index: number; readonly name: string }>();
  #toolCount = 0;
  /** The ids of the active states. */
  #states: ReadonlySet<string> = new Set();
  /** The last line about a state, and the last one about what the agent waits for. */
  #state = '';
  #waiting = 'null';
  /** The number of the next step. */
  #next = 0;
  readonly #text: AgentText;
  /** How many entries were read for the text of the answer. */
  #read = 0;
  /** The place of the last update. */
  #last = { seq: -1, number: 0 };
  #hasAnswered = false;

  constructor(agent: ShownAgent, id: string) {
    this.#agent = agent;
    this.#id = id;
    this.#text = new AgentText(agent.answer);
    this.#replay = new GrowingReplay(agent, id);
  }

  /** Yields the updates of the steps that begin with the next entries. */
  async *take(entries: readonly DurableEntry[]): AsyncGenerator<NumberedUpdate, void> {
    let last = Number.POSITIVE_INFINITY;
    for await (const { number, begin, step } of this.#replay.take(entries)) {
      // The rest of its entries follows, and then all steps are replayed again.
      const isCut = step.snapshot.status !== 'active' && !hasEnded(this.#replay.entries);
      if (isCut) last = begin.seq - 1;
      if (number < this.#next || isCut) continue;
      this.#next = number + 1;
      yield* this.#texts(begin.seq);
      for (const update of this.#updatesOf(begin, step)) yield this.#numbered(begin.seq, update);
    }
    yield* this.#texts(last);
  }

  /** Yields the changes that the next entries, up to `last`, make to the text of the answer. */
  *#texts(last: number): Generator<NumberedUpdate, void> {
    const { entries } = this.#replay;
    for (let entry = entries[this.#read]; entry !== undefined && entry.seq <= last; entry = entries[this.#read]) {
      this.#read += 1;
      if (this.#hasAnswered) continue;
      for (const update of this.#text.take(entry)) yield this.#numbered(entry.seq, update);
    }
  }

  #numbered(seq: number, update: RunUpdate): NumberedUpdate {
    const number = seq === this.#last.seq ? this.#last.number + 1 : 0;
    this.#last = { seq, number };
    return { id: `${seq}.${number}`, update };
  }

  *#updatesOf(begin: DurableEntry, step: ReplayStep): Generator<RunUpdate, void> {
    if (begin.type === 'start') {
      const { product, startedAt } = begin;
      yield { type: 'run', runId: this.#id, request: String(Object(Object(product).asked).request), startedAt };
    }
    const { approvals, activities } = step.pending;
    const wait = this.#waitOf(begin, step);
    yield* this.#text.takeCalls(step.calls, wait !== null || (approvals.length > 0 && activities.length === 0));
    for (const { id: questionId } of without(this.#open, approvals)) yield { type: 'question-closed', questionId };
    yield* this.#toolUpdates(begin, step);
    yield* this.#entered(step);
    for (const approval of without(approvals, this.#open)) {
      this.asked.set(approval.id, approval);
      yield { type: 'question', question: questionOf(approval, this.#state) };
    }
    this.#open = approvals;
    if (wait !== null && JSON.stringify(wait) !== this.#waiting) yield wait;
    this.#waiting = JSON.stringify(wait);
    if (step.snapshot.status === 'active') return;
    const answer = this.#answer(step);
    yield* this.#text.finish(answer.answerText);
    this.#hasAnswered = true;
    yield { type: 'answer', answer };
  }

  /** Returns a line about the events and delays that the agent waits for; null if it does something else, or asks. */
  #waitOf({ atMs }: DurableEntry, { snapshot, pending }: ReplayStep): RunUpdate | null {
    const { activities, approvals, events, timers } = pending;
    if (snapshot.status !== 'active' || activities.length + approvals.length > 0) return null;
    const dueAtMs = Math.min(...timers.map((timer) => timer.dueAtMs));
    const isSoon = dueAtMs <= Date.parse((this.#replay.entries[0] as StartEntry).startedAt) + atMs + SOON_MS;
    if (isSoon && events.length === 0) return null;
    const until = timers.length === 0 ? 'an event, but no state accepts one' : new Date(dueAtMs).toISOString();
    const text = `Waiting for ${events.length === 0 ? until : events.join(' or ')}`;
    return { type: 'progress', text, ...(!isSoon && { isWaiting: true }) };
  }

  /** The calls of `runTools`. */
  *#toolUpdates(begin: DurableEntry, { calls }: ReplayStep): Generator<RunUpdate, void> {
    for (const [activity, tool] of this.#tools) {
      if (calls.some((call) => call.activity === activity)) continue;
      this.#tools.delete(activity);
      const result = begin.type === 'activity-event' && begin.activity === activity ? Object(begin.event).data : null;
      yield { type: 'tool', ...tool, state: Object(result).success === true ? 'ended' : 'failed' };
    }
    for (const { activity, source, input } of calls) {
      const { tool: name } = Object(input) as { readonly tool?: unknown };
      if (source !== 'executeTool' || typeof name !== 'string' || this.#tools.has(activity)) continue;
      const tool = { index: this.#toolCount, name };
      this.#toolCount += 1;
      this.#tools.set(activity, tool);
      yield { type: 'tool', ...tool, state: 'started' };
    }
  }

  /** A line for each state that it has entered: its description; without one, the name of an innermost state. */
  *#entered({ snapshot }: ReplayStep): Generator<RunUpdate, void> {
    const nodes = activeNodes(snapshot).filter(({ parent }) => parent !== undefined);
    for (const { id, key, type, description } of nodes) {
      const isLeaf = type === 'atomic' || type === 'final';
      const text = description ?? (isLeaf ? key : null);
      if (text === null || this.#states.has(id)) continue;
      this.#state = text;
      yield { type: 'progress', text };
    }
    this.#states = new Set(nodes.map(({ id }) => id));
  }

  #answer({ snapshot }: ReplayStep): ServedAnswer {
    const { status, output } = snapshot as { status: string; output?: unknown };
    const { entries } = this.#replay;
    if (status === 'stopped') return answerOf(entries, 'The agent was stopped.', 'cancelled');
    if (status === 'error') return answerOf(entries, failureText(this.#id), 'agent_failed');
    try {
      const text = replyTo(this.#agent, output);
      return answerOf(entries, text.trim() === '' ? this.#state || 'Done.' : text);
    } catch {
      return answerOf(entries, failureText(this.#id), 'agent_failed');
    }
  }
}

/** Yields the updates of an agent as its journal grows. */
export async function* agentUpdatesOf(
  agent: ShownAgent,
  id: string,
  entries: AsyncIterator<DurableEntry>,
): AsyncGenerator<NumberedUpdate, void> {
  const updates = new AgentUpdates(agent, id);
  const isText = ({ type }: DurableEntry): boolean => agent.answer !== undefined && type === 'note';
  for await (const batch of batchesOf(entries, isText)) yield* updates.take(batch);
}

/** Returns the approvals that are not among the others. */
const without = (approvals: readonly OpenApproval[], others: readonly OpenApproval[]) =>
  approvals.filter(({ id }) => !others.some((other) => other.id === id));

/** A string as it is, and anything else as JSON. */
const replyOf = (output: unknown): string =>
  typeof output === 'string' ? output : output === undefined ? '' : JSON.stringify(plainJson(output));

/** Returns the text for an output. Throws what `reply` throws. */
export function replyTo({ reply = replyOf }: ShownAgent, output: unknown): string {
  const text = reply(output);
  if (typeof text === 'string') return text;
  throw new TypeError(`reply: expected a string; received ${describeValue(text)}`);
}

/** What clients see instead of an error, whose message may contain internals. */
export const failureText = (id: string): string =>
  `The agent could not answer. If you report this, include the run id ${id}.`;

type Arguments = Extract<Question, { kind: 'approval' }>['arguments'];

/** Returns an approval as a question. Its arguments are those of the tool, or the members of the question. `state`: the line about its state. */
function questionOf({ id: questionId, digest, question }: OpenApproval, state: string): Question {
  const call = toolCallIn(question);
  const asked = { kind: 'approval', questionId, digest, problem: null } as const;
  if (call !== null) return { ...asked, capability: call.tool, arguments: call.arguments };
  const args = (isJsonNode(question) ? question : { question }) as Arguments;
  return { ...asked, capability: 'approval', arguments: args, description: state };
}

/** Returns the question of a tool call of `runTools`; null for any other. */
function toolCallIn(question: unknown) {
  const { tool, arguments: args, ...others } = Object(question) as Readonly<Record<string, unknown>>;
  const isCall = typeof tool === 'string' && isJsonNode(args) && Object.keys(others).length === 0;
  return isCall ? { tool, arguments: args as Arguments } : null;
}

/** Returns what is approved in place of a question, given other arguments. */
export function editedQuestion({ question }: OpenApproval, args: Readonly<Record<string, unknown>>): unknown {
  const call = toolCallIn(question);
  if (call !== null) return { ...call, arguments: args };
  return isJsonNode(question) ? args : args['question'];
}

/** Members of an answer and of its metadata that only the chain has. */
const UNKNOWN = { usedStepIds: [], notes: '', ttlExhausted: false, grounding: null, sources: [] };
const UNKNOWN_METADATA = { missingFields: [], decision: null, cycles: 0, refinements: 0, cost: null, failures: [] };

/** Returns the answer of an agent: with a `code`, a degraded or canceled one. */
function answerOf(
  entries: readonly DurableEntry[],
  answerText: string,
  code: 'cancelled' | 'agent_failed' | null = null,
): ServedAnswer {
  const usage = usageIn(entries);
  const used = (count: number) => ({ limit: null, used: count, left: null });
  const isDone = code === null;
  return {
    ...UNKNOWN,
    answerText,
    status: isDone ? 'completed' : code === 'cancelled' ? 'cancelled' : 'degraded',
    reasons: isDone ? [] : [{ code, message: answerText }],
    metadata: {
      ...UNKNOWN_METADATA,
      degraded: !isDone,
      reason: code,
      synthesis: { writtenBy: isDone ? 'model' : 'engine', fallback: null, error: null },
      usage,
      budget: {
        tokens: used(usage.inputTokens + usage.outputTokens),
        modelCalls: used(usage.modelCalls),
        cost: null,
        totalMs: { limit: null, used: entries.find(({ type }) => type === 'end')?.atMs ?? null },
        ttl: used(0),
        synthesisReserveTokens: { limit: null, used: 0 },
      },
    },
  };
}
