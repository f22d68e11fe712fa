import type { CallError } from '../../machines/contracts/events.ts';
import type { ExternalEvent, JournalEntry } from '../../machines/contracts/journal.ts';
import { firstChars } from '../../machines/text/clip.ts';
import { actorIn, type WhyFact } from './explain.ts';
import { humanize } from './format.ts';
import type { RunFold } from './run-fold.ts';
import { countUpTo } from './sorted.ts';
import type { Spans } from './spans.ts';

export type EventOutcome =
  /** Transitions, by their entries. */
  | { readonly kind: 'transitions'; readonly transitions: readonly number[] }
  /** Handled by actions, without exiting or entering a state. */
  | { readonly kind: 'handled' }
  /** There are transitions for it, but all guards were false. */
  | { readonly kind: 'guards-false'; readonly guards: readonly string[] }
  | { readonly kind: 'no-transition' }
  /** Effects may still follow. */
  | { readonly kind: 'pending' };

interface OutcomeContext {
  readonly fold: RunFold;
  /** Nothing more will follow the last entry. */
  readonly ended: boolean;
}

/** The outcome of an external event of a run, as the entries after it record it. */
export function eventOutcome({ seq }: JournalEntry & ExternalEvent, { fold, ended }: OutcomeContext): EventOutcome {
  const { externalEvents, transitions: all } = fold;
  const { to } = externalEvents.stepOf(seq);
  const transitions = all.seqs.slice(countUpTo(all.seqs, seq), countUpTo(all.seqs, to - 1));
  if (transitions.length > 0) return { kind: 'transitions', transitions };
  const { isHandled, ignored } = externalEvents.outcomeOf(seq);
  if (ignored.length > 0) return { kind: 'guards-false', guards: ignored };
  if (!ended && !Number.isFinite(to)) return { kind: 'pending' };
  return { kind: isHandled ? 'handled' : 'no-transition' };
}

const MAX_CHARS = 400;
const errorFact = ({ message }: CallError): WhyFact => ({ label: 'Error', text: message, verbatim: true });

/** What is recorded of an external event of a run. */
export function eventFacts(entry: JournalEntry & ExternalEvent, { calls }: Spans): readonly WhyFact[] {
  switch (entry.type) {
    case 'delivery': {
      const { type: _, ...members } = entry.event;
      const data = JSON.stringify(members);
      return data === '{}' ? [] : [{ label: 'With', text: firstChars(data, MAX_CHARS), verbatim: true }];
    }
    case 'activity-event': {
      const { event, activity, source } = entry;
      const { subject = '' } = calls[activity] ?? {};
      const name = source === 'readReply' ? "the model's reply" : humanize(actorIn(source));
      const facts: WhyFact[] = [{ label: 'Call', text: `${activity}: ${name}${subject && ` for ${subject}`}` }];
      if (event.type === 'failed') facts.push(errorFact(event.error));
      if (event.type !== 'reply.ended' || event.reply.failure === null) return facts;
      const { code, message } = event.reply.failure;
      return [...facts, { label: 'Failure', text: `${code}: ${message}`, verbatim: true }];
    }
    case 'timer':
      return [{ label: 'Timer', text: String(entry.timer) }];
    case 'failed':
      return [errorFact(entry.error)];
    case 'stopped':
      return [];
    default:
      return entry satisfies never;
  }
}
