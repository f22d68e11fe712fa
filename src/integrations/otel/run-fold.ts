import { EXTERNAL_EVENTS, type JournalEntry, type RunStart } from '../../../machines/contracts/journal-entry.ts';
import type { FinalAnswer } from '../../../machines/contracts/synthesis.ts';
import { createCapabilities } from './capabilities.ts';
import { createChats } from './chats.ts';
import { createContentFilter } from './content-filter.ts';
import { type EntryOf, type Handlers, handle } from './entries.ts';
import { POSTCHAIN } from './model-name.ts';
import { createPhases } from './phases.ts';
import { endFacts, startFacts } from './run-facts.ts';
import { createSpanBook } from './span-book.ts';
import { noteGuards, spanEvents } from './span-events.ts';
import type { Facts, Signal, SpanError } from './spans.ts';
import { createTokenTotals } from './token-totals.ts';

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
