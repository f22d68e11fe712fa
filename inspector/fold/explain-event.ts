import type { ExternalEvent, JournalEntry } from '../../machines/contracts/journal.ts';
import { eventInWords } from './event-words.ts';
import { namedInWords } from './guard-words.ts';
import type { Spans } from './spans.ts';
import type { StimulusOutcome } from './stimulus-outcome.ts';
import type { WhyFact } from './why-facts.ts';

/** What came from outside, in a few words and in full. */
export interface ExplainedEvent {
  readonly name: string;
  readonly facts: readonly WhyFact[];
}

const LONGEST = 400;

export function explainEvent(entry: JournalEntry & ExternalEvent, { calls }: Spans): ExplainedEvent {
  switch (entry.type) {
    case 'delivery': {
      const { type, ...members } = entry.event as { readonly type: string };
      const { actor, sender } = entry as { readonly actor?: string; readonly sender?: string | null };
      const said = JSON.stringify(members);
      const facts: WhyFact[] = [];
      if (actor !== undefined) facts.push({ label: 'To', text: actor, said: true });
      if (typeof sender === 'string') facts.push({ label: 'From', text: sender, said: true });
      if (said !== '{}') facts.push({ label: 'With', text: said.slice(0, LONGEST), said: true });
      return { name: eventInWords(type), facts };
    }
    case 'call-event': {
      const { event } = entry;
      const call = calls[entry.call];
      const subject = call === undefined || call.subject === '' ? '' : ` for ${call.subject}`;
      const asked =
        entry.port === 'readReply' ? `the model's reply${subject}` : `${namedInWords(entry.port)}${subject}`;
      const facts: WhyFact[] = [{ label: 'Call', text: `${entry.call}: ${asked}` }];
      if (event.type === 'broken') facts.push({ label: 'Error', text: event.error.message, said: true });
      if (event.type === 'reply.ended' && event.reply.failure !== null)
        facts.push({
          label: 'Failure',
          text: `${event.reply.failure.code}: ${event.reply.failure.message}`,
          said: true,
        });
      if (event.type === 'settled') return { name: `the answer to ${asked}`, facts };
      return { name: event.type === 'broken' ? `the error of ${asked}` : event.type, facts };
    }
    case 'timer':
      return { name: 'a delay that was over', facts: [{ label: 'Timer', text: String(entry.timer) }] };
    case 'run-stopped':
      return { name: 'a stop from outside', facts: [] };
    default:
      return entry satisfies never;
  }
}

/** What became of it, in one sentence. */
export function outcomeInWords(outcome: StimulusOutcome): string {
  switch (outcome.kind) {
    case 'led':
      return outcome.transitions.length === 1
        ? 'It led to a transition:'
        : `It led to ${outcome.transitions.length} transitions:`;
    case 'taken-in':
      return 'It was taken in without a transition: no state was left or entered.';
    case 'refused':
      return `Ignored: no candidate held (${outcome.guards.map(namedInWords).join(', ')}).`;
    case 'no-way':
      return 'Ignored: the chart has no transition for it here.';
    case 'stopped':
      return 'The run was stopped by it: nothing follows.';
    case 'unknown':
      return 'No transition followed; no chart is there to say why.';
    case 'open':
      return 'It has just come: what becomes of it is not known yet.';
    default:
      return outcome satisfies never;
  }
}
