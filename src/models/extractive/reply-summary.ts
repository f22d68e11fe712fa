import type { SummaryInput, SummaryReply } from '../../../machines/contracts/summary.ts';
import { extractSummary } from '../../../machines/policies/extract.ts';

/** Extracts: the sentences of each text that say most of it, in the text's own words [U5]. */
export function replySummary({ request, texts }: SummaryInput): SummaryReply {
  const summaries = texts.map(({ messageId, content, maxChars }) => ({
    messageId,
    summary: extractSummary(content, maxChars, request),
  }));
  return { summaries };
}
