import type { ApprovalGiven } from '../../durable/approval.ts';
import type { Json } from '../../durable/codec.ts';
import {
  type ActorPath,
  type Candidate,
  childPath,
  type DurableEntry,
  type StartEntry,
} from '../../durable/entries.ts';
import { type CallFact, callFact } from '../../llm/call-facts.ts';
import { createCapabilities } from './capabilities.ts';
import { type ContentFilter, createContentFilter } from './content-filter.ts';
import { ModelCalls } from './model-calls.ts';
import {
  type FoldOptions,
  type OpenSpan,
  POSTCHAIN,
  type SpanAttributes,
  type SpanError,
  SpanLog,
  type Telemetry,
} from './spans.ts';

type Handlers = { readonly [Type in DurableEntry['type']]?: (entry: Extract<DurableEntry, { type: Type }>) => void };

/** Calls of the attempt machine and the tool loop: their events give them spans of their own. */
const OWN_CALLS: ReadonlySet<string> = new Set(['readReply', 'executeCapability']);

/** The events with which a promise or an observable reports to itself that it has ended. */
const RESULT = /^xstate\.(?:promise\.resolve|observable\.complete|(promise\.reject|observable\.error))$/u;
const CHILD_END = /^xstate\.(done|error)\.actor\.(.*)$/su;
const STOPPED: SpanAttributes = { 'postchain.status': 'stopped' };

/** Sends the journal of a durable actor of any machine, live or recorded, to OpenTelemetry as spans and measurements. */
export class ActorFold {
  readonly #start: StartEntry;
  readonly #options: FoldOptions;
  readonly #filter: ContentFilter;
  readonly #spans: SpanLog;
  readonly #startMs: number;
  /** The names of the tools that have run. */
  readonly #tools = new Set<string>();
  /** The spans of running machines and activities. */
  readonly #open = new Map<ActorPath, OpenSpan>();
  /** The machines whose spans have their names. */
  readonly #named = new Set<ActorPath>();
  /** The paths of open spans within each path, in start order. */
  readonly #inner = new Map<ActorPath, Set<ActorPath>>();
  readonly #calls = new Map<ActorPath, ReturnType<ActorFold['callsBelow']>>();
  /** The model calls of the actor of each attempt in progress. */
  readonly #attempts = new Map<string, ModelCalls>();
  readonly #activities = new Map<number, ActorPath>();
  readonly #reportedMs = new Map<ActorPath, number>();
  /** When each state was last entered: its question was asked then. */
  readonly #enteredMs = new Map<string, number>();
  /** What the time without a process adds to the clock of the journal. */
  #pausedMs = 0;

  constructor(start: StartEntry, options: FoldOptions, telemetry: Telemetry) {
    const { startedAt, forkedFrom } = start;
    this.#start = start;
    this.#options = options;
    this.#filter = createContentFilter(this.#tools, options.content);
    this.#startMs = forkedFrom?.clockStartMs ?? Date.parse(startedAt);
    this.#spans = new SpanLog(telemetry, this.#startMs);
    this.#beginRoot();
  }

  /** Begins the span of the whole actor: at its start and, if it was retried after its end, again. */
  #beginRoot(): OpenSpan {
    const { actorId, machine, input } = this.#start;
    const name = this.#options.workflow ?? machine.id;
    const root = this.#spans.begin({
      operation: 'invoke_workflow',
      subject: name,
      parent: null,
      shared: { ...POSTCHAIN, 'gen_ai.workflow.name': name },
      attributes: {
        'postchain.run.id': actorId,
        'postchain.machine.version': machine.version ?? undefined,
        'postchain.actor.input': this.#json(input),
      },
    });
    this.#open.set('', root);
    this.#named.add('');
    return root;
  }

  take(entry: DurableEntry): void {
    if (entry.type === 'resumed' && !entry.wasPaused)
      this.#pausedMs = Math.max(this.#pausedMs, Date.parse(entry.resumedAt) - this.#startMs - entry.atMs);
    this.#spans.moveTo(entry.atMs + this.#pausedMs);
    if (Object.hasOwn(this.#handlers, entry.type)) this.#handlers[entry.type]?.(entry as never);
  }

  /** Ends the open spans. No more entries follow. */
  finish(isWaiting: boolean): void {
    this.#spans.endAll(isWaiting);
  }

  readonly #handlers: Handlers = {
    delivery: ({ actor, event }) => {
      if (Object(event).type === 'approval.given' && !this.#open.has(actor)) this.#takeAnswer(actor, event as never);
      else this.#note(actor, 'event', this.#eventOf(event));
    },
    'activity-start': ({ activity, actor, source, subject }) => {
      if (OWN_CALLS.has(source)) return;
      this.#end(actor, null, STOPPED, this.#reportedMs.get(actor));
      this.#activities.set(activity, actor);
      this.#begin(actor, source);
      if (subject !== undefined) this.#note(actor, 'called', { 'postchain.payload': this.#json(subject) });
    },
    'activity-event': ({ activity, actor, event }) => {
      const path = this.#activities.get(activity);
      if (path === undefined || !this.#open.has(path)) return;
      this.#reportedMs.set(path, this.#spans.nowMs);
      const { type, data = null } = event as { readonly type: string; readonly data?: Json };
      const [isEnd, isError] = (path === actor && RESULT.exec(type)) || [];
      if (isEnd === undefined) this.#note(path, 'event', this.#eventOf(event));
      else this.#end(path, isError ? this.#errorOf(data) : null, isError ? {} : this.#outputOf(data));
    },
    transition: ({ actor, machine, event, source, target, candidates }) => {
      this.#nameMachine(actor, machine);
      const attributes = { 'postchain.event': event, 'postchain.source': source, 'postchain.target': [...target] };
      this.#note(actor, 'transition', attributes);
      this.#noteGuards(actor, candidates);
      for (const state of target) this.#enteredMs.set(state, this.#spans.nowMs);
      const [, status, child = ''] = CHILD_END.exec(event) ?? [];
      const path = childPath(actor, child);
      if (status !== undefined) this.#end(path, status === 'error' ? this.#errorOf(null) : null);
    },
    ignored: ({ actor, machine, event, candidates }) => {
      this.#nameMachine(actor, machine);
      this.#note(actor, 'ignored', { 'postchain.event': event });
      this.#noteGuards(actor, candidates);
    },
    'timer-start': ({ actor, event, dueMs }) => {
      const delayMs = this.#startMs + this.#pausedMs + dueMs - this.#spans.nowMs;
      this.#note(actor, 'delay', { 'postchain.event': event, 'postchain.delay_ms': delayMs });
    },
    effect: ({ actor, action }) => this.#note(actor, 'effect', { 'postchain.action': action }),
    emitted: ({ actor, event }) => {
      const fact = callFact(event);
      if (fact === null || !this.#takeCall(actor, fact)) this.#note(actor, 'emitted', this.#eventOf(event));
    },
    note: ({ note }) => {
      const fact = callFact(note);
      if (fact?.type === 'text-delta') this.#attempts.get(fact.attemptId)?.addText(fact as never);
    },
    failed: ({ actor, error }) => {
      if (actor !== '') this.#end(actor, this.#errorOf(error));
    },
    // Activities in progress when a process ended are called again.
    resumed: ({ wasPaused }) => {
      const repeated = [...this.#activities.values()].filter((path) => this.#open.has(path));
      if (!wasPaused) for (const path of ['', ...repeated]) this.#note(path, 'resumed', {});
    },
    retried: ({ isSkipped = false }) => this.#note('', isSkipped ? 'skipped' : 'retried', {}),
    closed: ({ waiting }) => {
      if (waiting === undefined) return;
      const { events, approvals = [] } = waiting;
      this.#note('', 'waiting', {
        'postchain.events': [...events],
        'postchain.approvals': approvals.length,
        'postchain.questions': this.#filter.content(approvals.map(({ question }) => JSON.stringify(question))),
      });
    },
    end: ({ status, output, error }) => {
      const attributes = { 'postchain.status': status, ...(status === 'done' && this.#outputOf(output)) };
      this.#end('', status === 'error' ? this.#errorOf(error) : null, attributes);
    },
  };

  #note(path: ActorPath, event: string, attributes: SpanAttributes): void {
    this.#spans.addEvent(this.#spanOf(path), `postchain.${event}`, attributes);
  }

  #spanOf(path: ActorPath): OpenSpan {
    return this.#open.get(path) ?? (path === '' ? this.#beginRoot() : this.#begin(path, idOf(path)));
  }

  #begin(path: ActorPath, subject: string, startedMs?: number): OpenSpan {
    const parentPath = path.slice(0, path.lastIndexOf('/'));
    const parent = this.#spanOf(parentPath);
    const span = this.#spans.begin({ subject, parent, shared: {}, attributes: { 'postchain.actor': path }, startedMs });
    this.#open.set(path, span);
    this.#inner.set(parentPath, (this.#inner.get(parentPath) ?? new Set()).add(path));
    return span;
  }

  /** Ends an actor if it is open and, as stopped, all within it that has no end in the journal. */
  #end(path: ActorPath, error: SpanError | null, attributes: SpanAttributes = {}, atMs?: number): void {
    const span = this.#open.get(path);
    if (span === undefined) return;
    for (const inner of [...(this.#inner.get(path) ?? [])].reverse())
      this.#end(inner, null, STOPPED, this.#reportedMs.get(inner));
    if (path !== '') this.#inner.get(path.slice(0, path.lastIndexOf('/')))?.delete(path);
    this.#calls.get(path)?.models.abort('run');
    this.#spans.end(span, error, attributes, atMs);
    for (const known of [this.#open, this.#inner, this.#calls, this.#reportedMs, this.#named]) known.delete(path);
  }

  /** A child is known by its id until its first transition. */
  #nameMachine(path: ActorPath, machine: string): void {
    if (!this.#named.has(path)) this.#spans.rename(this.#spanOf(path), machine, { 'postchain.machine': machine });
    this.#named.add(path);
  }

  #noteGuards(path: ActorPath, candidates: readonly Candidate[]): void {
    const valuesOf = (inputs: unknown): SpanAttributes =>
      this.#options.content ? this.#filter.inputs(Object(inputs)) : {};
    this.#spans.addGuards(this.#spanOf(path), candidates, valuesOf);
  }

  /** An approval has no entry of its own until it is answered. */
  #takeAnswer(path: ActorPath, { decision, by }: ApprovalGiven): void {
    this.#begin(path, 'approval', this.#enteredMs.get(idOf(path).replace(/^\d+\./u, '')));
    this.#end(path, null, { 'postchain.decision': decision, 'postchain.by': this.#filter.content(by) });
  }

  /** The model calls and tools of one attempt machine or tool loop. */
  private callsBelow(path: ActorPath) {
    const { provider, models } = this.#options;
    const [modelId = '', ...fallbackModelIds] = models;
    const run = this.#spanOf(path);
    const phases = { span: () => run, isAt: () => true, isBefore: () => false };
    const parts = { spans: this.#spans, run, phases, filter: this.#filter, conversation: {}, provider };
    return {
      models: new ModelCalls({ prompts: {}, modelId, fallbackModelIds }, parts),
      tools: createCapabilities(this.#spans, phases, this.#filter),
    };
  }

  /** Returns whether the fact begins, continues or ends a span. */
  #takeCall(path: ActorPath, fact: CallFact): boolean {
    const { models, tools } = this.#calls.get(path) ?? this.callsBelow(path);
    this.#calls.set(path, { models, tools });
    const entry = { ...fact, seq: 0, atMs: 0 };
    switch (entry.type) {
      case 'attempt-start':
        this.#attempts.set(entry.attemptId, models);
        models.start(entry);
        return true;
      case 'attempt-end':
        this.#attempts.delete(entry.attemptId);
        models.end(entry);
        return true;
      case 'attempt-retry':
        models.retry(entry);
        return true;
      case 'capability-start':
        this.#tools.add(entry.capability);
        tools.start(entry);
        return true;
      case 'capability-end':
        tools.end(entry);
        return true;
      default:
        return false;
    }
  }

  #json(value: unknown): string | undefined {
    return this.#filter.content(JSON.stringify(value));
  }

  #eventOf(event: Json): SpanAttributes {
    const { type, ...payload } = event as { readonly type: string };
    const isEmpty = Object.keys(payload).length === 0;
    return { 'postchain.event': type, 'postchain.payload': isEmpty ? undefined : this.#json(payload) };
  }

  #outputOf(output: Json): SpanAttributes {
    return { 'postchain.output_length': JSON.stringify(output ?? null).length, 'postchain.output': this.#json(output) };
  }

  /** A stored error has its class beside its value. */
  #errorOf(stored: Json): SpanError {
    const { value = stored } = Object(stored) as { readonly value?: unknown };
    const { name = 'Error', code = name, message = '' } = Object(value) as Readonly<Record<string, unknown>>;
    return this.#filter.errorOf({ code: String(code), message: String(message) || null });
  }
}

const idOf = (path: ActorPath): string => path.slice(path.lastIndexOf('/') + 1);
