import { z } from 'zod';
import { PostChainError } from '../../../machines/contracts/error.ts';
import type { JournalStore } from '../../../machines/contracts/journal.ts';
import { type Limits, limitsSchema, type Thresholds, thresholdsSchema } from '../../../machines/contracts/limits.ts';
import { type ChatModel, type EmbeddingModel, REPLY_FORMS, type ReplyForm } from '../../../machines/contracts/model.ts';
import type { PassageSource } from '../../../machines/contracts/passage.ts';
import { TASKS, type Task } from '../../../machines/contracts/phase.ts';
import type { SessionStore } from '../../../machines/contracts/session.ts';
import { type PriceTable, priceTableSchema } from '../../../machines/contracts/usage.ts';

import { aClock, aFunction, aModel, having, invalidOption } from '../../internal/options.ts';
import { isStandardSchema } from '../../internal/standard-schema.ts';
import { extractiveModel } from '../../models/extractive/extractive-model.ts';
import type { Capability } from '../../tools/capability.ts';
import { createRegistry } from '../../tools/registry.ts';
import { type Clock, systemClock } from '../clock.ts';
import type { Prompt } from '../prompts/prompt.ts';
import { prompts } from '../prompts/registry.ts';
import { type ChainParts, noPassages } from './actors.ts';
import { CONTINUATION, type Decider, deciderOf, type ModelDecider } from './decider.ts';
import { memorySessions } from './memory-sessions.ts';

/** What `createPostChain` takes; everything has a default. */
export interface PostChainOptions {
  /** The language model; without one the offline extractive model answers from the documents. */
  readonly model?: ChatModel;
  /** Take over, in order, for a call that the model before has no retry left for [C4]. */
  readonly fallbackModels?: readonly ChatModel[];
  /** What models cost, by their ids: the answer then tells the run's cost. */
  readonly prices?: PriceTable;
  /** What Experience searches. */
  readonly documents?: PassageSource;
  /** Compares messages with the request, and answers with each other, by meaning; without one, by their words. */
  readonly embeddings?: EmbeddingModel;
  readonly capabilities?: readonly Capability[];
  /**
   * Says what comes after a capability's result: a function, `modelDecider`, or null, which never asks. The default is what
   * `POSTCHAIN_CONTINUATION` says, and always done where it says nothing [R6].
   */
  readonly decider?: Decider;
  readonly limits?: z.input<typeof limitsSchema>;
  readonly thresholds?: z.input<typeof thresholdsSchema>;
  /** How models give their replies: as JSON text (the default), or as the arguments of a tool call. */
  readonly replyForm?: ReplyForm;
  /** Prompts to use in place of the product's own, one by one. */
  readonly prompts?: Partial<Record<Task, Prompt>>;
  /** Keeps what sessions remember; without one, a memory that lives as long as the chain. */
  readonly sessions?: SessionStore;
  /** Keeps the journals of runs: they can then be listed, replayed and resumed. */
  readonly journals?: JournalStore;
  readonly clock?: Clock;
  /** Makes the run ids; random by default. */
  readonly newId?: () => string;
}

const text = z.string().trim().min(1);
const WANTED_SCHEMA = 'wanted a Standard Schema: one of zod, valibot or arktype';

/** Unknown keys are refused: a misspelt option would silently do nothing. */
const optionsSchema = z.strictObject({
  model: aModel.optional(),
  fallbackModels: z.array(aModel).optional(),
  prices: priceTableSchema.optional(),
  documents: having('search', 'wanted something to search, say createPassageIndex(documents)').optional(),
  embeddings: having('embed', 'wanted an embedding model, say openaiEmbeddings()').optional(),
  capabilities: z
    .array(z.looseObject({ name: text, description: text, arguments: z.custom(isStandardSchema, WANTED_SCHEMA) }))
    .optional(),
  decider: z.custom(isDecider, 'wanted a function, modelDecider or null').optional(),
  limits: limitsSchema.prefault({}),
  thresholds: thresholdsSchema.prefault({}),
  replyForm: z.enum(REPLY_FORMS).optional(),
  prompts: z.partialRecord(z.enum(TASKS), z.custom(isPrompt, 'wanted a prompt of definePrompt')).optional(),
  sessions: z.custom(isStore, 'wanted a session store, say memorySessions() or sqliteSessions("chat.db")').optional(),
  journals: z.custom(isJournals, 'wanted a store of journals, say fileJournals("runs")').optional(),
  clock: aClock.optional(),
  newId: aFunction.optional(),
});

function isDecider(value: unknown): boolean {
  const { decides } = Object(value) as Partial<ModelDecider>;
  return value === null || typeof value === 'function' || decides === 'model';
}

function isSchema(value: unknown): boolean {
  return typeof (value as z.ZodType | null)?.safeParseAsync === 'function';
}

function isStore(value: unknown): boolean {
  const { recall, append } = (value ?? {}) as Partial<SessionStore>;
  return typeof recall === 'function' && typeof append === 'function';
}

function isJournals(value: unknown): boolean {
  const { create, read, open, list } = (value ?? {}) as Partial<JournalStore>;
  return [create, read, open, list].every((method) => typeof method === 'function');
}

function isPrompt(value: unknown): boolean {
  const { name, version, input, output, system, user } = (value ?? {}) as Partial<Prompt>;
  return (
    typeof name === 'string' && Number.isFinite(version) && isSchema(input) && isSchema(output) && !!system && !!user
  );
}

/** Limits and thresholds with their defaults. Throws `invalid_option`, which names the first option that makes no sense. */
export function readOptions(options: PostChainOptions): { readonly limits: Limits; readonly thresholds: Thresholds } {
  const read = optionsSchema.safeParse(options);
  if (!read.success) throw invalidOption('The options', options, read.error, optionsSchema);
  for (const [task, prompt] of Object.entries(options.prompts ?? {}))
    if (prompt?.name !== task)
      throw new PostChainError(
        'invalid_option',
        `prompts.${task}: got the prompt of "${prompt?.name}"; wanted one whose name is "${task}".`,
      );
  const { limits, thresholds } = read.data;
  return { limits, thresholds };
}

/** The parts of a chain, checked and with what was not given filled in. Throws `invalid_option` for options that make no sense. */
export function resolveOptions(options: PostChainOptions): ChainParts {
  const { limits, thresholds } = readOptions(options);
  return {
    limits,
    thresholds,
    prices: options.prices ?? null,
    newRunId: options.newId ?? randomId,
    models: [options.model ?? extractiveModel(), ...(options.fallbackModels ?? [])],
    replyForm: options.replyForm ?? 'text',
    prompts: { ...prompts, ...given(options.prompts) },
    clock: options.clock ?? systemClock,
    passages: options.documents ?? noPassages,
    embeddings: options.embeddings ?? null,
    capabilities: createRegistry(options.capabilities ?? []),
    decider: options.decider === undefined ? deciderOf(host?.env ?? {}, warn) : options.decider,
    sessions: options.sessions ?? memorySessions(),
  };
}

const randomId = (): string => globalThis.crypto.randomUUID();

/** A browser has no process. */
const host = globalThis.process as NodeJS.Process | undefined;

const warned = new Set<string>();

/** On stderr, and once a process. */
function warn(message: string): void {
  if (warned.has(message)) return;
  warned.add(message);
  host?.emitWarning(message, { code: CONTINUATION });
}

/** Without what is undefined: leaving out and giving nothing are the same. */
function given<Given extends object>(options: Given = {} as Given): Given {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Given;
}
