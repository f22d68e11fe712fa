import type { StandardSchemaV1 } from '@standard-schema/spec';
import * as z from 'zod/mini';
import { type AttemptPolicy, attemptPolicySchema } from '../../../machines/contracts/attempt.ts';
import { PostChainError } from '../../../machines/contracts/error.ts';
import { type ChatModel, REPLY_FORMS, type ReplyForm, type TextTurn } from '../../../machines/contracts/model.ts';
import type { Clock } from '../../durable/clock.ts';
import { clockSchema, functionSchema, invalidOption, modelSchema, parseOption } from '../../internal/options.ts';
import { type JsonSchema, requireStandardSchema } from '../../internal/standard-schema.ts';
import { type Content, contentSchema, distinctFiles, readContent, requireAcceptingModel } from '../content.ts';
import { filesOf } from '../request.ts';
import { numbersOf, type RetryPolicy, retryPolicySchema, withBoundRules } from './retry-policy.ts';

/** A prompt: text, or the turns of a conversation. The content of a turn may be a list of texts, images and files. */
export type AttemptPrompt = string | readonly PromptTurn[];

export interface PromptTurn {
  readonly role: TextTurn['role'];
  readonly content: Content;
}

/** Options for typed values, independent of the prompt. */
export interface AttemptOptions<Schema extends StandardSchemaV1> {
  readonly model: ChatModel;
  /** A Standard Schema that converts itself to JSON Schema: zod 4.2, arktype, valibot through `toStandardJsonSchema`. */
  readonly schema: Schema;
  /** A system turn before every prompt. */
  readonly system?: string | undefined;
  /** The schema's name in requests and errors; default `output`. */
  readonly name?: string | undefined;
  /** The schema as JSON Schema (draft 7), if it cannot convert itself. */
  readonly jsonSchema?: JsonSchema | undefined;
  /** `text` (default): JSON in the reply's text. `tool-call`: the arguments of one tool call. `json-object`: OpenAI's mode. */
  readonly replyForm?: ReplyForm | undefined;
  readonly policy?: RetryPolicy | undefined;
  readonly limits?: AttemptLimits | undefined;
  readonly clock?: Clock | undefined;
  /** Generates the id of each execution, which also seeds the jitter; random UUIDs by default. */
  readonly newId?: (() => string) | undefined;
}

export interface AttemptLimits {
  /** Time from the call to the first part of a reply. Default 40,000 ms. */
  readonly firstChunkMs?: number;
  /** Time between two parts of a reply; enforced up to an eighth late, never early. Default 30,000 ms. */
  readonly chunkMs?: number;
  /** Time for all attempts and waits together. Default 600,000 ms. */
  readonly totalMs?: number;
  /** Characters of one reply, including reasoning; a longer reply fails the attempt. Default 2,000,000. */
  readonly maxReplyChars?: number;
  /** Model calls, regardless of the retry budgets. Default 100. */
  readonly maxCalls?: number;
}

const limitsSchema = z.pick(attemptPolicySchema, {
  firstChunkMs: true,
  chunkMs: true,
  totalMs: true,
  maxReplyChars: true,
  maxCalls: true,
});
const text = z.string().check(z.refine((given) => given.trim() !== '', 'expected a non-blank string'));
const promptSchema = z.union(
  [
    text,
    z
      .array(z.object({ role: z.enum(['system', 'user', 'assistant']), content: contentSchema }))
      .check(z.minLength(1, 'expected at least one turn')),
  ],
  'expected a non-blank string, or an array of turns, each with a role (system, user, assistant) and content (a string or parts)',
);
const optionsSchema = z.strictObject({
  model: modelSchema,
  schema: z.optional(z.unknown()),
  system: z.optional(text),
  name: z._default(text, 'output'),
  jsonSchema: z.optional(z.record(z.string(), z.unknown())),
  replyForm: z._default(z.enum(REPLY_FORMS), 'text'),
  policy: z.prefault(retryPolicySchema, {}),
  limits: z.prefault(limitsSchema, {}),
  clock: z.optional(clockSchema),
  newId: z.optional(functionSchema),
});

interface AttemptSettings {
  readonly name: string;
  readonly replyForm: ReplyForm;
  readonly policy: AttemptPolicy;
}

/**
 * Returns the validated settings with defaults. `others` names further known options, for the error about an unknown one.
 *
 * @throws PostChainError `invalid_option` or `invalid_schema`, before anything starts.
 */
export function parseAttemptOptions<Schema extends StandardSchemaV1>(
  options: AttemptOptions<Schema>,
  others: readonly string[],
): AttemptSettings {
  const given = options?.policy === undefined ? options : { ...options, policy: withBoundRules(options.policy) };
  const read = optionsSchema.safeParse(given);
  if (!read.success) throw invalidOption('options', options, read.error, knownWith(others));
  requireStandardSchema(options.schema);
  const { name, replyForm, limits, policy } = read.data;
  const { fallbackModels, ...rest } = policy;
  return {
    name,
    replyForm,
    policy: attemptPolicySchema.parse({
      ...numbersOf(rest as RetryPolicy),
      ...limits,
      maxFallbacks: fallbackModels.length,
    }),
  };
}

function knownWith(others: readonly string[]): z.ZodMiniType {
  return z.extend(optionsSchema, Object.fromEntries(others.map((name) => [name, z.unknown()])));
}

/**
 * Returns the turns of a prompt.
 *
 * @throws PostChainError `invalid_option` for an invalid prompt, or for a system turn in both the prompt and `system`;
 * `invalid_request` for an invalid file; `unsupported_file` if none of the models accepts all files.
 */
export function promptTurns(
  prompt: AttemptPrompt,
  system: string | undefined,
  models: readonly ChatModel[],
): readonly TextTurn[] {
  const { prompt: parsed } = parseOption(z.object({ prompt: promptSchema }), { prompt }, 'options');
  const turns = typeof parsed === 'string' ? [{ role: 'user', content: parsed } as const] : parsed.map(turnOf);
  const files = distinctFiles(filesOf({ turns }));
  if (files.length > 0) requireAcceptingModel(models, files, 'prompt');
  if (system === undefined) return turns;
  if (turns[0]?.role !== 'system') return [{ role: 'system', content: system }, ...turns];
  throw new PostChainError(
    'invalid_option',
    'system: expected one system turn; received one in the prompt too. Remove one.',
  );
}

function turnOf({ role, content }: PromptTurn, at: number): TextTurn {
  const { text, files } = readContent(content, `prompt[${at}].content`);
  if (role !== 'user' && files.length > 0)
    throw new PostChainError(
      'invalid_option',
      `prompt[${at}].content: expected only text in ${role} turns; received files. Move them to a user turn.`,
    );
  return { role, content: text, ...(files.length > 0 && { files }) };
}
