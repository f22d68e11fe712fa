import type { RunStart } from '../../../machines/contracts/journal-entry.ts';
import { type ContentFilter, messageText } from './content-filter.ts';
import type { EntryOf } from './entries.ts';
import { modelFacts } from './model-name.ts';
import type { Phases } from './phases.ts';
import { BROKEN_OFF, type SpanBook } from './span-book.ts';
import type { Facts, OpenSpan } from './spans.ts';
import type { TokenTotals } from './token-totals.ts';

interface Chat {
  readonly span: OpenSpan;
  /** From the call to the first of its text, in milliseconds. */
  firstMs: number | null;
  readonly text: string[];
}

export interface ChatParts {
  readonly book: SpanBook;
  readonly run: OpenSpan;
  readonly phases: Phases;
  readonly told: ContentFilter;
  readonly tokens: TokenTotals;
  readonly conversation: Facts;
  readonly provider: string | null;
}

/** The model calls of a run as `chat` spans: one an attempt, under its phase; those of synthesis under the run. */
export function createChats({ prompts, modelId, fallbackModelIds }: RunStart, parts: ChatParts) {
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
