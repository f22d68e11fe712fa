import * as z from 'zod/mini';
import {
  answerGradesSchema,
  type Grading,
  type GradingInput,
  type SomeGrades,
} from '../../../machines/contracts/grading.ts';
import type { ChatModel, ReplyForm } from '../../../machines/contracts/model.ts';
import type { PriceTable, Usage } from '../../../machines/contracts/usage.ts';
import { ungraded } from '../../../machines/policies/assessment.ts';
import { unexpectedFailure } from '../../../machines/policies/failures.ts';
import { addCall, NO_USAGE } from '../../../machines/policies/usage.ts';
import type { Clock } from '../../durable/clock.ts';
import { redactSecrets } from '../../internal/secrets.ts';
import type { RetryPolicy } from '../../llm/attempts/retry-policy.ts';
import { TO_JUDGE, withInstructions } from '../../llm/request.ts';
import type { Prompt } from '../prompts/prompt.ts';
import { promptSpec } from '../prompts/prompt-spec.ts';

/**
 * Grades an answer, once per cycle. Grades that it leaves out are the default grader's. If it throws, returns invalid
 * grades or takes too long, all are.
 */
export type AnswerGrader = (
  input: GradingInput,
  options: { readonly signal: AbortSignal },
) => SomeGrades | Promise<SomeGrades>;

/** Grades an answer of a run. Rejects only when the signal aborts; any other problem is part of the result. */
export type Grader = (
  input: GradingInput,
  options: { readonly signal: AbortSignal; readonly clock: Clock },
) => Promise<Grading>;

/** For a recorded run that had a grader, resumed by a chain without one. */
export const noGrader: Grader = async () => ungraded('this chain has no grader');

/** Strict: a misspelled grade would be ignored silently. */
const ownGradesSchema = z.partial(z.strictObject(answerGradesSchema.shape));
/** The output of a judge's own prompt may have more fields, for example its reasons. */
const judgedGradesSchema = z.partial(answerGradesSchema);

export function functionGrader(grade: AnswerGrader): Grader {
  return async (input, { signal }) => {
    try {
      const grades = readGrades(ownGradesSchema, await grade(structuredClone(input), { signal }));
      return { grades, problem: null, usage: NO_USAGE };
    } catch (error) {
      signal.throwIfAborted();
      return ungraded(withoutSecrets(error));
    }
  };
}

interface Judge {
  readonly model: ChatModel;
  readonly prompt: Prompt;
  readonly replyForm: ReplyForm;
  readonly prices: PriceTable | null;
  readonly policy: RetryPolicy;
}

export function modelGrader({ model, prompt, replyForm, prices, policy }: Judge): Grader {
  const { turns, shape } = promptSpec(prompt);
  const price = prices !== null && Object.hasOwn(prices.models, model.id) ? (prices.models[model.id] ?? null) : null;
  return async (input, { signal, clock }) => {
    let usage: () => Usage = () => NO_USAGE;
    try {
      const asked = withInstructions(turns(input), input.instructions, TO_JUDGE);
      const prompted = { prompt: asked, schema: prompt.output, jsonSchema: shape.jsonSchema, name: prompt.name };
      const { createStructuredOutput } = await import('../../llm/attempts/structured-output.ts');
      const output = createStructuredOutput({ model, ...prompted, replyForm, policy, signal, clock });
      usage = () => {
        const { modelCalls, ...tokens } = output.execution.usage;
        return modelCalls === 0 ? NO_USAGE : { ...addCall(NO_USAGE, tokens, price), modelCalls };
      };
      const grades = readGrades(judgedGradesSchema, await output.value);
      return { grades, problem: null, usage: usage() };
    } catch (error) {
      signal.throwIfAborted();
      return { ...ungraded(withoutSecrets(error)), usage: usage() };
    }
  };
}

/** Throws a TypeError for grades that are not as documented. */
function readGrades(schema: z.ZodMiniType<SomeGrades>, given: unknown): SomeGrades {
  const read = schema.safeParse(given);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const where = issue?.path.join('.') || 'the result';
  throw new TypeError(`it returned invalid grades (${where}: ${issue?.message ?? 'invalid'})`);
}

const withoutSecrets = (error: unknown): string => redactSecrets(unexpectedFailure(error).message, []);
