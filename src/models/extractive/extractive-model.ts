import type { ContinuationReply } from '../../../machines/contracts/capability.ts';
import { PostChainError } from '../../../machines/contracts/error.ts';
import type { Failure } from '../../../machines/contracts/failure.ts';
import type { ChatModel, ModelPart, ModelRequest } from '../../../machines/contracts/model.ts';
import { TASKS, type Task, taskSchema } from '../../../machines/contracts/phase.ts';
import {
  type ActionReply,
  type ExperienceReply,
  type IntentionReply,
  type PhaseInput,
  phaseInputSchema,
  type SummaryInput,
  type SummaryReply,
  summaryInputSchema,
} from '../../../machines/contracts/phase-io.ts';
import {
  type SynthesisInput,
  type SynthesisReply,
  synthesisInputSchema,
} from '../../../machines/contracts/synthesis.ts';
import { bestDraft } from '../../../machines/policies/synthesis/draft.ts';
import { sentencesOf } from '../../../machines/text/sentences.ts';
import { extractSummary } from '../../../machines/text/summary.ts';
import { requestTerms } from '../../../machines/text/terms.ts';
import { clipped } from './clipped.ts';
import { type Evidence, messageEvidence, passageEvidence } from './evidence.ts';
import { facetsOf } from './facets.ts';
import { type FoundAnswer, findAnswer } from './found-answer.ts';
import { messageRelevance } from './message-relevance.ts';
import { namesIn } from './names.ts';
import { questionOf } from './question.ts';
import { replyObservation } from './reply-observation.ts';
import { replyUnderstanding } from './reply-understanding.ts';
import { replyYield } from './reply-yield.ts';
import { isEmptyAnswer, nothingGathered, quoted } from './wording.ts';

const CHARS_PER_TOKEN = 4;

/**
 * A model that is no language model: it fills the reply of each of the chain's tasks by ranking and choosing sentences of what was
 * retrieved. Needs no key, no account and no network, says the same every time, and says in its notes what it is.
 *
 * Reads `request.input`; the rendered turns only count for the estimated usage. The reply's JSON comes in deltas of
 * `chunkChars` characters (40 by default), as text or as the arguments of a tool call. A request that fits no task ends in a
 * `failure` part, as the port asks.
 */
export function extractiveModel({ chunkChars = 40 }: { readonly chunkChars?: number } = {}): ChatModel {
  if (!Number.isInteger(chunkChars) || chunkChars < 1) {
    const message = `Got chunkChars ${chunkChars}. Wanted is a whole number from 1 on; leave it out for 40.`;
    throw new PostChainError('invalid_option', message);
  }
  return {
    id: 'offline-extractive',
    contextWindowTokens: 32_000,
    stream: (request, { signal }) => parts(request, chunkChars, signal),
  };
}

async function* parts(request: ModelRequest, chunkChars: number, signal: AbortSignal): AsyncGenerator<ModelPart> {
  if (signal.aborted) return;
  const text = replyText(request);
  if (typeof text !== 'string') {
    yield { type: 'failure', failure: text };
    return;
  }
  for (let from = 0; from < text.length; ) {
    if (signal.aborted) return;
    const to = from + chunkChars;
    const end = /[\uD800-\uDBFF]/.test(text.charAt(to - 1)) ? to + 1 : to;
    yield delta(request, text.slice(from, end));
    from = end;
  }
  if (signal.aborted) return;
  const inputChars = request.turns.reduce((sum, { content }) => sum + content.length, 0);
  const usage = {
    inputTokens: Math.ceil(inputChars / CHARS_PER_TOKEN),
    outputTokens: Math.ceil(text.length / CHARS_PER_TOKEN),
    estimated: true,
  };
  yield { type: 'finish', reason: request.replyForm === 'tool-call' ? 'tool-calls' : 'stop', usage };
}

function delta({ replyForm, schemaName: name }: ModelRequest, text: string): ModelPart {
  return replyForm === 'tool-call'
    ? { type: 'tool-call-delta', index: 0, name, arguments: text }
    : { type: 'text-delta', text };
}

/** Scores are told to four decimals: more would be noise. */
function rounded(_key: string, value: unknown): unknown {
  return typeof value === 'number' ? Math.round(value * 10_000) / 10_000 : value;
}

/** The reply as JSON text, or why there is none. */
function replyText({ task, input }: ModelRequest): string | Failure {
  const known = taskSchema.safeParse(task);
  if (!known.success) {
    const only = `the offline model only does the chain's tasks (${TASKS.join(', ')}); give a language model`;
    return failure('task_unknown', `got the task ${JSON.stringify(task)}; ${only}, say openaiModel`);
  }
  try {
    return JSON.stringify(extractiveReply(known.data, input), rounded);
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    return failure('offline_model_failed', `The offline model could not answer: ${message}`);
  }
}

function failure(code: string, text: string): Failure {
  const message = text.replace(/\s+/g, ' ');
  return { stage: 'unexpected', code, message, retryable: false, retryAfterMs: null, status: null, issues: [] };
}

/** It asks for no capability, so it has nothing to go on with. */
const DONE: ContinuationReply = { done: true, finalOutput: null, next: null };

/** The reply to a task, fit for its schema. Throws if the input is not the task's own. */
function extractiveReply(task: Task, input: unknown): object {
  if (task === 'synthesis') return replySynthesis(synthesisInputSchema.parse(input));
  if (task === 'continuation') return DONE;
  if (task === 'summary') return replySummary(summaryInputSchema.parse(input));
  const phaseInput = phaseInputSchema.parse(input);
  if (phaseInput.phase !== task) throw new TypeError(`got the input of ${phaseInput.phase} for the task ${task}`);
  return replyTo(phaseInput);
}

function replyTo(input: PhaseInput): object {
  switch (input.phase) {
    case 'action':
      return replyAction(input);
    case 'experience':
      return replyExperience(input);
    case 'intention':
      return replyIntention(input);
    case 'observation':
      return replyObservation(input);
    case 'understanding':
      return replyUnderstanding(input);
    case 'yield':
      return replyYield(input);
    default: {
      const never: never = input;
      return never;
    }
  }
}

/** Answers from the search results that are there [C4]; asks for no capability. */
export function replyAction(input: Extract<PhaseInput, { phase: 'action' }>): ActionReply {
  const evidence = messageEvidence(input.messages);
  const { text, confidence, missing } = findAnswer(input.request, evidence);
  return { response: evidence.length === 0 ? nothingGathered(missing) : text, confidence, call: null };
}

/** A passage counts as relevant from this share of the best one's coverage on. */
const OF_THE_BEST = 0.5;
const LEAST_SHARE = 0.2;

/** Sums the retrieved passages up by their best span, and names the request's words that none of them has [C5]. */
export function replyExperience(input: Extract<PhaseInput, { phase: 'experience' }>): ExperienceReply {
  const evidence = passageEvidence(input.passages);
  const answer = findAnswer(input.request, evidence);
  const question = questionOf(input.request, evidence);
  const shares = question.inEvidence.map((set) => question.share(set));
  const least = Math.max(LEAST_SHARE, OF_THE_BEST * shares.reduce((most, share) => Math.max(most, share), 0));
  return {
    summary: answer.text,
    relevantPassageIds: evidence.filter((_, at) => (shares[at] ?? 0) >= least).map(({ id }) => id),
    missing: [...answer.missing],
    confidence: answer.confidence,
  };
}

const MAX_GOAL_CHARS = 300;
const MAX_REQUEST_CHARS = 20_000;

/** Restates the request as a goal, by its own sentences, and rates the messages by it [C6]. */
export function replyIntention(input: Extract<PhaseInput, { phase: 'intention' }>): IntentionReply {
  const request = input.request.slice(0, MAX_REQUEST_CHARS);
  const clarity = clarityOf(request);
  return {
    goal: goalOf(request),
    alternatives: facetsOf(request).map((facet) => clipped(facet, MAX_GOAL_CHARS)),
    clarity,
    unclearIntent: clarity === 0,
    alignment: messageRelevance(input.request, input.messages).map(({ message, relevance }) => ({
      messageId: message.id,
      score: message.role === 'user' && message.content.trim() === input.request.trim() ? 1 : relevance,
    })),
  };
}

/** The sentences that ask, or else the whole request. */
function goalOf(request: string): string {
  const sentences = sentencesOf(request).map(({ text }) => text);
  const asking = sentences.filter((sentence) => /[?？]/.test(sentence));
  return clipped((asking.length > 0 ? asking : sentences).join(' ') || request.trim(), MAX_GOAL_CHARS);
}

/** How specific a request is, 0..1: by its content words, and more for names, code and numbers. 0 without content words. */
function clarityOf(request: string): number {
  const words = requestTerms(request).length;
  if (words === 0) return 0;
  const afterFirstWord = request.trim().replace(/^\S+/, '');
  const specific = namesIn(afterFirstWord).length > 0 || /\d/.test(request);
  return Math.min(1, 0.3 + 0.15 * Math.min(4, words) + (specific ? 0.1 : 0));
}

/** Extracts: the sentences of each text that say most of it, in the text's own words [U5]. */
function replySummary({ request, texts }: SummaryInput): SummaryReply {
  const summaries = texts.map(({ messageId, content, maxChars }) => ({
    messageId,
    summary: extractSummary(content, maxChars, request),
  }));
  return { summaries };
}

/** A draft is kept unless it covers clearly less of the question than the best span. */
const DRAFT_TOLERANCE = 0.05;

/** The final answer: the draft, or the best span where that is better, with a note that says how it was made [E2]. */
export function replySynthesis(input: SynthesisInput): SynthesisReply {
  const { request, run } = input;
  const evidence = messageEvidence(run.messages);
  const answer = findAnswer(request, evidence);
  const draft = bestDraft(input).text;
  const keepsDraft = !isEmptyAnswer(draft) && draftIsGood({ request, draft }, answer, evidence);
  const answerText = keepsDraft ? draft.trim() : answer.text;
  return {
    answerText,
    confidence: answer.confidence,
    usedMessageIds: keepsDraft ? quotedEvidence(answerText, answer, evidence) : [...(answer.span?.evidenceIds ?? [])],
    notes: notesOf(answer, isEmptyAnswer(answerText)),
  };
}

interface Drafted {
  readonly request: string;
  readonly draft: string;
}

function draftIsGood({ request, draft }: Drafted, answer: FoundAnswer, evidence: readonly Evidence[]): boolean {
  if (answer.span === null || answer.text === draft.trim()) return true;
  const question = questionOf(request, evidence);
  return question.share(question.termsIn(draft)) >= question.share(question.termsIn(answer.text)) - DRAFT_TOLERANCE;
}

/** The evidence that a draft's paragraphs were taken from. */
function quotedEvidence(draft: string, answer: FoundAnswer, evidence: readonly Evidence[]): string[] {
  if (answer.span !== null && answer.text === draft) return [...answer.span.evidenceIds];
  const paragraphs = draft
    .split(/\n{2,}/)
    .map((paragraph) => paragraph.trim())
    .filter((paragraph) => paragraph !== '');
  return evidence.filter(({ body }) => paragraphs.some((paragraph) => body.includes(paragraph))).map(({ id }) => id);
}

function notesOf({ missing }: FoundAnswer, empty: boolean): string {
  const made = empty
    ? 'Made without a language model: the documents were searched and nothing that answers was found.'
    : 'Extractive: these are the words of the documents, chosen without a language model.';
  return missing.length === 0 ? made : `${made} Not found: ${quoted(missing, 'and')}.`;
}
