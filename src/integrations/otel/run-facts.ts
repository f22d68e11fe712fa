import type { RunStart } from '../../../machines/contracts/journal.ts';
import type { FinalAnswer } from '../../../machines/contracts/synthesis.ts';
import { type ContentFilter, messageText } from './content-filter.ts';
import type { EntryOf } from './entries.ts';
import type { Facts } from './spans.ts';

/** What a run is known by from its start. */
export function startFacts(start: RunStart, told: ContentFilter): Facts {
  return {
    'gen_ai.input.messages': told.content(messageText('user', start.request)),
    'postchain.run.id': start.runId,
    'postchain.chart.id': start.chart.id,
    'postchain.chart.digest': start.chart.digest,
    'postchain.mode': start.mode,
    'postchain.forked_from': start.forkedFrom?.runId,
  };
}

/** What came of it. */
export function endFacts(
  { status, usage }: EntryOf<'run-end'>,
  answer: FinalAnswer | null,
  told: ContentFilter,
): Facts {
  return {
    'gen_ai.output.messages': told.content(answer && messageText('assistant', answer.answerText, 'stop')) ?? undefined,
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
