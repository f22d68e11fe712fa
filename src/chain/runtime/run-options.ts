import type { StandardSchemaV1 } from '@standard-schema/spec';
import * as z from 'zod/mini';
import type { ChainInput } from '../../../machines/contracts/chain-state.ts';
import { PostChainError } from '../../../machines/contracts/error.ts';
import { shallowObjectSchema } from '../../../machines/contracts/events.ts';
import type { AttachedFile } from '../../../machines/contracts/message.ts';
import { type Message, messageSchema } from '../../../machines/contracts/message.ts';
import { PHASES, type Phase } from '../../../machines/contracts/phase.ts';
import type { PriceTable } from '../../../machines/contracts/usage.ts';
import { withoutFiles } from '../../../machines/policies/message-parts.ts';
import { isPhase } from '../../../machines/policies/progress.ts';
import { isThenable } from '../../internal/async.ts';
import { describeValue } from '../../internal/describe-value.ts';
import { parseOption, signalSchema } from '../../internal/options.ts';
import { isStandardSchema, type JsonSchema, jsonSchemaOf } from '../../internal/standard-schema.ts';
import {
  attachmentOf,
  type Content,
  contentSchema,
  distinctFiles,
  type ReadContent,
  readContent,
  requireAcceptingModel,
} from '../../llm/content.ts';
import { isExtractive } from '../../models/extractive/extractive-model.ts';
import { type ClientTool, describeClientTools } from '../../tools/client-tools.ts';
import { type ChainParts, noPassages } from './actors.ts';
import { deciderKind } from './decider.ts';
import { combineInstructions, instructionsSchema } from './instructions.ts';

/** An earlier turn of the conversation. */
export interface Turn {
  readonly role: 'user' | 'assistant';
  readonly content: Content;
}

/**
 * The schema of an answer's value: a Standard Schema that converts itself to JSON Schema (zod 4.2, arktype, valibot with
 * `toStandardJsonSchema`), a JSON Schema (draft 7), or both.
 */
export type AnswerSchema =
  | StandardSchemaV1
  | { readonly schema: StandardSchemaV1; readonly jsonSchema: JsonSchema }
  | JsonSchema;

/** The type of the value: the output of a Standard Schema, or unknown. */
export type AnswerValue<Schema> = Schema extends StandardSchemaV1
  ? StandardSchemaV1.InferOutput<Schema>
  : Schema extends { readonly schema: infer Standard extends StandardSchemaV1 }
    ? StandardSchemaV1.InferOutput<Standard>
    : unknown;

export interface RunOptions<Schema extends AnswerSchema = AnswerSchema> {
  /** The id of the run. By default, the chain's `newId` generates one. */
  readonly runId?: string;
  /** A question or a task: a text, or a list of texts, images and files (at most 20 MB in total). */
  readonly request: Content;
  /** Earlier turns, oldest first. A user's turn is never shortened or dropped without consent. */
  readonly history?: readonly Turn[];
  /** Messages to start with instead of `history`: for example the context of an earlier run with an operation undone. */
  readonly messages?: readonly Message[];
  /** `automatic`: the chart chooses the next phase. `manual`: after each cycle, the run waits for the user's direction, within its limits. */
  readonly mode?: 'automatic' | 'manual';
  /** The phase to start with; `action` by default. */
  readonly startAt?: Phase;
  /**
   * The session the request belongs to: the run gets the session's newest turns, and becomes one of them. At most 200 characters, no
   * control characters. Without an id the run belongs to no session.
   */
  readonly sessionId?: string;
  /** Instructions for this run, at most 20,000 characters, in addition to those of the chain, which precede them. */
  readonly instructions?: string;
  /**
   * Tools that only the client of the run can run, at most 128. Each call of one waits for its result, like an approval: answer with the decision
   * `respond` or `deny`. The journal stores the tools, so that any process can resume the run.
   */
  readonly clientTools?: readonly ClientTool[];
  /**
   * The answer also gets a `value` of this schema, which the model states from the final text with a further call. The journal records the
   * JSON Schema; another process that makes the call again validates by it alone.
   */
  readonly answer?: Schema;
  /** JSON that the calling program stores in the journal for its own use. */
  readonly host?: Readonly<Record<string, z.core.util.JSONType>>;
  /** Interrupts the run when it aborts; the run still answers, degraded. */
  readonly signal?: AbortSignal;
}

const MAX_REQUEST_CHARS = 1_000_000;
const MAX_SESSION_ID_CHARS = 200;

const phaseSchema = z.custom<Phase>(
  (name) => typeof name === 'string' && isPhase(name),
  `expected one of ${PHASES.join(', ')}`,
);

const sessionIdSchema = z.custom<string>(
  isSessionId,
  `expected 1 to ${MAX_SESSION_ID_CHARS} characters, not all blank, without control characters`,
);

const turnSchema: z.ZodMiniType<Turn> = z.object(
  {
    role: z.enum(['user', 'assistant'], 'expected "user" or "assistant"'),
    content: contentSchema,
  },
  'expected a role ("user" or "assistant") and content (a string or an array of parts)',
);

const MAX_CLIENT_TOOLS = 128;

export const clientToolsSchema: z.ZodMiniType<readonly ClientTool[]> = z
  .array(
    z.strictObject({ name: z.string(), description: z.string(), arguments: shallowObjectSchema }),
    'expected an array of tools',
  )
  .check(z.maxLength(MAX_CLIENT_TOOLS, `expected at most ${MAX_CLIENT_TOOLS} tools`));

/** Strict: a misspelled option would be ignored silently. */
export const runOptionsSchema = z.strictObject({
  runId: z.optional(sessionIdSchema),
  request: z.optional(z.unknown()),
  history: z._default(z.array(turnSchema, 'expected an array of turns'), []),
  messages: z.optional(z.array(messageSchema)),
  mode: z._default(z.enum(['automatic', 'manual'], 'expected "automatic" or "manual"'), 'automatic'),
  startAt: z._default(phaseSchema, 'action'),
  sessionId: z.optional(sessionIdSchema),
  instructions: z.optional(instructionsSchema),
  clientTools: z._default(clientToolsSchema, []),
  answer: z.optional(z.unknown()),
  // First of all: the check of JSON is recursive.
  host: z.optional(
    z.pipe(
      z.record(z.string(), z.unknown()).check(z.refine(hasJsonText, 'expected JSON without references to itself')),
      z.record(z.string(), z.json()),
    ),
  ),
  signal: z.optional(signalSchema),
});

/** Whether an object can be serialized: one that contains itself cannot. */
function hasJsonText(value: object): boolean {
  try {
    return JSON.stringify(value) !== undefined;
  } catch {
    return false;
  }
}

function isSessionId(id: unknown): boolean {
  const fits = typeof id === 'string' && id.trim() !== '' && id.length <= MAX_SESSION_ID_CHARS;
  // Lone surrogates become indistinguishable when written to a file.
  return fits && !/[\p{Cc}\p{Cs}]/u.test(id);
}

interface ReadAnswerSchema {
  readonly jsonSchema: JsonSchema;
  /** Absent if there is only a JSON Schema. */
  readonly schema?: StandardSchemaV1;
}

/** Throws `invalid_schema`. */
function readAnswerSchema(given: unknown): ReadAnswerSchema | null {
  if (given === undefined) return null;
  const { schema: inside, jsonSchema } = isStandardSchema(given) ? { schema: given } : Object(given);
  const schema = isStandardSchema(inside) ? inside : undefined;
  const read = shallowObjectSchema.safeParse(schema === undefined ? given : (jsonSchema ?? jsonSchemaOf(schema)));
  if (read.success) return { jsonSchema: JSON.parse(JSON.stringify(read.data)), ...(schema && { schema }) };
  const problem = read.error.issues[0]?.message ?? 'expected a schema';
  throw new PostChainError(
    'invalid_schema',
    `answer: expected a Standard Schema (zod, valibot or arktype) or a JSON Schema (${problem}); received ${describeValue(given)}.`,
  );
}

/**
 * Returns the input of the chain machine for a run, the files of its messages, and the Standard Schema of its value. Throws
 * `invalid_request`, `unsupported_file`, `invalid_schema` or `invalid_option`.
 */
export function createChainInput(
  run: RunOptions,
  parts: ChainParts,
): {
  readonly input: ChainInput;
  readonly files: readonly AttachedFile[];
  readonly valueSchema: StandardSchemaV1 | undefined;
} {
  const { clock, models, capabilities, continuation, passages, embeddings, prices, limits, thresholds } = parts;
  const { consent, consentFor, policies, grader, profile } = parts;
  const { request, history, messages, mode, startAt, sessionId, clientTools, answer, ...own } = parseRunOptions(run);
  const { jsonSchema, schema: valueSchema } = readAnswerSchema(answer) ?? {};
  const files = distinctFiles([...history.flatMap((turn) => turn.files), ...request.files]);
  requireAcceptingModel(models, files);
  const instructions = combineInstructions([parts.instructions, own.instructions], models);
  const startedAtMs = clock.now();
  if (!Number.isFinite(startedAtMs) || Math.abs(startedAtMs) > MAX_TIME_MS)
    throw new PostChainError(
      'invalid_option',
      `clock: expected now() to return milliseconds; received ${startedAtMs}.`,
    );
  const runId = run.runId ?? parts.newRunId();
  const input: ChainInput = {
    limits,
    thresholds,
    profile,
    runId,
    identity: `${runId} ${startedAtMs}`,
    request: request.text,
    origin: startAt,
    mode,
    startedAtMs,
    contextWindowTokens: Math.min(...models.map((model) => model.contextWindowTokens)),
    fallbackModels: models.length - 1,
    capabilities: [...capabilities.descriptors, ...describeClientTools(clientTools, capabilities.descriptors)],
    continuation: deciderKind(continuation),
    approver: parts.approve === null ? 'user' : 'program',
    policies: policies.numbers,
    sessionId,
    consent,
    consentFor,
    ...pricesOf(models, prices),
    maxOutputTokens: models.map(({ maxOutputTokens, contextWindowTokens }) =>
      Math.min(maxOutputTokens ?? contextWindowTokens, contextWindowTokens),
    ),
    hasDocuments: passages !== noPassages,
    hasEmbeddings: embeddings !== null,
    hasGrader: grader !== null,
    instructions,
    ...(jsonSchema && { requestedValue: { schema: jsonSchema, hasModel: !models.every(isExtractive) } }),
    attachments: request.files.map(attachmentOf),
    // The bytes of their files are in the journal of the other run.
    messages: messages?.map(withoutFiles) ?? historyMessages(history, startedAtMs),
  };
  return { input, files, valueSchema };
}

/** The latest time a Date can hold. */
const MAX_TIME_MS = 8.64e15;

function pricesOf(models: ChainParts['models'], table: PriceTable | null): Pick<ChainInput, 'prices' | 'currency'> {
  if (table === null) return { prices: [], currency: null };
  const { models: priced, currency } = table;
  return { prices: models.map(({ id }) => (Object.hasOwn(priced, id) ? (priced[id] ?? null) : null)), currency };
}

/** Throws `invalid_request` for a request in place of the options, and for a promise of them. */
function requireObject(options: RunOptions): RunOptions {
  if (typeof options === 'object' && !Array.isArray(options) && !isThenable(options)) return options;
  throw new PostChainError(
    'invalid_request',
    `options: expected an object such as { request: "What is a cycle?" }; received ${describeValue(options)}.`,
  );
}

/** Validates the options of a run and fills in defaults. Throws `invalid_request` or `invalid_option`. */
function parseRunOptions(options: RunOptions) {
  const { request: given, messages } = requireObject(options ?? {});
  const request = readContent(contentSchema.safeParse(given).data ?? '', 'request');
  if (request.text.trim() === '')
    throw new PostChainError(
      'invalid_request',
      `request: expected a question or a task; received ${typeof given === 'string' ? 'an empty string' : describeValue(given)}.`,
    );
  if (request.text.length > MAX_REQUEST_CHARS)
    throw new PostChainError(
      'invalid_request',
      `request: expected at most ${MAX_REQUEST_CHARS} characters; received ${request.text.length}. Pass documents.`,
    );
  const {
    history: turns,
    mode,
    startAt,
    sessionId = null,
    instructions = null,
    clientTools,
    answer,
  } = parseOption(runOptionsSchema, options, 'options');
  if (messages !== undefined && turns.length > 0)
    throw new PostChainError('invalid_option', 'history and messages: pass one of them; received both.');
  requireUniqueIds(messages ?? []);
  const history = turns.map(({ role, content }, at) => ({ role, ...readContent(content, `history[${at}].content`) }));
  return { request, history, messages, mode, startAt, sessionId, instructions, clientTools, answer };
}

function requireUniqueIds(messages: readonly Message[]): void {
  const seen = new Set<string>();
  for (const { id } of messages) {
    if (seen.has(id))
      throw new PostChainError('invalid_option', `messages: expected unique ids; received ${describeValue(id)} twice.`);
    seen.add(id);
  }
}

/** Throws `invalid_option`. */
export const parseSessionId = (id: string): string => parseOption(sessionIdSchema, id, 'sessionId');

/** Throws `invalid_option`, listing the phases. */
export const parsePhase = (name: string): Phase => parseOption(phaseSchema, name, 'phase');

function historyMessages(
  history: readonly (Pick<Turn, 'role'> & ReadContent)[],
  createdAtMs: number,
): readonly Message[] {
  return history.map(({ role, text: content, files }, index) => ({
    id: `h${index + 1}`,
    role,
    phase: null,
    content,
    createdAtMs,
    cycle: 1,
    tags: [],
    importance: role === 'user' ? 1 : 0.5,
    links: [],
    references: [],
    source: null,
    ...(files.length > 0 && { attachments: files.map(attachmentOf) }),
  }));
}
