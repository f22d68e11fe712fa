import type { CallError } from '../../machines/contracts/events.ts';
import type { ExternalEvent, JournalEntry } from '../../machines/contracts/journal.ts';
import { firstChars } from '../../machines/text/clip.ts';
import { actorIn, humanizeEvent, type WhyFact } from './explain.ts';
import { humanize } from './format.ts';
import type { RunFold } from './run-fold.ts';
import { countUpTo } from './sorted.ts';
import type { Spans } from './spans.ts';
import { excerpt, jsonExcerpt } from './text.ts';

export type EventOutcome =
  /** Transitions, by their entries. */
  | { readonly kind: 'transitions'; readonly transitions: readonly number[] }
  /** Handled by actions, without exiting or entering a state. */
  | { readonly kind: 'handled' }
  /** There are transitions for it, but all guards were false. */
  | { readonly kind: 'guards-false'; readonly guards: readonly string[] }
  | { readonly kind: 'no-transition' }
  /** The actor of an observed system failed while processing it. */
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'stopped' }
  /** Effects may still follow. */
  | { readonly kind: 'pending' };

interface OutcomeContext {
  readonly fold: RunFold;
  /** Nothing more will follow the last entry. */
  readonly ended: boolean;
}

/** The outcome of an external event, as the entries after it record it. */
export function eventOutcome(entry: JournalEntry & ExternalEvent, { fold, ended }: OutcomeContext): EventOutcome {
  if (entry.type === 'stopped') return { kind: 'stopped' };
  const { externalEvents, transitions: all } = fold;
  const { to } = externalEvents.stepOf(entry.seq);
  const transitions = all.seqs.slice(countUpTo(all.seqs, entry.seq), countUpTo(all.seqs, to - 1));
  if (transitions.length > 0) return { kind: 'transitions', transitions };
  const { isHandled, ignored, failure } = externalEvents.outcomeOf(entry.seq);
  if (failure !== undefined) return { kind: 'failed', message: failureText(failure) };
  if (ignored.length > 0) return { kind: 'guards-false', guards: [...new Set(ignored)] };
  if (!ended && !Number.isFinite(to)) return { kind: 'pending' };
  return { kind: isHandled ? 'handled' : 'no-transition' };
}

function failureText(error: unknown): string {
  const { message = jsonExcerpt(error, MAX_CHARS) } = Object(error) as { readonly message?: string };
  return excerpt(`${message}`, MAX_CHARS);
}

interface ExplainedEvent {
  readonly name: string;
  readonly facts: readonly WhyFact[];
}

const MAX_CHARS = 400;
const errorFact = ({ message }: CallError): WhyFact => ({ label: 'Error', text: message, verbatim: true });

export function explainEvent(entry: JournalEntry & ExternalEvent, { calls }: Spans): ExplainedEvent {
  switch (entry.type) {
    case 'delivery': {
      const { type, ...members } = entry.event as { readonly type: string };
      const { actor, sender } = entry as { readonly actor?: string; readonly sender?: string | null };
      const data = JSON.stringify(members);
      const facts: WhyFact[] = [];
      if (actor) facts.push({ label: 'To', text: actorIn(actor), verbatim: true });
      if (typeof sender === 'string') facts.push({ label: 'From', text: actorIn(sender), verbatim: true });
      if (data !== '{}') facts.push({ label: 'With', text: firstChars(data, MAX_CHARS), verbatim: true });
      return { name: humanizeEvent(type), facts };
    }
    case 'activity-event': {
      const { event } = entry;
      const call = calls[entry.activity];
      const subject = call === undefined || call.subject === '' ? '' : ` for ${call.subject}`;
      const activity =
        entry.source === 'readReply' ? `the model's reply${subject}` : `${humanize(actorIn(entry.source))}${subject}`;
      const facts: WhyFact[] = [{ label: 'Call', text: `${entry.activity}: ${activity}` }];
      if (event.type === 'failed') facts.push(errorFact(event.error));
      if (event.type === 'reply.ended' && event.reply.failure !== null)
        facts.push({
          label: 'Failure',
          text: `${event.reply.failure.code}: ${event.reply.failure.message}`,
          verbatim: true,
        });
      if (event.type === 'done') return { name: `the result of ${activity}`, facts };
      return { name: event.type === 'failed' ? `the error of ${activity}` : event.type, facts };
    }
    case 'timer':
      return { name: 'a delay that elapsed', facts: [{ label: 'Timer', text: String(entry.timer) }] };
    case 'failed':
      return { name: `the failure of ${actorIn(entry.actor)}`, facts: [errorFact(entry.error)] };
    case 'stopped':
      return { name: 'an external stop', facts: [] };
    default:
      return entry satisfies never;
  }
}
