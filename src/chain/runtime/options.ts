import * as z from 'zod/mini';
import { type Consent, type ConsentFor, consentForSchema, consentSchema } from '../../../machines/contracts/context.ts';
import { PostChainError } from '../../../machines/contracts/error.ts';
import { limitsSchema, thresholdsSchema } from '../../../machines/contracts/limits.ts';
import { type ChatModel, type EmbeddingModel, REPLY_FORMS, type ReplyForm } from '../../../machines/contracts/model.ts';
import type { PassageSource } from '../../../machines/contracts/passage.ts';
import { PROMPT_NAMES, type PromptName } from '../../../machines/contracts/phase.ts';
import type { SessionStore } from '../../../machines/contracts/session.ts';
import { type PriceTable, priceTableSchema } from '../../../machines/contracts/usage.ts';
import { type Clock, systemClock } from '../../durable/clock.ts';
import type { JournalStore } from '../../durable/journals/journal-store.ts';
import { requireId } from '../../durable/journals/line-store.ts';
import { clockSchema, functionSchema, hasMethod, modelSchema, parseOption } from '../../internal/options.ts';
import { isStandardSchema } from '../../internal/standard-schema.ts';
import type { RetryPolicy } from '../../llm/attempts/retry-policy.ts';
import { extractiveModel } from '../../models/extractive/extractive-model.ts';
import type { Capability } from '../../tools/capability.ts';
import { createRegistry } from '../../tools/registry.ts';
import type { Prompt, PromptInputs } from '../prompts/prompt.ts';
import { prompts } from '../prompts/registry.ts';
import { type ApprovingFunction, type ChainParts, noPassages, type WhenJournalFails } from './actors.ts';
import { type AnswerGrader, functionGrader, type Grader, modelGrader } from './answer-grader.ts';
import { CONTINUATION_VARIABLE, type ContinuationOption, continuationFromEnv } from './decider.ts';
import { combineInstructions, instructionsSchema } from './instructions.ts';
import { memorySessions } from './memory-sessions.ts';
import { type ProfileOption, profileOptionSchema, resolveProfile } from './profile.ts';
import { type ChainPolicy, resolvePolicies } from './retry-rules.ts';

/** The options of `createPostChain`; each has a default. */
export interface PostChainOptions {
  /** The language model; by default the built-in extractive model (no LLM), which answers from the documents. */
  readonly model?: ChatModel;
  /** Models that take over, in order, a call for which the previous model has no retry left. */
  readonly fallbackModels?: readonly ChatModel[];
  /** Prices by model id: the answer then includes the run's cost. */
  readonly prices?: PriceTable;
  /**
   * How many model calls an answer takes: `thorough` (7 in one cycle), `balanced` (the default; 2 without capabilities), `lean` (1 without
   * capabilities), or your own settings by phase.
   */
  readonly profile?: ProfileOption;
  /** What Experience searches. */
  readonly documents?: PassageSource;
  /** Compares messages with the request, and answers with each other, by meaning; by default they are compared by words. */
  readonly embeddings?: EmbeddingModel;
  /**
   * Grades each answer in place of the built-in heuristics: whether the gathered text supports it, and whether it
   * completes the task. Not together with `gradingModel`.
   */
  readonly grader?: AnswerGrader;
  /** A language model that grades each answer, with the prompt `grading`: one more model call per cycle. */
  readonly gradingModel?: ChatModel;
  /** Capabilities (tools) that a model may run. */
  readonly capabilities?: readonly Capability[];
  /**
   * What follows a round of capability calls. `none`: the run continues without further calls. `model`: the model sees the results and may
   * call more, as in an agent loop. A function decides itself. The default is the environment variable `POSTCHAIN_CONTINUATION`, or `none`.
   */
  readonly continuation?: ContinuationOption;
  /** Whether calls of capabilities (tools) without an `approval` of their own need approval: `never` (the default) or `always`. */
  readonly approval?: 'always' | 'never';
  /**
   * Decides about calls that need approval, in place of the user: `{ decision: 'approve' }`, with `arguments` to replace those of the call,
   * `{ decision: 'deny', reason }`, or `{ decision: 'respond', output }` to give the result of the call without running it. A call is denied if the function throws or takes longer than `limits.capabilityMs`. Without it, the run
   * emits `approval-asked` and waits for `approval.given`.
   */
  readonly approve?: ApprovingFunction;
  readonly limits?: z.input<typeof limitsSchema>;
  readonly thresholds?: z.input<typeof thresholdsSchema>;
  /**
   * Who decides before a user message is shortened or removed: `keep` (the default), `summarize` or `remove` decide at once; `ask` emits
   * `consent-asked` and waits for `consent.given`, at most `limits.consentMs`.
   */
  readonly consent?: Consent;
  /** Which operations need consent: those on the user's messages (`user-content`, the default), or on `all` messages. */
  readonly consentFor?: ConsentFor;
  /** How models reply: JSON text (the default), the arguments of a tool call, or a JSON object without a schema in the request. */
  readonly replyForm?: ReplyForm;
  /**
   * When model calls are retried: one retry policy for all tasks, or one by task (a phase, `continuation`, `summary`, `synthesis`, `value`, `grading`). Its
   * numbers replace those of `limits`.
   */
  readonly policy?: ChainPolicy;
  /**
   * Persona, language, style and domain rules, at most 20,000 characters, for the prompts of phases that answer, search, or decide on tools.
   * The extractive model ignores them.
   */
  readonly instructions?: string;
  /** Prompts that replace built-in ones. */
  readonly prompts?: { readonly [Name in PromptName]?: Prompt<PromptInputs[Name], Name> };
  /** Stores the turns of sessions; by default in memory, for the lifetime of the chain. */
  readonly sessions?: SessionStore;
  /** Stores the journals of runs, for example `fileJournals('runs')`, so that they can be listed, replayed and resumed. */
  readonly journals?: JournalStore;
  /**
   * What happens to a run whose journal can no longer be written, for example because the disk is full: `continue` (the default), with a
   * note in its answer, or `stop`, with the answer it has. A run that continues spends on, but cannot be resumed.
   */
  readonly whenJournalFails?: WhenJournalFails;
  /** The largest number of runs that execute at the same time; further runs are queued. No limit by default. */
  readonly maxConcurrentRuns?: number;
  /** Parks runs that have only waited for this long, in milliseconds, as `run.park` does; by default never. Needs `journals`. */
  readonly parkAfterMs?: number;
  readonly clock?: Clock;
  /** Generates run ids; random UUIDs by default. */
  readonly newId?: () => string;
}

const text = z.string().check(z.trim(), z.minLength(1));

/** Strict: a misspelled option would be ignored silently. */
const optionsSchema = z.strictObject({
  model: z.optional(modelSchema),
  fallbackModels: z.optional(z.array(modelSchema)),
  prices: z.optional(priceTableSchema),
  documents: z.optional(hasMethod('search', 'expected a passage source, for example createPassageIndex(documents)')),
  embeddings: z.optional(hasMethod('embed', 'expected an embedding model, for example openaiEmbeddings()')),
  grader: z.optional(functionSchema),
  gradingModel: z.optional(modelSchema),
  capabilities: z.optional(
    z.array(
      z.looseObject({
        name: text,
        description: text,
        arguments: z.custom(isStandardSchema, 'expected a Standard Schema (zod, valibot or arktype)'),
      }),
    ),
  ),
  continuation: z.optional(z.custom(isContinuation, 'expected "none", "model" or a function')),
  approval: z.optional(z.enum(['always', 'never'])),
  approve: z.optional(functionSchema),
  profile: z.optional(profileOptionSchema),
  limits: z.prefault(limitsSchema, {}),
  thresholds: z.prefault(thresholdsSchema, {}),
  consent: z.optional(consentSchema),
  consentFor: z.optional(consentForSchema),
  replyForm: z.optional(z.enum(REPLY_FORMS)),
  policy: z.optional(z.looseObject({})),
  instructions: z.optional(instructionsSchema),
  prompts: z.optional(z.partialRecord(z.enum(PROMPT_NAMES), z.custom(isPrompt, 'expected a prompt of definePrompt'))),
  sessions: z.optional(
    z.custom(isSessionStore, 'expected a session store, for example memorySessions() or sqliteSessions("chat.db")'),
  ),
  journals: z.optional(z.custom(isJournalStore, 'expected a journal store, for example fileJournals("runs")')),
  whenJournalFails: z.optional(z.enum(['continue', 'stop'])),
  maxConcurrentRuns: z.optional(z.int().check(z.gte(1))),
  parkAfterMs: z.optional(z.number().check(z.gte(0))),
  clock: z.optional(clockSchema),
  newId: z.optional(functionSchema),
});

function isContinuation(value: unknown): boolean {
  return value === 'none' || value === 'model' || typeof value === 'function';
}

function isSessionStore(value: unknown): boolean {
  const { recall, append } = (value ?? {}) as Partial<SessionStore>;
  return typeof recall === 'function' && typeof append === 'function';
}

function isJournalStore(value: unknown): boolean {
  const { create, read, open, list } = (value ?? {}) as Partial<JournalStore>;
  return [create, read, open, list].every((method) => typeof method === 'function');
}

function isPrompt(value: unknown): boolean {
  const { name, version, input, output, system, user, task } = (value ?? {}) as Partial<Prompt>;
  const isZodSchema = (schema: z.core.$ZodType | undefined): boolean => typeof schema?._zod === 'object';
  return (
    typeof name === 'string' &&
    Number.isInteger(version) &&
    isZodSchema(input) &&
    isZodSchema(output) &&
    typeof system === 'function' &&
    typeof user === 'function' &&
    (task === undefined || typeof task === 'function')
  );
}

/** Validates the options, and returns limits and thresholds with their defaults, and the instructions. Throws `invalid_option`. */
export function parseOptions(options: PostChainOptions): Pick<ChainParts, 'limits' | 'thresholds' | 'instructions'> {
  const { limits, thresholds, instructions = null } = parseOption(optionsSchema, options, 'options');
  for (const [task, prompt] of Object.entries(options.prompts ?? {}))
    if (prompt?.name !== task)
      throw new PostChainError(
        'invalid_option',
        `prompts.${task}: expected a prompt named "${task}"; received one named "${prompt?.name}".`,
      );
  if (limits.maxCost !== null) requireKnownCost(options, 'limits.maxCost');
  if (options.grader !== undefined && options.gradingModel !== undefined)
    throw new PostChainError('invalid_option', 'grader and gradingModel: pass one of them; received both.');
  return { limits, thresholds, instructions };
}

/** Throws `invalid_option` for a cost limit if a model has no price, or if there are calls that the chart does not reserve. */
export function requireKnownCost(
  { model, fallbackModels = [], prices, gradingModel }: PostChainOptions,
  limit: string,
): void {
  const unpriced = [model ?? extractiveModel(), ...fallbackModels].find(
    ({ id }) => prices === undefined || !Object.hasOwn(prices.models, id),
  );
  if (unpriced !== undefined)
    throw new PostChainError(
      'invalid_option',
      `${limit}: expected prices.models["${unpriced.id}"], its price; received none.`,
    );
  if (gradingModel !== undefined)
    throw new PostChainError('invalid_option', `${limit}: expected no gradingModel; received both.`);
}

/** Returns everything a chain needs: the options, validated and with their defaults. Throws `invalid_option`. */
export function resolveOptions(options: PostChainOptions): ChainParts {
  const { limits, thresholds, instructions } = parseOptions(options);
  const models: ChainParts['models'] = [options.model ?? extractiveModel(), ...(options.fallbackModels ?? [])];
  combineInstructions([instructions], models);
  const used = { ...prompts, ...withoutUndefined(options.prompts) };
  const policies = resolvePolicies(options.policy);
  return {
    limits,
    thresholds,
    profile: resolveProfile(options.profile, { prompts: used, hasDocuments: options.documents !== undefined }),
    prices: options.prices ?? null,
    newRunId: () => requireId(options.newId ? options.newId() : globalThis.crypto.randomUUID()),
    models,
    instructions,
    consent: options.consent ?? 'keep',
    consentFor: options.consentFor ?? 'user-content',
    replyForm: options.replyForm ?? 'text',
    policies,
    prompts: used,
    clock: options.clock ?? systemClock,
    passages: options.documents ?? noPassages,
    embeddings: options.embeddings ?? null,
    grader: graderOf(options, { prompt: used.grading, policy: policies.grading }),
    capabilities: createRegistry(options.capabilities ?? []),
    continuation: options.continuation ?? continuationFromEnv(nodeProcess?.env ?? {}, warnOnce),
    approval: options.approval ?? 'never',
    approve: options.approve ?? null,
    sessions: options.sessions ?? memorySessions(),
    whenJournalFails: options.whenJournalFails ?? 'continue',
  };
}

function graderOf(
  { grader, gradingModel, replyForm, prices }: PostChainOptions,
  judging: { readonly prompt: Prompt; readonly policy: RetryPolicy },
): Grader | null {
  if (grader !== undefined) return functionGrader(grader);
  if (gradingModel === undefined) return null;
  return modelGrader({ model: gradingModel, ...judging, replyForm: replyForm ?? 'text', prices: prices ?? null });
}

/** Undefined in a browser. */
const nodeProcess = globalThis.process as NodeJS.Process | undefined;

const warned = new Set<string>();

function warnOnce(message: string): void {
  if (warned.has(message)) return;
  warned.add(message);
  nodeProcess?.emitWarning(message, { code: CONTINUATION_VARIABLE });
}

function withoutUndefined<Given extends object>(given: Given = {} as Given): Given {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Given;
}
