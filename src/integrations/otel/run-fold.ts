import { EXTERNAL_EVENTS, type JournalEntry, type RunStart } from '../../../machines/contracts/journal.ts';
import type { FinalAnswer } from '../../../machines/contracts/synthesis.ts';
import { type ContentFilter, createContentFilter, messageText } from './content-filter.ts';
import { createModelCalls } from './model-calls.ts';
import { createPhases, type Phases } from './phases.ts';
import {
  createSpanLog,
  type EntryOf,
  type OpenSpan,
  POSTCHAIN,
  type SpanAttributes,
  type SpanError,
  type SpanLog,
  type Telemetry,
} from './spans.ts';

interface FoldOptions {
  readonly workflow: string | null;
  readonly provider: string | null;
  readonly content: boolean;
}

/** The error of spans that are still open when the journal ends. */
const CUT_OFF: SpanError = { code: 'journal_cut_off', message: 'The journal ends before the run does.' };

/** A transition from this state leaves the current phase. */
const CYCLING = 'postChain.cycling';

/** Sends the journal of a run, live or recorded, to OpenTelemetry as spans and measurements. */
export function createRunFold(start: RunStart, { workflow, provider, content }: FoldOptions, telemetry: Telemetry) {
  const filter = createContentFilter(start, content);
  const spans = createSpanLog(telemetry, start.startedAtMs);
  const name = workflow ?? start.chart.id;
  const conversation: SpanAttributes = { 'gen_ai.conversation.id': start.sessionId ?? undefined };
  const run = spans.begin({
    operation: 'invoke_workflow',
    subject: name,
    parent: null,
    shared: { ...POSTCHAIN, 'gen_ai.workflow.name': name },
    attributes: {
      ...conversation,
      'gen_ai.input.messages': filter.content(messageText('user', start.request)),
      'postchain.run.id': start.runId,
    },
  });
  const phases = createPhases(spans, run, filter, conversation);
  const modelCalls = createModelCalls(start, { spans, run, phases, filter, conversation, provider });
  const capabilities = createCapabilities(spans, phases, filter);
  let answer: FinalAnswer | null = null;

  function onTransition(entry: EntryOf<'transition'>): void {
    addGuardEvents(entry, spans, phases, filter);
    if (entry.machine === 'attempt' || entry.target.length === 0) return;
    modelCalls.abort('phase');
    if (entry.source === CYCLING) phases.leave(entry.target.includes('synthesizing'));
  }

  function endRun(entry: EntryOf<'run-end'>): void {
    phases.close();
    modelCalls.abort('run');
    modelCalls.settleTokens(entry.usage);
    const { reason = null } = answer?.metadata ?? {};
    const error = entry.status === 'degraded' ? filter.errorOf({ code: reason ?? '', message: null }) : null;
    spans.end(run, error, endAttributes(entry, answer, filter));
  }

  const handlers: Handlers = {
    'phase-start': (entry) => {
      phases.start(entry);
      modelCalls.enterPhase();
    },
    'phase-end': phases.end,
    decision: phases.decide,
    transition: onTransition,
    'attempt-start': modelCalls.start,
    'text-delta': modelCalls.addText,
    'attempt-end': modelCalls.end,
    'attempt-retry': modelCalls.retry,
    'capability-start': capabilities.start,
    'capability-end': capabilities.end,
    recovery: ({ phase, action, failure }) =>
      spans.addEvent(run, 'postchain.recovery', {
        'postchain.phase': phase,
        'postchain.recovery': action,
        'error.type': filter.errorOf(failure).code,
      }),
    retrieval: ({ query, passages, widened, failure }) =>
      spans.addEvent(phases.span(), 'postchain.retrieval', {
        'postchain.passages': passages,
        'postchain.widened': widened,
        'postchain.query': filter.content(query),
        'postchain.succeeded': failure === null,
      }),
    answer: (entry) => {
      answer = entry.answer;
    },
    'run-end': endRun,
  };

  return {
    take(entry: JournalEntry): void {
      spans.moveTo(entry.atMs);
      if (EXTERNAL_EVENTS.has(entry.type)) phases.settle();
      handle(handlers, entry);
    },
    /** Ends the open spans. No more entries follow. */
    finish(): void {
      if (!spans.isOpen(run)) return;
      modelCalls.enterPhase();
      spans.endAll(CUT_OFF);
    },
  };
}

/** Records capability runs as `execute_tool` spans. A call that was rejected before it ran gets a span without duration. */
function createCapabilities(spans: SpanLog, phases: Phases, filter: ContentFilter) {
  /** By the number of the call: calls of one reply run at the same time. */
  const running = new Map<number, OpenSpan>();

  const begin = (capability: string, index: number): OpenSpan => {
    const name = filter.capability(capability);
    return spans.begin({
      operation: 'execute_tool',
      subject: name,
      parent: phases.span(),
      shared: { ...POSTCHAIN, 'gen_ai.tool.name': name },
      attributes: { 'gen_ai.tool.type': 'function', 'postchain.capability.index': index },
    });
  };

  return {
    start({ capability, index }: EntryOf<'capability-start'>): void {
      running.set(index, begin(capability, index));
    },
    end({ index, result }: EntryOf<'capability-end'>): void {
      const span = running.get(index) ?? begin(result.capability, index);
      running.delete(index);
      const { success, code, output } = result;
      const error = success ? null : filter.errorOf({ code: code ?? '', message: result.error });
      spans.end(span, error, {
        'gen_ai.tool.call.arguments': filter.content(JSON.stringify(result.arguments)),
        'gen_ai.tool.call.result': success ? filter.content(output) : undefined,
      });
    },
  };
}

/** The state whose transitions are the rules of Yield, in order. */
const DECIDING = 'postChain.cycling.yield.deciding';

function addGuardEvents(
  { source, candidates }: EntryOf<'transition'>,
  spans: SpanLog,
  phases: Phases,
  filter: ContentFilter,
) {
  if (source !== DECIDING) return;
  for (const { guard, result, inputs } of candidates) {
    if (guard === null || result === 'not-evaluated') continue;
    const attributes = { 'postchain.guard': guard, 'postchain.holds': result === 'taken' };
    spans.addEvent(phases.span(), 'postchain.guard', { ...attributes, ...filter.inputs(inputs ?? {}) });
  }
}

function endAttributes(
  { status, usage }: EntryOf<'run-end'>,
  answer: FinalAnswer | null,
  filter: ContentFilter,
): SpanAttributes {
  return {
    'gen_ai.output.messages':
      filter.content(answer && messageText('assistant', answer.answerText, 'stop')) ?? undefined,
    'postchain.status': status,
    'postchain.degradation': answer?.metadata.reason ?? undefined,
    'postchain.confidence': answer?.confidence,
    'postchain.cycles': answer?.metadata.cycles,
    'postchain.usage.model_calls': usage.modelCalls,
    'postchain.usage.input_tokens': usage.inputTokens,
    'postchain.usage.output_tokens': usage.outputTokens,
    'postchain.usage.estimated': usage.estimated,
    'postchain.cost.amount': answer?.metadata.cost?.amount,
    'postchain.cost.currency': answer?.metadata.cost?.currency,
  };
}

/** Handlers by entry type; other entries are ignored. */
type Handlers = { readonly [Type in JournalEntry['type']]?: (entry: EntryOf<Type>) => void };

function handle(handlers: Handlers, entry: JournalEntry): void {
  (handlers[entry.type] as ((entry: JournalEntry) => void) | undefined)?.(entry);
}
