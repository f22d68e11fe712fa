import * as z from 'zod/mini';
import { consentChoiceSchema } from '../../../machines/contracts/context.ts';
import { type ClientEvent, clientEventSchema } from '../../../machines/contracts/events.ts';
import { PHASES } from '../../../machines/contracts/phase.ts';
import { firstChars } from '../../../machines/text/clip.ts';
import { HttpError, unknownRun } from '../http-error.ts';
import { type Owner, sessionIdOf } from '../owners.ts';
import { viewOf } from '../run-view.ts';
import type { ServedRuns } from '../served-runs.ts';
import type { Updates } from '../updates.ts';
import { type Question, questionsIn, type RunUpdate } from '../updates.ts';

/** The answers to each kind of question, in protocols with forms. */
export const answerSchemas = {
  approval: z.strictObject({
    approved: z.boolean(),
    reason: z.optional(z.string()),
    /** Replaces the arguments of the call. */
    editedArgs: z.optional(z.record(z.string(), z.unknown())),
  }),
  consent: z.strictObject({
    choice: consentChoiceSchema,
    /** Choices for individual messages, by id. */
    items: z.optional(z.record(z.string(), consentChoiceSchema)),
  }),
  direction: z.strictObject({ next: z.enum(['finish', ...PHASES]), prompt: z.optional(z.string()) }),
};

/** Returns a question as text for the user. */
export function questionText(question: Question): string {
  switch (question.kind) {
    case 'approval': {
      const { capability, arguments: args, problem, isClientTool, description } = question;
      if (description !== undefined) return `${description}\n${JSON.stringify(args)}`;
      if (isClientTool) return `Only the client of the run can run ${capability} with ${JSON.stringify(args)}.`;
      return `Run the tool ${capability} with ${JSON.stringify(args)}?${problem === null ? '' : ` ${problem}`}`;
    }
    case 'consent': {
      const lines = question.request.items.map(({ preview, chars, summary }) => {
        const change = summary === '' ? 'remove' : 'summarize';
        return `- ${change} the message with ${chars} characters: "${preview}"`;
      });
      return ['The context is full. Keep, summarize or remove these messages?', ...lines].join('\n');
    }
    default: {
      const { cycle, answer, proposal } = question;
      return `Cycle ${cycle} ended with this answer: ${answer}\nFinish, or continue with a phase? Proposed: ${proposal}.`;
    }
  }
}

/** Describes what an agent waits for, other than an answer of its user. */
export const waitNoticeOf = (agent: string, runId: string, line: string): string =>
  `${line}. Read this run with GET /runs/${runId}, and send it events with POST /machines/${agent}/${runId}/events.`;

/** Returns the event that answers a question; a text is the result of a client's tool. A null `answer` means that the user declined: no tool runs, and no message is removed. */
function eventOf(question: Question, answer: unknown): ClientEvent {
  const { questionId } = question;
  switch (question.kind) {
    case 'approval': {
      const { isClientTool } = question;
      if (isClientTool && typeof answer === 'string')
        return clientEventSchema.parse({
          type: 'approval.given',
          questionId,
          digest: question.digest,
          decision: 'respond',
          output: answer,
        });
      const { approved, reason, editedArgs } = answerSchemas.approval.parse(answer ?? { approved: false });
      const edited = approved && editedArgs !== undefined && { arguments: editedArgs };
      const decision = approved ? 'approve' : 'deny';
      const { digest } = question;
      const event = { type: 'approval.given', questionId, digest, decision, ...edited, ...(reason && { reason }) };
      return clientEventSchema.parse(event);
    }
    case 'consent':
      return clientEventSchema.parse({
        type: 'consent.given',
        questionId,
        ...answerSchemas.consent.parse(answer ?? { choice: 'keep' }),
      });
    default: {
      const { next, prompt } = answerSchemas.direction.parse(answer ?? { next: 'finish' });
      if (next === 'finish') return { type: 'run.finished', questionId };
      return clientEventSchema.parse({ type: 'run.directed', phase: next, ...(prompt && { prompt }), questionId });
    }
  }
}

/** Answers by question id; null for a question that the user declined. */
export type Answers = Readonly<Record<string, unknown>>;

/**
 * Sends answers to questions of a run. An answer that the run has already accepted comes from a repeated request, and is not sent again.
 * `session` is the client's name of the session that the run must belong to, or null for none; by default, any run is accepted. Throws an
 * `HttpError`.
 */
export async function sendAnswers(
  runs: ServedRuns,
  owner: Owner,
  runId: string,
  answers: Answers,
  session?: string | null,
): Promise<void> {
  const { updates, sessionId } = await runs.stored(owner, runId);
  if (session !== undefined && sessionId !== (session && (await sessionIdOf(owner, session)))) throw unknownRun();
  const { asked, open } = questionsIn(updates);
  for (const [questionId, answer] of Object.entries(answers)) {
    const event = checkedEvent(asked.get(questionId), answer);
    const isLate = answer === null && !open.has(questionId);
    if (isLate || (await runs.hasAccepted(owner, runId, event))) continue;
    await runs.send(owner, runId, event).catch(async (error: unknown) => {
      // An equal request may have been faster.
      if (!(await runs.hasAccepted(owner, runId, event))) throw error;
    });
  }
}

function checkedEvent(question: Question | undefined, answer: unknown): ClientEvent {
  if (question === undefined)
    throw new HttpError(400, 'unknown_question', 'The run has not asked this question. See GET /runs/:id.');
  try {
    return eventOf(question, answer);
  } catch (error) {
    if (!(error instanceof z.core.$ZodError)) throw error;
    const [issue] = error.issues;
    const where = ['answer', ...(issue?.path ?? [])].join('.');
    throw new HttpError(400, 'invalid_request', firstChars(`${where}: ${issue?.message ?? 'invalid'}.`, 500));
  }
}

/**
 * An update. `questions` has the open questions if the run now waits for its user, and is null otherwise. `isNew` is true for what follows the
 * questions that the client has answered.
 */
interface Step {
  readonly update: RunUpdate;
  readonly isNew: boolean;
  readonly questions: readonly Question[] | null;
}

/** Yields the updates of a run until it waits for its user or ends. `answered` has the ids of the questions that the client has answered. */
export async function* untilQuestions(
  runs: ServedRuns,
  owner: Owner,
  runId: string,
  updates: Updates,
  answered: readonly string[] = [],
): AsyncGenerator<Step, void> {
  const expected = new Set(answered);
  const asked = new Set<string>();
  for await (const { update } of updates) {
    const isNew = expected.size === 0;
    const questions = update.type === 'question' ? await openAfter(update.question) : null;
    yield { update, isNew, questions };
    if (questions !== null) return;
  }

  /** Returns the open questions if the run waits for one of those so far. */
  async function openAfter({ questionId }: Question): Promise<readonly Question[] | null> {
    asked.add(questionId);
    expected.delete(questionId);
    if (expected.size > 0) return null;
    // All questions of a step are stored at once, so the others are open too. One that is answered is not asked again.
    const { questions } = viewOf((await runs.stored(owner, runId)).updates);
    return questions.some((open) => asked.has(open.questionId)) ? questions : null;
  }
}
