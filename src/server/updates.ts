import * as z from 'zod/mini';
import { consentRequestSchema } from '../../machines/contracts/context.ts';
import type { JournalEntry } from '../../machines/contracts/journal.ts';
import { phaseSchema } from '../../machines/contracts/phase.ts';
import { type FinalAnswer, finalAnswerSchema } from '../../machines/contracts/synthesis.ts';
import { progressLine, reasonOf } from '../chain/presentation/entry-words.ts';
import { PartialJsonReader, type PartialValue } from '../chain/presentation/partial-json.ts';
import { type AnswerDelta, AnswerText, type AnswerVoid, type PartialUpdate } from '../chain/runtime/run-events.ts';

/** A question of a run to its user. The event that answers it has the same `questionId` and, for an approval, the same `digest`. */
export const questionSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('approval'),
    questionId: z.string(),
    digest: z.string(),
    capability: z.string(),
    arguments: z.record(z.string(), z.json()),
    /** Why the edited arguments of the last answer are invalid; null otherwise. */
    problem: z.nullable(z.string()),
    /** Of an agent's approval that is not about a tool: the description of its state. `arguments` has the question. */
    description: z.exactOptional(z.string()),
    /** Only the client can run the tool: it responds with the result, or denies the call. */
    isClientTool: z.exactOptional(z.literal(true)),
  }),
  z.object({ kind: z.literal('consent'), questionId: z.string(), request: consentRequestSchema }),
  /** The user chooses the next phase, or ends the run. */
  z.object({
    kind: z.literal('direction'),
    questionId: z.string(),
    cycle: z.int(),
    proposal: z.string(),
    answer: z.string(),
    confidence: z.number(),
  }),
]);
export type Question = Readonly<z.infer<typeof questionSchema>>;

/** The answer of a run. That of an agent has no `confidence`. */
export type ServedAnswer = Omit<FinalAnswer, 'confidence'> & { readonly confidence?: number | undefined };

/** A change of a run, as clients see it. Updates are computed from stored entries only, so every reader gets the same ones, in any process. */
export const runUpdateSchema = z.discriminatedUnion('type', [
  /** `startedAt` is in ISO 8601. Always first. */
  z.object({ type: z.literal('run'), runId: z.string(), request: z.string(), startedAt: z.string() }),
  z.object({
    type: z.literal('phase'),
    phase: phaseSchema,
    cycle: z.int(),
    state: z.enum(['started', 'ended', 'failed']),
    /** Null when it starts. */
    summary: z.nullable(z.string()),
  }),
  /** A line that tells the user what the run is doing. `isWaiting`: nothing more happens until an event arrives, or for over a minute. */
  z.object({ type: z.literal('progress'), text: z.string(), isWaiting: z.exactOptional(z.literal(true)) }),
  z.object({
    type: z.literal('tool'),
    /** Counts the tool runs from 0. */
    index: z.int(),
    name: z.string(),
    state: z.enum(['started', 'ended', 'failed']),
  }),
  /** The next piece of the provisional answer. Once the run has ended, the pieces since the last `text-void` add up to the answer. */
  z.object({ type: z.literal('text'), delta: z.string() }),
  z.object({ type: z.literal('text-void'), reason: z.enum(['attempt_failed', 'next_cycle', 'rewritten']) }),
  z.object({ type: z.literal('decision'), cycle: z.int(), complete: z.boolean(), text: z.string() }),
  z.object({ type: z.literal('question'), question: questionSchema }),
  z.object({ type: z.literal('question-closed'), questionId: z.string() }),
  /** Always last. */
  z.object({
    type: z.literal('answer'),
    answer: z.extend(finalAnswerSchema, { confidence: z.optional(z.number()) }),
  }),
]);
export type RunUpdate = Readonly<z.infer<typeof runUpdateSchema>>;

/** Whether the last of the updates is this line about what the run waits for. */
export function isLastWait(updates: readonly RunUpdate[], update: RunUpdate): boolean {
  const last = updates.at(-1);
  return last?.type === 'progress' && last.isWaiting === true && JSON.stringify(last) === JSON.stringify(update);
}

/** Returns the questions in updates, by id, and the ids of those without an answer. */
export function questionsIn(updates: readonly RunUpdate[]) {
  const asked = new Map<string, Question>();
  const open = new Set<string>();
  for (const update of updates) {
    if (update.type === 'question') {
      asked.set(update.question.questionId, update.question);
      open.add(update.question.questionId);
    }
    if (update.type === 'question-closed') open.delete(update.questionId);
  }
  return { asked, open };
}

/** Computes the updates of one run from its journal. */
class RunUpdates {
  readonly #text = new AnswerText();
  /** The attempts that may write the answer. */
  readonly #attempts = new Map<string, WritingAttempt>();
  readonly #questions = new Map<string, Question['kind']>();

  /** Returns the updates of the next entry. */
  *take(entry: JournalEntry): Generator<RunUpdate, void> {
    yield* this.#closedBy(entry);
    yield* this.#texts(entry);
    const line = progressLine(entry);
    if (line !== null) yield { type: 'progress', text: line };
    const update = updateOf(entry);
    if (update?.type === 'question') this.#questions.set(update.question.questionId, update.question.kind);
    if (update !== null) yield update;
  }

  *#texts(entry: JournalEntry): Generator<RunUpdate, void> {
    if (entry.type === 'attempt-start') this.#attempts.set(entry.attemptId, { start: entry, reader: null });
    // Calls that were in progress start again.
    if (entry.type === 'resumed') for (const attempt of this.#attempts.values()) attempt.reader = null;
    const changed = entry.type === 'text-delta' ? partialOf(this.#attempts.get(entry.attemptId), entry.text) : entry;
    if (changed !== null) for (const change of this.#text.changes(changed)) yield textUpdate(change);
    if (entry.type === 'attempt-end') this.#attempts.delete(entry.attemptId);
  }

  *#closedBy(entry: JournalEntry): Generator<RunUpdate, void> {
    for (const [questionId, kind] of this.#questions)
      if (isPastQuestions(entry) || isClosed(kind, questionId, entry)) {
        this.#questions.delete(questionId);
        yield { type: 'question-closed', questionId };
      }
  }
}

/** Returns a change of the text of the answer as an update. */
export const textUpdate = (change: AnswerDelta | AnswerVoid): RunUpdate =>
  change.type === 'answer-delta' ? { type: 'text', delta: change.text } : { type: 'text-void', reason: change.reason };

/** Yields the updates of a journal. */
export function* updatesOf(entries: Iterable<JournalEntry>): Generator<RunUpdate, void> {
  const updates = new RunUpdates();
  for (const entry of entries) yield* updates.take(entry);
}

/** An update with its id: the number of its entry and its number within the entry, such as `12.0`. Ids increase. */
export interface NumberedUpdate {
  readonly id: string;
  readonly update: RunUpdate;
}

export type Updates = AsyncGenerator<NumberedUpdate, void>;

/** Yields the updates of a journal as it grows. */
export async function* numberedUpdates(entries: AsyncIterable<JournalEntry>): Updates {
  const updates = new RunUpdates();
  for await (const entry of entries) {
    let number = 0;
    for (const update of updates.take(entry)) {
      yield { id: `${entry.seq}.${number}`, update };
      number += 1;
    }
  }
}

/** Returns whether an update id comes after another one. */
export function isAfter(id: string, other: string): boolean {
  const [seq = 0, number = 0] = id.split('.').map(Number);
  const [otherSeq = 0, otherNumber = 0] = other.split('.').map(Number);
  return seq > otherSeq || (seq === otherSeq && number > otherNumber);
}

/** Whether the answer is being written or complete, so that no question is open anymore. */
const isPastQuestions = (entry: JournalEntry): boolean =>
  entry.type === 'answer' || (entry.type === 'transition' && entry.target.includes('synthesizing'));

function isClosed(kind: Question['kind'], questionId: string, entry: JournalEntry): boolean {
  if (kind === 'consent') return entry.type === 'consent-resolved';
  if (kind === 'direction') return entry.type === 'decision' || entry.type === 'phase-start';
  return (entry.type === 'approval-resolved' && entry.questionId === questionId) || entry.type === 'capability-stop';
}

type EntryOf<Type extends JournalEntry['type']> = Extract<JournalEntry, { type: Type }>;

interface WritingAttempt {
  readonly start: EntryOf<'attempt-start'>;
  /** Null before the first text. */
  reader: PartialJsonReader | null;
}

/** Returns the partial reply after the next piece of text; null if the attempt does not write the answer. */
function partialOf(attempt: WritingAttempt | undefined, text: string): PartialUpdate | null {
  if (attempt === undefined) return null;
  attempt.reader ??= new PartialJsonReader();
  attempt.reader.push(text);
  const { attemptId, attempt: number, task, phases } = attempt.start;
  const { root } = attempt.reader;
  // A reply in the schema that all phases share has a member for the phase.
  const reply = memberOf(root, 'yield') ?? root;
  const value = { answer: textIn(reply, 'answer'), answerText: textIn(reply, 'answerText') };
  return { type: 'partial', attemptId, attempt: number, task, ...(phases && { phases }), value } as PartialUpdate;
}

/** Returns the text of a member of a partial reply; undefined if it has none. */
export function textIn(reply: PartialValue | null, name: string): string | undefined {
  const value = memberOf(reply, name);
  return value?.kind === 'text' ? value.text : undefined;
}

const memberOf = (value: PartialValue | null, name: string): PartialValue | null =>
  (value?.kind === 'members' && value.members.find((member) => member.name === name)?.value) || null;

function updateOf(entry: JournalEntry): RunUpdate | null {
  switch (entry.type) {
    case 'start': {
      const { runId, request } = entry.input;
      return { type: 'run', runId, request, startedAt: entry.startedAt };
    }
    case 'phase-start':
      return { type: 'phase', phase: entry.phase, cycle: entry.cycle, state: 'started', summary: null };
    case 'phase-end': {
      const { phase, cycle, summary, failure } = entry;
      return { type: 'phase', phase, cycle, state: failure === null ? 'ended' : 'failed', summary };
    }
    case 'capability-start':
      return { type: 'tool', index: entry.index, name: entry.capability, state: 'started' };
    case 'capability-end': {
      const { index, result } = entry;
      return { type: 'tool', index, name: result.capability, state: result.success ? 'ended' : 'failed' };
    }
    case 'decision': {
      const { decision } = entry;
      return { type: 'decision', cycle: decision.cycle, complete: decision.complete, text: reasonOf(decision) };
    }
    case 'approval-asked': {
      const { questionId, digest, capability, arguments: args, problem, isClientTool } = entry;
      const mark = isClientTool && { isClientTool };
      return asked({ kind: 'approval', questionId, digest, capability, arguments: args, problem, ...mark });
    }
    case 'consent-asked':
      return asked({ kind: 'consent', questionId: entry.questionId, request: entry.request });
    case 'direction-asked': {
      const { questionId, cycle, proposal, answer, confidence } = entry;
      return asked({ kind: 'direction', questionId, cycle, proposal, answer, confidence });
    }
    case 'answer':
      return { type: 'answer', answer: entry.answer };
    default:
      return null;
  }
}

const asked = (question: Question): RunUpdate => ({ type: 'question', question });
