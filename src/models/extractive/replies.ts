import type {
  ActionReply,
  ExperienceReply,
  IntentionReply,
  PhaseInput,
  SummaryInput,
  SummaryReply,
  UnderstandingReply,
  YieldReply,
} from '../../../machines/contracts/phase-io.ts';
import type { SynthesisInput, SynthesisReply } from '../../../machines/contracts/synthesis.ts';
import { bestDraft } from '../../../machines/policies/synthesis/compose.ts';
import { sentencesOf } from '../../../machines/text/sentences.ts';
import { extractSummary } from '../../../machines/text/summary.ts';
import { requestTerms } from '../../../machines/text/terms.ts';
import type { Steps } from '../../internal/async.ts';
import { type Evidence, messageEvidence, passageEvidence } from './evidence.ts';
import { type FoundAnswer, findAnswer } from './find-answer.ts';
import { facetsOf, messageRelevance, namesIn, questionOf } from './question.ts';
import { clippedAtSpace, isEmptyAnswer, nothingGathered, percent, quoted } from './wording.ts';

/** Answers from the search results in the context. Calls no capability. */
export function* replyAction(input: Extract<PhaseInput, { phase: 'action' }>): Steps<ActionReply> {
  const evidence = messageEvidence(input.messages);
  const { text, confidence, missing } = yield* findAnswer(input.request, evidence);
  return { response: evidence.length === 0 ? nothingGathered(missing) : text, confidence, call: null };
}

/** A passage is relevant from this share of the best passage's coverage. */
const SHARE_OF_BEST = 0.5;
const MIN_SHARE = 0.2;

/** Summarizes the retrieved passages by their best span, and lists the request's words that no passage contains. */
export function* replyExperience(input: Extract<PhaseInput, { phase: 'experience' }>): Steps<ExperienceReply> {
  const evidence = passageEvidence(input.passages);
  const answer = yield* findAnswer(input.request, evidence);
  const question = yield* questionOf(input.request, evidence);
  const shares = question.inEvidence.map((set) => question.share(set));
  const least = Math.max(MIN_SHARE, SHARE_OF_BEST * shares.reduce((most, share) => Math.max(most, share), 0));
  return {
    summary: answer.text,
    relevantPassageIds: evidence.filter((_, at) => (shares[at] ?? 0) >= least).map(({ id }) => id),
    missing: [...answer.missing],
    confidence: answer.confidence,
  };
}

const MAX_GOAL_CHARS = 300;
const MAX_REQUEST_CHARS = 20_000;

/** Restates the request as a goal in its own sentences, and rates the messages. */
export function* replyIntention(input: Extract<PhaseInput, { phase: 'intention' }>): Steps<IntentionReply> {
  const request = input.request.slice(0, MAX_REQUEST_CHARS);
  const clarity = clarityOf(request);
  return {
    goal: goalOf(request),
    alternatives: facetsOf(request).map((facet) => clippedAtSpace(facet, MAX_GOAL_CHARS)),
    clarity,
    unclearIntent: clarity === 0,
    alignment: (yield* messageRelevance(input.request, input.messages)).map(({ message, relevance }) => ({
      messageId: message.id,
      score: message.role === 'user' && message.content.trim() === input.request.trim() ? 1 : relevance,
    })),
  };
}

/** Returns the questions in a request, or else the whole request. */
function goalOf(request: string): string {
  const sentences = sentencesOf(request).map(({ text }) => text);
  const asking = sentences.filter((sentence) => /[?？]/.test(sentence));
  return clippedAtSpace((asking.length > 0 ? asking : sentences).join(' ') || request.trim(), MAX_GOAL_CHARS);
}

/** Returns how specific a request is, 0..1, by its content words, names, code and numbers. */
function clarityOf(request: string): number {
  const words = requestTerms(request).length;
  if (words === 0) return 0;
  const afterFirstWord = request.trim().replace(/^\S+/, '');
  const specific = namesIn(afterFirstWord).length > 0 || /\d/.test(request);
  return Math.min(1, 0.3 + 0.15 * Math.min(4, words) + (specific ? 0.1 : 0));
}

/** Summarizes each text by its most representative sentences. */
export function* replySummary({ request, texts }: SummaryInput): Steps<SummaryReply> {
  const summaries: SummaryReply['summaries'] = [];
  for (const { messageId, content, maxChars } of texts) {
    summaries.push({ messageId, summary: extractSummary(content, maxChars, request) });
    yield;
  }
  return { summaries };
}

/** The draft is kept unless its coverage is lower than that of the best span by more than this. */
const DRAFT_TOLERANCE = 0.05;

/** Returns the draft, or the best span if that is better, with a note on how the answer was made. */
export function* replySynthesis(input: SynthesisInput): Steps<SynthesisReply> {
  const { request, run } = input;
  const evidence = messageEvidence(run.messages);
  const answer = yield* findAnswer(request, evidence);
  const draft = bestDraft(input).text;
  const keepsDraft = !isEmptyAnswer(draft) && (yield* draftIsGood({ request, draft }, answer, evidence));
  const answerText = keepsDraft ? draft.trim() : answer.text;
  return {
    answerText,
    confidence: answer.confidence,
    usedMessageIds: keepsDraft ? quotedEvidence(answerText, answer, evidence) : [...(answer.span?.evidenceIds ?? [])],
    usedStepIds: [],
    notes: notesOf(answer, isEmptyAnswer(answerText)),
  };
}

interface Drafted {
  readonly request: string;
  readonly draft: string;
}

function* draftIsGood({ request, draft }: Drafted, answer: FoundAnswer, evidence: readonly Evidence[]): Steps<boolean> {
  if (answer.span === null || answer.text === draft.trim()) return true;
  const question = yield* questionOf(request, evidence);
  return question.share(question.termsIn(draft)) >= question.share(question.termsIn(answer.text)) - DRAFT_TOLERANCE;
}

/** Returns the evidence that contains a paragraph of the draft. */
function quotedEvidence(draft: string, answer: FoundAnswer, evidence: readonly Evidence[]): string[] {
  if (answer.span !== null && answer.text === draft) return [...answer.span.evidenceIds];
  const paragraphs = draft
    .split(/\n{2,}/)
    .map((paragraph) => paragraph.trim())
    .filter((paragraph) => paragraph !== '');
  return evidence.filter(({ body }) => paragraphs.some((paragraph) => body.includes(paragraph))).map(({ id }) => id);
}

function notesOf({ missing }: FoundAnswer, empty: boolean): string {
  const note = empty
    ? 'Made without a language model: the documents were searched, but no passage answers the question.'
    : 'Extractive: quoted from the documents, without a language model.';
  return missing.length === 0 ? note : `${note} Not found: ${quoted(missing, 'and')}.`;
}

/** Integrates what is known in the documents' words, and rates the relevance of each assistant and search message. */
export function* replyUnderstanding(input: Extract<PhaseInput, { phase: 'understanding' }>): Steps<UnderstandingReply> {
  return {
    integrated: (yield* findAnswer(input.request, messageEvidence(input.messages))).text,
    assessments: (yield* messageRelevance(input.request, input.messages))
      .filter(({ message }) => message.role !== 'user')
      .map(({ message, relevance, words }) => ({
        messageId: message.id,
        relevance,
        reason: words.length === 0 ? 'contains none of the words of the request' : `contains ${quoted(words, 'and')}`,
      })),
  };
}

/** An answer with at least this coverage completes the task. */
const COMPLETE_COVERAGE = 0.8;

/** Returns the best span as the answer, with its coverage of the question and a proposed next phase. */
export function* replyYield(input: Extract<PhaseInput, { phase: 'yield' }>): Steps<YieldReply> {
  const answer = yield* findAnswer(input.request, messageEvidence(input.messages));
  const { span, missing } = answer;
  return {
    answer: answer.text,
    confidence: answer.confidence,
    taskComplete: span !== null && span.coverage >= COMPLETE_COVERAGE,
    informationSufficiency: span === null ? 0 : (span.coverage + span.gathered) / 2,
    needsTools: false,
    proposedPhase: span === null || missing.length > 0 ? 'experience' : null,
    rationale: rationaleOf(answer),
    usedMessageIds: span === null ? [] : [...span.evidenceIds],
  };
}

function rationaleOf({ span, missing }: FoundAnswer): string {
  const lacking = missing.length === 0 ? '' : `; no passage contains ${quoted(missing)}`;
  if (span === null) return `No passage answers the question${lacking}.`;
  const lead = `with a margin of ${percent(Math.max(0, span.margin))} over the next best one`;
  return `The chosen passage covers ${percent(span.coverage)} of the question's weight, ${lead}${lacking}.`;
}
