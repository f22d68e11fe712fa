import { sentencesOf } from '../../../machines/text/sentences.ts';
import { stemsOf } from '../../../machines/text/terms.ts';

const MAX_FACETS = 5;
const MAX_REQUEST_CHARS = 20_000;
const NEXT_QUESTION =
  /[,;]?\s+and\s+(?=(?:(?:in|by|from|to|at|for|with|on) )?(?:what|which|who|whom|whose|how|why|when|where)\b)/i;
const COMPARISON = /\b(?:compare|compared|contrast|differ|differs|difference|differences|versus|vs)\b/i;

/** The questions within a request, in order; empty unless there is more than one. */
export function facetsOf(request: string): string[] {
  const asking = sentencesOf(request.slice(0, MAX_REQUEST_CHARS)).filter(({ text }) => /[?？]/.test(text));
  const facets = asking.flatMap(({ text }) => text.split(NEXT_QUESTION)).filter((facet) => stemsOf(facet).length > 0);
  return facets.length < 2 ? [] : facets.slice(0, MAX_FACETS).map((facet) => facet.trim());
}

/** Whether a request asks for more than one thing: several questions, or a comparison. */
export function asksSeveralThings(request: string): boolean {
  return COMPARISON.test(request.slice(0, MAX_REQUEST_CHARS)) || facetsOf(request).length > 0;
}
