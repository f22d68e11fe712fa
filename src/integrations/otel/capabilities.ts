import type { ContentFilter } from './content-filter.ts';
import type { Phases } from './phases.ts';
import { type EntryOf, type OpenSpan, POSTCHAIN, type SpanLog } from './spans.ts';

/** Records capability runs as `execute_tool` spans. A call that was rejected before it ran gets a span without duration. */
export function createCapabilities(spans: SpanLog, phases: Pick<Phases, 'span'>, filter: ContentFilter) {
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
