import type { ContentFilter } from './content-filter.ts';
import type { EntryOf, Handlers } from './entries.ts';
import type { Phases } from './phases.ts';
import type { SpanBook } from './span-book.ts';
import type { OpenSpan } from './spans.ts';

/** Where the rules of Yield are asked, in their order. */
const DECIDING = 'postChain.cycling.yield.deciding';

/** Every rule that was asked about a decision, whether it held, and what it saw. */
export function noteGuards(
  { source, candidates }: EntryOf<'transition'>,
  book: SpanBook,
  phases: Phases,
  told: ContentFilter,
) {
  if (source !== DECIDING) return;
  for (const { guard, verdict, inputs } of candidates) {
    if (guard === null || verdict === 'not-evaluated') continue;
    const facts = { 'postchain.guard': guard, 'postchain.holds': verdict === 'taken' };
    book.note(phases.span(), 'postchain.guard', { ...facts, ...told.inputs(inputs ?? {}) });
  }
}

/** What is told as events: what came from outside, recovery, the session; of a phase its search, consent and direction. */
export function spanEvents(book: SpanBook, run: OpenSpan, phases: Phases, told: ContentFilter): Handlers {
  return {
    delivery: ({ event }) => book.note(run, 'postchain.delivery', { 'postchain.event': event.type }),
    'run-stopped': () => book.note(run, 'postchain.stopped'),
    resumed: () => book.note(run, 'postchain.resumed'),
    recovery: ({ phase, how, failure }) =>
      book.note(run, 'postchain.recovery', {
        'postchain.phase': phase,
        'postchain.recovery': how,
        'error.type': told.mishap(failure).code,
      }),
    retrieval: ({ query, passages, widened, failure }) =>
      book.note(phases.span(), 'postchain.retrieval', {
        'postchain.passages': passages,
        'postchain.widened': widened,
        'postchain.query': told.content(query),
        'postchain.succeeded': failure === null,
      }),
    'consent-asked': ({ request }) =>
      book.note(phases.span(), 'postchain.consent_asked', { 'postchain.messages': request.items.length }),
    'consent-resolved': ({ kept, summarised, removed, by }) =>
      book.note(phases.span(), 'postchain.consent_resolved', {
        'postchain.kept': kept,
        'postchain.summarised': summarised,
        'postchain.removed': removed,
        'postchain.consent_by': by,
      }),
    'direction-asked': ({ confidence, answer }) =>
      book.note(phases.span(), 'postchain.direction_asked', {
        'postchain.confidence': confidence,
        'postchain.answer': told.content(answer),
      }),
    'direction-refused': ({ got }) =>
      book.note(phases.span(), 'postchain.direction_refused', { 'postchain.got': told.content(got) }),
    'session-recalled': ({ turns, problem }) =>
      book.note(run, 'postchain.session_recalled', {
        'postchain.turns': turns,
        'postchain.succeeded': problem === null,
      }),
    'session-stored': ({ problem }) =>
      book.note(run, 'postchain.session_stored', { 'postchain.succeeded': problem === null }),
  };
}
