import type { Phase } from '../../machines/contracts/phase.ts';
import { type BriefReply, type PhaseInput, type Replies, replySchemas } from '../../machines/contracts/phase-io.ts';
import { idsOf } from '../../machines/policies/brief-reply.ts';

type Parts = { readonly [P in Phase]?: Replies[P] };

/** A brief reply reports a message that is rated below the first or above the second. */
const [IRRELEVANT, IMPORTANT] = [0.3, 0.65];

/** Whether each part is a valid reply to its phase. */
export const areValid = (parts: Readonly<Record<string, unknown>>): parts is Parts =>
  Object.entries(parts).every(([phase, part]) => replySchemas[phase as Phase]?.safeParse(part).success ?? false);

/** Returns the brief reply that stands for the replies of single phases. Ratings that it does not report are lost. */
export function briefReply(parts: Parts, input: PhaseInput): BriefReply {
  const { experience, intention, observation, understanding, yield: answered } = parts;
  const ids = idsOf(input);
  const numberOf = (id: string): readonly number[] => (ids.includes(id) ? [ids.indexOf(id) + 1] : []);
  const relevant = new Set(experience?.relevantPassageIds);
  const ratings = new Map(understanding?.assessments.map(({ messageId, relevance }) => [messageId, relevance]));
  const passages = experience !== undefined && input.phase === 'experience' ? input.passages.map(({ id }) => id) : [];
  const irrelevant = [
    ...passages.filter((id) => !relevant.has(id) && (ratings.get(id) ?? 0) < IRRELEVANT),
    ...[...ratings].flatMap(([id, rating]) => (rating < IRRELEVANT && !passages.includes(id) ? [id] : [])),
  ];
  const important = observation?.importance.flatMap(({ messageId, score }) => (score > IMPORTANT ? [messageId] : []));
  const except = (kind: BriefReply['except'][number]['kind'], texts: readonly string[] = []) =>
    texts.map((text) => ({ kind, of: null, text }));
  const about = (kind: BriefReply['except'][number]['kind'], given: readonly string[] = []) =>
    given.flatMap(numberOf).map((of) => ({ kind, of, text: '' }));
  const confidence = answered?.confidence ?? experience?.confidence ?? 1;
  return {
    answer: answered?.answer ?? (understanding?.integrated || (experience?.summary ?? '')),
    used: answered?.usedMessageIds.flatMap(numberOf) ?? [],
    confidence,
    enough: answered?.informationSufficiency ?? confidence,
    done: answered?.taskComplete ?? false,
    next: answered?.proposedPhase ?? null,
    except: [
      ...about('irrelevant', irrelevant),
      ...about('important', important),
      ...except('missing', experience?.missing),
      ...(intention?.unclearIntent ? except('unclear', [intention.alternatives.join(' / ')]) : []),
      ...except('insight', observation?.insights),
      ...(answered?.noEvidence ? except('nothing_found', ['']) : []),
      ...(answered?.notes ? except('doubt', [answered.notes]) : []),
    ],
  };
}
