import type { ContentFilter } from './content-filter.ts';
import type { EntryOf } from './entries.ts';
import { POSTCHAIN } from './model-name.ts';
import type { Phases } from './phases.ts';
import type { SpanBook } from './span-book.ts';
import type { OpenSpan } from './spans.ts';

/** The capability runs of an Action as `execute_tool` spans. A wish that could not be run is one that took no time. */
export function createCapabilities(book: SpanBook, phases: Phases, told: ContentFilter) {
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
