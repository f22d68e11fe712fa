import type { Message } from '../contracts/message.ts';
import type { Passage } from '../contracts/passage.ts';
import type { Phase } from '../contracts/phase.ts';
import type { BriefReply, PhaseInput, Replies } from '../contracts/phase-io.ts';
import { contradictionsIn } from '../heuristics/contradiction.ts';
import { REQUEST } from './context.ts';

export type Material =
  | { readonly message: Message; readonly passage: null }
  | { readonly message: null; readonly passage: Passage };

/** Returns what a prompt shows besides the request, in order: the messages of the context, then the new passages of Experience. */
export function materialOf(input: PhaseInput): readonly Material[] {
  const known = new Set(input.messages.map(({ id }) => id));
  const passages = input.phase === 'experience' ? input.passages.filter(({ id }) => !known.has(id)) : [];
  return [
    ...input.messages
      .filter(({ tags }) => !tags.includes(REQUEST))
      .map((message): Material => ({ message, passage: null })),
    ...passages.map((passage): Material => ({ message: null, passage })),
  ];
}

/** Returns the ids of the material in the order of its numbers, which count from 1. */
export const idsOf = (input: PhaseInput): readonly string[] =>
  materialOf(input).map(({ message, passage }) => (message ?? passage).id);

/** The ratings that stand for exceptions, 0..1. */
const RATING = { irrelevant: 0.1, important: 0.9, unclear: 0.3 } as const;

/**
 * Returns the reply of each phase that a brief reply stands for. Numbers without material are ignored. The text becomes Yield's answer or,
 * if the reply is not for Yield, the text of Understanding, or else of Experience.
 */
export function expandReply(
  reply: BriefReply,
  phases: readonly Phase[],
  input: PhaseInput,
): { readonly [P in Phase]?: Replies[P] } {
  const ids = idsOf(input);
  const idAt = (number: number | null): readonly string[] => ids.filter((_, at) => at + 1 === number);
  const exceptions = (kind: BriefReply['except'][number]['kind']) =>
    reply.except.filter((exception) => exception.kind === kind);
  const texts = (kind: BriefReply['except'][number]['kind']) =>
    exceptions(kind).flatMap(({ text }) => (text === '' ? [] : [text]));
  const irrelevant = exceptions('irrelevant').flatMap(({ of, text }) => idAt(of).map((id) => ({ id, reason: text })));
  const isRelevant = (id: string): boolean => irrelevant.every((one) => one.id !== id);
  const passages = input.phase === 'experience' ? input.passages.map(({ id }) => id) : [];
  const reader = ['yield', 'understanding', 'experience'].find((phase) => phases.includes(phase as Phase));
  const { answer, confidence, enough, done, next } = reply;
  const isUnclear = exceptions('unclear').length > 0;
  const parts: { readonly [P in Phase]?: Replies[P] } = {
    experience: {
      summary: reader === 'experience' ? answer : '',
      relevantPassageIds: passages.filter(isRelevant),
      missing: texts('missing'),
      confidence,
    },
    intention: {
      goal: '',
      alternatives: texts('unclear'),
      clarity: isUnclear ? RATING.unclear : 1,
      unclearIntent: isUnclear || contradictionsIn(input.request).length > 0,
      alignment: irrelevant.map(({ id }) => ({ messageId: id, score: RATING.irrelevant })),
    },
    observation: {
      insights: texts('insight'),
      undigested: false,
      entities: [],
      connections: [],
      importance: exceptions('important').flatMap(({ of }) =>
        idAt(of).map((messageId) => ({ messageId, score: RATING.important })),
      ),
    },
    understanding: {
      integrated: reader === 'understanding' ? answer : '',
      assessments: irrelevant.map(({ id, reason }) => ({ messageId: id, relevance: RATING.irrelevant, reason })),
    },
    yield: {
      answer,
      confidence,
      taskComplete: done,
      informationSufficiency: enough,
      needsTools: next === 'action',
      proposedPhase: next,
      rationale: '',
      usedMessageIds: reply.used.flatMap(idAt),
      noEvidence: exceptions('nothing_found').length > 0,
      notes: texts('doubt').join(' '),
    },
  };
  return Object.fromEntries(phases.map((phase) => [phase, parts[phase]]));
}
