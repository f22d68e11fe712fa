import type { Message } from '../../../machines/contracts/message.ts';
import type { Passage } from '../../../machines/contracts/passage.ts';
import type { Phase, Task } from '../../../machines/contracts/phase.ts';
import {
  type PhaseInput,
  phaseInputSchema,
  type Replies,
  type SummaryInput,
  summaryInputSchema,
} from '../../../machines/contracts/phase-io.ts';
import { type AnswerMaterial, answerMaterialSchema } from '../../../machines/contracts/synthesis.ts';
import { passageText } from '../../../machines/policies/phase-output.ts';
import { bestDraft } from '../../../machines/policies/synthesis/basis.ts';
import { splitQuestion } from '../../../machines/text/asked-questions.ts';
import { clipped } from '../../../machines/text/clip.ts';
import { sentencesOf } from '../../../machines/text/sentences.ts';
import { extractSummary } from '../../../machines/text/summary.ts';
import { stemsOf } from '../../../machines/text/terms.ts';
import type { Steps } from '../../internal/async.ts';
import { briefReply } from '../brief-reply.ts';
import { findAnswer, isEmptyAnswer, NOTHING_GATHERED, quotedList } from './find-answer.ts';
import { questionOf, type Text } from './question.ts';

/** Passages are relevant from this share of the best one's coverage; search results that no answer used are undigested from this one. */
const [SHARE_OF_BEST, UNDIGESTED] = [0.5, 0.5];
/** An answer of at least this confidence completes the task; insights and goals have at most this many characters. */
const [COMPLETE, MAX_CHARS] = [0.7, 300];

/** The tasks whose reply can be quoted from the material. */
export type ExtractedTask = Exclude<Task, 'value'>;

/** Returns the reply to a task, in steps. Throws if the input is not that of the task. */
export function* replyToTask(
  task: ExtractedTask,
  input: unknown,
  phases: readonly Phase[] = [],
): Steps<Replies[ExtractedTask] | Replies['brief']> {
  // The wait before the first step lets the program do something else between two replies.
  yield;
  if (task === 'synthesis') return yield* replySynthesis(answerMaterialSchema.parse(input));
  if (task === 'continuation') return { done: true, finalOutput: null, next: [] };
  if (task === 'summary') return yield* replySummary(summaryInputSchema.parse(input));
  const given = phaseInputSchema.parse(input);
  if (given.phase !== task) throw new TypeError(`the task ${task} received the input of ${given.phase}`);
  return phases.length > 0 ? briefReply(yield* repliesTo(given, phases), given) : yield* replyTo(given);
}

/** Replies to a phase in steps: with the best quotation, and with the relevance of the messages or passages. Calls no capability. */
export function* replyTo(input: PhaseInput): Steps<Replies[PhaseInput['phase']]> {
  const { request, phase, messages } = input;
  const texts: readonly Text[] = phase === 'experience' ? input.passages.map(asResult) : messages;
  const { text, confidence, ids, missing, coverage } = yield* findAnswer(request, texts.filter(isResult));
  const rated = yield* rate(request, texts);
  const others = rated.filter(({ role }) => role !== 'user');
  switch (phase) {
    case 'action':
      return { response: texts.some(isResult) ? text : NOTHING_GATHERED, confidence, calls: [] };
    case 'experience': {
      const least = SHARE_OF_BEST * Math.max(0, ...rated.map(({ score }) => score));
      const relevant = rated.filter(({ score }) => score > 0 && score >= least);
      return { summary: text, relevantPassageIds: relevant.map(({ id }) => id), missing, confidence };
    }
    case 'intention': {
      const scoreOf = ({ content, score }: Text & { score: number }): number => (content === request ? 1 : score);
      const alignment = rated.map((text) => ({ messageId: text.id, score: scoreOf(text) }));
      return { ...(yield* goalOf(request)), alignment };
    }
    case 'observation': {
      const used = new Set(messages.flatMap(({ role, references }) => (role === 'assistant' ? references : [])));
      const unused = others.filter(({ id, role }) => role === 'search' && !used.has(id));
      return {
        insights: ids.length === 0 ? [] : text.split('\n\n').map((part) => clipped(part, MAX_CHARS)),
        undigested: unused.some(({ score }) => score >= UNDIGESTED),
        importance: others.map(({ id, score }) => ({ messageId: id, score })),
        ...(yield* namesIn(others)),
      };
    }
    case 'understanding': {
      const assessments = others.map(({ id, score, reason }) => ({ messageId: id, relevance: score, reason }));
      return { integrated: text, assessments };
    }
    case 'yield': {
      const covers = `The quoted passage covers ${Math.round(coverage * 100)}% of the question's weight`;
      const found = ids.length === 0 ? 'No passage answers the question' : covers;
      return {
        answer: text,
        confidence,
        taskComplete: confidence >= COMPLETE,
        informationSufficiency: coverage,
        needsTools: false,
        proposedPhase: missing.length > 0 || ids.length === 0 ? 'experience' : null,
        rationale: missing.length === 0 ? `${found}.` : `${found}; it lacks ${quotedList(missing)}.`,
        usedMessageIds: ids,
        noEvidence: ids.length === 0,
        notes: noteOn(ids, missing),
      };
    }
  }
}

/** Replies to several phases in one call. If the first is Experience, the others also read its passages and its summary. */
function* repliesTo(input: PhaseInput, phases: readonly Phase[]): Steps<Partial<Replies>> {
  const first = yield* replyTo(input);
  const replies: Record<string, unknown> = { [input.phase]: first };
  const messages = [
    ...input.messages,
    ...(input.phase === 'experience' ? messagesOf(input, first as Replies['experience']) : []),
  ];
  for (const phase of phases.filter((each) => each !== input.phase))
    replies[phase] = yield* replyTo({ ...input, phase, messages } as PhaseInput);
  return replies;
}

const MESSAGE = { createdAtMs: 0, tags: [], importance: 0.5, links: [], references: [], source: null };

function messagesOf(
  { cycle, passages, messages }: Extract<PhaseInput, { phase: 'experience' }>,
  { summary, relevantPassageIds }: Replies['experience'],
): readonly Message[] {
  const message = { ...MESSAGE, cycle, phase: 'experience' } as const;
  const known = new Set(messages.map(({ id }) => id));
  const results = passages
    .filter(({ id }) => !known.has(id))
    .map((passage): Message => ({ ...message, ...asResult(passage), role: 'search' }));
  return [
    ...results,
    { ...message, id: 'summary', role: 'assistant', content: summary, references: relevantPassageIds },
  ];
}

const asResult = (passage: Passage): Text => ({
  id: passage.id,
  role: 'search',
  content: passageText(passage),
  source: passage.source,
});
const isResult = ({ role }: Text): boolean => role === 'search';

/** Restates a request as a goal in its own sentences. The more words and names it has, the clearer it is. */
function* goalOf(request: string): Steps<Omit<Replies['intention'], 'alignment'>> {
  const sentences = sentencesOf(request.slice(0, 20_000)).map(({ text }) => text);
  const asking = sentences.filter((text) => /[?？]/.test(text));
  const parts = asking.flatMap(splitQuestion).slice(0, 5);
  const alternatives = parts.length < 2 ? [] : parts.map((part) => clipped(part.trim(), MAX_CHARS));
  const { count } = yield* questionOf(request, []);
  const goal = clipped((asking.length > 0 ? asking : sentences).join(' ') || request.trim(), MAX_CHARS);
  return { goal, alternatives, clarity: count && Math.min(1, 0.3 + 0.15 * count), unclearIntent: count === 0 };
}

function noteOn(ids: readonly string[], missing: readonly string[]): string {
  const made = ids.length > 0 ? 'quoted from the documents' : 'no passage of the documents answers the question';
  // Documents that were not retrieved may contain these words.
  const lacking = ids.length > 0 ? 'Not quoted' : 'Not in the retrieved passages';
  return `Made by the extractive model (no LLM): ${made}.${missing.length === 0 ? '' : ` ${lacking}: ${quotedList(missing)}.`}`;
}

/** Returns the best quotation, or the draft if there is none, with a note on how the answer was made. */
function* replySynthesis(input: AnswerMaterial): Steps<Replies['synthesis']> {
  const { text, confidence, ids, missing } = yield* findAnswer(input.request, input.messages.filter(isResult));
  const notes = noteOn(ids, missing);
  const draft = bestDraft(input);
  if (ids.length > 0 || isEmptyAnswer(draft.text)) return { answerText: text, confidence, usedMessageIds: ids, notes };
  return { answerText: draft.text, confidence: draft.confidence, usedMessageIds: [...draft.usedMessageIds], notes };
}

/** Summarizes each text by its most representative sentences. */
function* replySummary({ request, texts }: SummaryInput): Steps<Replies['summary']> {
  const summaries: Replies['summary']['summaries'] = [];
  for (const { messageId, content, maxChars } of texts) {
    summaries.push({ messageId, summary: extractSummary(content, maxChars, request) });
    yield;
  }
  return { summaries };
}

/** Rates how much of the request's weight each text covers, 0..1. An answer that nothing was found only repeats the words. */
function* rate(request: string, texts: readonly Text[]): Steps<(Text & { score: number; reason: string })[]> {
  const { inTexts, share, written } = yield* questionOf(request, texts);
  return texts.map((text, at) => {
    const { role, content } = text;
    const set = role === 'assistant' && isEmptyAnswer(content) ? 0 : (inTexts[at] ?? 0);
    const reason = set === 0 ? 'contains none of the words of the request' : `contains ${quotedList(written(set))}`;
    return { ...text, score: share(set), reason };
  });
}

const NAME = /`[^`\n]{2,60}`|\p{Lu}[\p{L}\p{N}'’-]+(?:\s(?:(?:of|the|and|de|for|in)\s)?\p{Lu}[\p{L}\p{N}'’-]+){0,5}/gu;

/** Returns the names in several texts, and connects the first and the last text with each: the fewer have it, the stronger. */
function* namesIn(texts: readonly Text[]): Steps<Pick<Replies['observation'], 'entities' | 'connections'>> {
  const found = new Map<string, string[]>();
  for (const { id, content } of texts) {
    for (const name of new Set(content.match(NAME))) (found.get(name) ?? found.set(name, []).get(name))?.push(id);
    yield;
  }
  const shared = [...found].filter(([name, ids]) => ids.length > 1 && stemsOf(name).length > 0);
  const most = shared.sort(([, left], [, right]) => right.length - left.length).slice(0, 12);
  const entities = most.map(([name, messageIds]) => ({ name: name.replaceAll('`', ''), messageIds }));
  const connections = most.map(([name, ids]) => {
    return { from: ids[0] ?? '', to: ids.at(-1) ?? '', relation: `both mention ${name}`, strength: 1.6 / ids.length };
  });
  return { entities, connections: [...new Map(connections.map((one) => [`${one.from} ${one.to}`, one])).values()] };
}
