import { EXTERNAL_EVENTS, type JournalEntry, type RunStart } from '../../../machines/contracts/journal.ts';
import type { FinalAnswer } from '../../../machines/contracts/synthesis.ts';
import { type ContentFilter, createContentFilter, messageText } from './content-filter.ts';
import { type EntryOf, type Handlers, handle } from './entries.ts';
import { modelFacts, POSTCHAIN } from './model-name.ts';
import { createPhases, type Phases } from './phases.ts';
import { endFacts, startFacts } from './run-facts.ts';
import { BROKEN_OFF, createSpanBook, type SpanBook } from './span-book.ts';
import { noteGuards, spanEvents } from './span-events.ts';
import type { Facts, OpenSpan, Signal, SpanError } from './spans.ts';
import { createTokenTotals, type TokenTotals } from './token-totals.ts';

export interface FoldOptions {
  readonly workflow: string | null;
  readonly provider: string | null;
  readonly content: boolean;
}

/** The code of what is open where a journal ends before its run does. */
const CUT_OFF: SpanError = { code: 'journal_cut_off', message: 'The journal ends before the run does.' };

/** Anything outside of the phases: where the chart goes from there, it has left the phase that was under way. */
const CYCLING = 'postChain.cycling';

/** A run as spans and measurements: a fold of its journal, the same of one that grows and of one that was recorded. */
export function createRunFold(start: RunStart, { workflow, provider, content }: FoldOptions) {
  const told = createContentFilter(start, content);
  const book = createSpanBook(start.startedAtMs);
  const name = workflow ?? start.chart.id;
  const conversation: Facts = { 'gen_ai.conversation.id': start.sessionId ?? undefined };
  const run = book.begin({
    operation: 'invoke_workflow',
    subject: name,
    parent: null,
    shared: { ...POSTCHAIN, 'gen_ai.workflow.name': name },
    facts: { ...conversation, ...startFacts(start, told) },
  });
  const phases = createPhases(book, run, told, conversation);
  const tokens = createTokenTotals(book);
  const chats = createChats(start, { book, run, phases, told, tokens, conversation, provider });
  const capabilities = createCapabilities(book, phases, told);
  let answer: FinalAnswer | null = null;

  function move(entry: EntryOf<'transition'>): void {
    noteGuards(entry, book, phases, told);
    if (entry.machine === 'attempt' || entry.target.length === 0) return;
    chats.breakOff();
    if (entry.source === CYCLING) phases.leave(entry.target.includes('synthesizing'));
  }

  function endRun(entry: EntryOf<'run-end'>): void {
    phases.close();
    chats.breakOff();
    tokens.settle(entry.usage);
    const { reason = null } = answer?.metadata ?? {};
    const mishap = entry.status === 'degraded' ? told.mishap({ code: reason ?? '', message: null }) : null;
    book.end(run, mishap, endFacts(entry, answer, told));
  }

  const handlers: Handlers = {
    ...spanEvents(book, run, phases, told),
    'phase-start': (entry) => {
      phases.start(entry);
      chats.enter();
    },
    'phase-end': phases.end,
    decision: phases.decide,
    transition: move,
    'attempt-start': chats.start,
    'text-delta': chats.hear,
    'attempt-end': chats.end,
    'attempt-retry': chats.retry,
    'capability-start': capabilities.start,
    'capability-end': capabilities.end,
    continuation: capabilities.continue,
    'capability-stop': capabilities.stop,
    answer: (entry) => {
      answer = entry.answer;
    },
    'run-end': endRun,
  };

  return {
    take(entry: JournalEntry): void {
      book.moveTo(entry.atMs);
      if (EXTERNAL_EVENTS.has(entry.type)) phases.settle();
      handle(handlers, entry);
    },
    /** No entry will come any more. */
    finish(): void {
      if (!book.isOpen(run)) return;
      chats.enter();
      book.endAll(CUT_OFF);
    },
    /** What is new since it was last asked. */
    signals: (): readonly Signal[] => book.take(),
  };
}

/** The capability runs of an Action as `execute_tool` spans. A wish that could not be run is one that took no time. */
function createCapabilities(book: SpanBook, phases: Phases, told: ContentFilter) {
  let running: OpenSpan | null = null;

  const begin = (capability: string, index: number): OpenSpan => {
    const name = told.capability(capability);
    return book.begin({
      operation: 'execute_tool',
      subject: name,
      parent: phases.span(),
      shared: { ...POSTCHAIN, 'gen_ai.tool.name': name },
      facts: { 'gen_ai.tool.type': 'function', 'postchain.capability.index': index },
    });
  };

  return {
    start({ capability, index }: EntryOf<'capability-start'>): void {
      running = begin(capability, index);
    },
    end({ index, result }: EntryOf<'capability-end'>): void {
      const span = running ?? begin(result.capability, index);
      running = null;
      const { success, code, error, output } = result;
      const mishap = success ? null : told.mishap({ code: code ?? '', message: error });
      book.end(span, mishap, {
        'gen_ai.tool.call.arguments': told.content(JSON.stringify(result.arguments)),
        'gen_ai.tool.call.result': success ? told.content(output) : undefined,
      });
    },
    continue({ index, decidedBy, done, next, limitReached }: EntryOf<'continuation'>): void {
      book.note(phases.span(), 'postchain.continuation', {
        'postchain.capability.index': index,
        'postchain.decided_by': decidedBy,
        'postchain.done': done ?? undefined,
        'postchain.next': next === null ? undefined : told.capability(next),
        'postchain.limit_reached': limitReached,
      });
    },
    stop({ reason, runs, failed, code }: EntryOf<'capability-stop'>): void {
      book.note(phases.span(), 'postchain.capability_stop', {
        'postchain.reason': reason,
        'postchain.runs': runs,
        'postchain.failed': failed,
        'error.type': code ?? undefined,
      });
    },
  };
}

interface Chat {
  readonly span: OpenSpan;
  /** From the call to the first of its text, in milliseconds. */
  firstMs: number | null;
  readonly text: string[];
}

interface ChatParts {
  readonly book: SpanBook;
  readonly run: OpenSpan;
  readonly phases: Phases;
  readonly told: ContentFilter;
  readonly tokens: TokenTotals;
  readonly conversation: Facts;
  readonly provider: string | null;
}

/** The model calls of a run as `chat` spans: one an attempt, under its phase; those of synthesis under the run. */
function createChats({ prompts, modelId, fallbackModelIds }: RunStart, parts: ChatParts) {
  const { book, run, phases, told, tokens } = parts;
  const modelIds = [modelId, ...fallbackModelIds];
  const open = new Map<string, Chat>();
  /** Where the attempts of an execution stand, and the model that it has fallen back to. */
  const executions = new Map<string, { readonly parent: OpenSpan; model: number }>();
  /** A chart may start a call before it says in which phase. */
  let early: EntryOf<'attempt-start'>[] = [];

  const modelOf = (index: number): Facts => modelFacts(modelIds[index] ?? modelId, parts.provider);

  function begin({ attemptId, task, attempt }: EntryOf<'attempt-start'>): void {
    const execution = executions.get(attemptId) ?? { parent: task === 'synthesis' ? run : phases.span(), model: 0 };
    executions.set(attemptId, execution);
    const shared = modelOf(execution.model);
    const prompt = prompts[task];
    const span = book.begin({
      operation: 'chat',
      subject: String(shared['gen_ai.request.model']),
      parent: execution.parent,
      shared,
      facts: {
        ...parts.conversation,
        'gen_ai.request.stream': true,
        'gen_ai.prompt.name': prompt?.name,
        'postchain.prompt.version': prompt?.version,
        'postchain.task': task,
        'postchain.attempt': attempt,
      },
    });
    open.set(attemptId, { span, firstMs: null, text: [] });
  }

  return {
    /** A phase has begun, with those of its calls that began before it was said. */
    enter(): void {
      executions.clear();
      const entering = early;
      early = [];
      for (const entry of entering) begin(entry);
    },
    start(entry: EntryOf<'attempt-start'>): void {
      const step = stepOf(entry.attemptId);
      if (entry.task === 'synthesis' || step === null || phases.isAt(step)) begin(entry);
      else early.push(entry);
    },
    hear({ attemptId, text }: EntryOf<'text-delta'>): void {
      const chat = open.get(attemptId);
      if (chat === undefined) return;
      chat.firstMs ??= book.nowMs() - chat.span.startMs;
      if (told.content(true)) chat.text.push(text);
    },
    end({ attemptId, failure, usage }: EntryOf<'attempt-end'>): void {
      const chat = open.get(attemptId);
      if (chat === undefined) return;
      open.delete(attemptId);
      tokens.add(chat.span, usage);
      const said = told.content(messageText('assistant', chat.text.join(''), failure === null ? 'stop' : 'error'));
      book.end(chat.span, failure && told.mishap(failure), {
        'gen_ai.usage.input_tokens': usage.inputTokens,
        'gen_ai.usage.output_tokens': usage.outputTokens,
        'gen_ai.response.time_to_first_chunk': chat.firstMs === null ? undefined : chat.firstMs / 1000,
        'gen_ai.output.messages': said,
        'http.response.status_code': failure?.status ?? undefined,
        'postchain.usage.estimated': usage.estimated,
        'postchain.failure.stage': failure?.stage,
      });
    },
    retry({ attemptId, attempt, model, inMs }: EntryOf<'attempt-retry'>): void {
      const execution = executions.get(attemptId);
      if (execution === undefined) return;
      execution.model = model;
      book.note(execution.parent, 'postchain.retry', {
        ...modelOf(model),
        'postchain.attempt': attempt,
        'postchain.backoff_ms': inMs,
      });
    },
    /** The chart went on without them: no end of theirs will come. */
    breakOff(): void {
      for (const { span } of open.values()) {
        tokens.lose(span);
        book.end(span, BROKEN_OFF);
      }
      open.clear();
    },
  };
}

/** Executions are named by the step that they belong to: `s3.intention`. */
function stepOf(attemptId: string): number | null {
  const [, step] = /^s(\d+)\./u.exec(attemptId) ?? [];
  return step === undefined ? null : Number(step);
}
