import type { EarlyReply } from '../../../machines/contracts/attempt.ts';
import type { CallEvent } from '../../../machines/contracts/events.ts';
import type { Phase } from '../../../machines/contracts/phase.ts';
import type { BriefReply, Replies } from '../../../machines/contracts/phase-io.ts';
import { count } from '../../internal/printable.ts';

const FINDINGS: { readonly [P in Phase]: (reply: Replies[P]) => string } = {
  action: ({ calls, confidence }) =>
    calls.length === 0
      ? confidenceText('draft', confidence)
      : `requested ${calls.map(({ capability }) => capability).join(', ')}`,
  experience: ({ relevantPassageIds, confidence }) =>
    confidenceText(count(relevantPassageIds.length, 'relevant passage'), confidence),
  intention: ({ clarity, alternatives: { length } }) =>
    `goal, clarity ${clarity.toFixed(2)}${length === 0 ? '' : `, ${count(length, 'alternative')}`}`,
  observation: ({ insights, entities, connections }) =>
    [
      count(insights.length, 'insight'),
      count(entities.length, 'entity', 'entities'),
      count(connections.length, 'connection'),
    ].join(', '),
  understanding: ({ assessments }) => `${count(assessments.length, 'message')} rated by the model`,
  yield: ({ confidence }) => confidenceText('answer', confidence),
};

/** The finding of each phase in a brief reply. */
const BRIEF_FINDINGS: { readonly [P in Exclude<Phase, 'action'>]: (reply: BriefReply) => string } = {
  experience: (reply) => {
    const [irrelevant, missing] = [exceptionsIn(reply, 'irrelevant'), exceptionsIn(reply, 'missing')];
    // Passages or other messages: the reply has only their numbers.
    const relevance = irrelevant === 0 ? 'all passages relevant' : `${irrelevant} irrelevant`;
    return confidenceText(missing === 0 ? relevance : `${relevance}, ${missing} missing`, reply.confidence);
  },
  intention: (reply) => (exceptionsIn(reply, 'unclear') === 0 ? 'request is clear' : 'request is unclear'),
  observation: (reply) => count(exceptionsIn(reply, 'insight'), 'insight'),
  understanding: (reply) =>
    exceptionsIn(reply, 'irrelevant') === 0 ? 'nothing irrelevant' : `${exceptionsIn(reply, 'irrelevant')} irrelevant`,
  yield: ({ confidence }) => confidenceText('answer', confidence),
};

const exceptionsIn = ({ except }: BriefReply, kind: BriefReply['except'][number]['kind']): number =>
  except.filter((exception) => exception.kind === kind).length;

const confidenceText = (what: string, confidence: number): string => `${what}, confidence ${confidence.toFixed(2)}`;

/** Returns the value of the reply that a model call ended with, whether it started early or not; undefined if there is none. */
export function replyValue({ source, event }: { readonly source: string; readonly event: CallEvent }): unknown {
  if (event.type === 'reply.ended') return event.reply.value;
  return event.type === 'done' && source === 'callAhead' ? (event.output as EarlyReply).value : undefined;
}

/**
 * Describes a phase's reply, or its member of a reply, in a few words, without its text; empty if it is not a valid reply of that phase.
 * The reply comes from a journal, which anything may have written.
 */
export function phaseFinding(phase: Phase, reply: unknown): string {
  try {
    if (phase !== 'action' && Object.hasOwn(Object(reply), 'enough')) return BRIEF_FINDINGS[phase](reply as BriefReply);
    const part = Object.hasOwn(Object(reply), phase) ? (reply as Record<Phase, unknown>)[phase] : reply;
    return (FINDINGS[phase] as (reply: unknown) => string)(part);
  } catch {
    return '';
  }
}
