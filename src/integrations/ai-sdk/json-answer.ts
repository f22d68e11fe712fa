import type { ZodType } from 'zod';
import { PostChainError } from '../../../machines/contracts/error.ts';
import type { ChatModel } from '../../../machines/contracts/model.ts';
import { explanationOf, type FinalAnswer } from '../../../machines/contracts/synthesis.ts';
import type { Usage } from '../../../machines/contracts/usage.ts';
import { createStructuredOutput } from '../../llm/attempts/structured-output.ts';
import type { ChainResponseFormat } from './chain-request.ts';

/** The prompt for the conversion. Raise the version with every change of the wording. */
export const jsonAnswerPrompt = {
  version: 1,
  system: `You convert the answer of another program to JSON. Use only the content of the answer. Do not add, guess or correct anything. If the answer does not contain a value, use null, an empty string or an empty array, whichever the schema allows.`,
  user: (request: string, answer: string): string => `Request:\n${request}\n\nAnswer:\n${answer}`,
};

/** JSON with the content of an answer, and the usage of the calls that wrote it. */
export interface JsonAnswer {
  readonly text: string;
  readonly usage: Usage;
}

/**
 * Converts an answer to JSON with one structured call. A chain that could not reach its model has no content to convert.
 *
 * @throws PostChainError `attempts_exhausted` in that case, or if no reply matches the schema.
 */
export async function jsonAnswer(
  model: ChatModel,
  { request, answer }: { readonly request: string; readonly answer: FinalAnswer },
  { schema: given, name }: Extract<ChainResponseFormat, { type: 'json' }>,
  signal: AbortSignal | undefined,
): Promise<JsonAnswer> {
  if (answer.metadata.reason === 'model_unavailable')
    throw new PostChainError('attempts_exhausted', `No answer to convert to JSON: ${explanationOf(answer)}`);
  const jsonSchema = (given ?? { type: 'object' }) as Readonly<Record<string, unknown>>;
  const output = createStructuredOutput({
    model,
    schema: await validatorOf(jsonSchema),
    jsonSchema,
    ...(name !== undefined && { name }),
    system: jsonAnswerPrompt.system,
    prompt: jsonAnswerPrompt.user(request, answer.answerText),
    ...(signal !== undefined && { signal }),
  });
  return { text: JSON.stringify(await output.value), usage: output.execution.usage };
}

/** If zod cannot read the schema, any value passes here, and the AI SDK validates it. */
async function validatorOf(schema: Readonly<Record<string, unknown>>): Promise<ZodType> {
  const z = await import('zod');
  try {
    return z.fromJSONSchema(schema);
  } catch {
    return z.unknown();
  }
}
