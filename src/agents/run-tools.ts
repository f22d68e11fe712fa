import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { ActorLogic, ActorSystem, ActorSystemInfo, EventObject, Snapshot } from 'xstate';
import * as z from 'zod/mini';
import type { Validation } from '../../machines/contracts/attempt.ts';
import type { CapabilityDescriptor } from '../../machines/contracts/capability.ts';
import { MAX_TIMER_MS } from '../../machines/contracts/limits.ts';
import type { ChatTurn, TextTurn } from '../../machines/contracts/model.ts';
import { systemClock } from '../durable/clock.ts';
import { idempotencyKey, isHosted } from '../durable/hosted-call.ts';
import { mapMaybePromise } from '../internal/async.ts';
import { declareOutcomes } from '../internal/declared-outcomes.ts';
import { isJsonNode, type JsonNode } from '../internal/json-schema.ts';
import { functionSchema, parseOption } from '../internal/options.ts';
import { valuesIn } from '../internal/repair-candidates.ts';
import { type JsonSchema, jsonSchemaOf, schemaFailure } from '../internal/standard-schema.ts';
import { wireName } from '../internal/wire-name.ts';
import { promiseActivity } from '../llm/activities.ts';
import type { AttemptPrompt } from '../llm/attempts/attempt-options.ts';
import type { PromptSpec, ToolCall } from '../llm/request.ts';
import { nestedSchema, outputShape, validate } from '../llm/schemas/output-shape.ts';
import { withOfferedTools } from '../llm/streaming/offered-tools.ts';
import { createProseDriver, type ProseValue } from '../llm/streaming/prose-driver.ts';
import { writtenCalls } from '../llm/written-calls.ts';
import type { Capability } from '../tools/capability.ts';
import { checkArguments } from '../tools/check-arguments.ts';
import { needsApproval } from '../tools/needs-approval.ts';
import { type CapabilityRegistry, createRegistry } from '../tools/registry.ts';
import { runCapability } from '../tools/run-capability.ts';
import type { GenerateOptions } from './generate.ts';
import {
  exampleOutcomes,
  FAILURES,
  type ModelActor,
  type ModelOptions,
  modelActor,
  type PromptFor,
  turnsFor,
} from './model-actor.ts';
import { createToolsMachine, type ThinkInput, type ThinkReply, type ToolsOutput } from './run-tools.machine.ts';
import { type ToolQuestion, toolCallMachine } from './tool-call.machine.ts';
import type { Limits, Round, ToolLimits } from './tool-rounds.ts';

/** Options of `runTools`. */
export interface RunToolsOptions<Input, Schema extends StandardSchemaV1> extends Omit<ModelOptions, 'limits'> {
  /** The tools that the model may call, made by `defineCapability`. */
  readonly tools: readonly Capability[];
  /** Whether a tool without an `approval` of its own needs the approval of a person for each call. Default `never`. */
  readonly approval?: 'always' | 'never' | undefined;
  /** Returns the prompt for the actor's input. Without it, the input is the prompt. */
  readonly prompt?: PromptFor<Input>;
  /** The schema of the answer, as for `generate`. Without it, the answer is text. */
  readonly schema?: Schema | undefined;
  /** The schema as JSON Schema (draft 7), if it cannot convert itself. */
  readonly jsonSchema?: JsonSchema | undefined;
  readonly limits?: (ModelOptions['limits'] & ToolLimits) | undefined;
  /** As for `generate`, with the answer received so far. Text before tool calls is included, although it is not the answer. */
  readonly onPartial?: GenerateOptions<Input, Schema>['onPartial'];
}

/** An actor whose output is an answer, with the tool calls that led to it. */
export type RunToolsActor<Input, Answer> = ActorLogic<
  Snapshot<ToolsOutput<Answer>>,
  EventObject,
  Input,
  ActorSystem<ActorSystemInfo>
>;

/**
 * Returns an actor in which a language model answers with the help of tools, in as many rounds as it needs. The calls of one reply run at
 * the same time. A call whose tool needs approval waits for `approval.given`, as the actor `approval` does; the approval is bound to a digest
 * of the tool and its arguments. A failed, invalid or denied call is a result that the model reads. After the last round, or when it only
 * repeats its calls, the model has to answer; `stopReason` says which. Without an answer, the actor fails, as `generate` does.
 *
 * @throws PostChainError `invalid_option`, `invalid_schema` or `duplicate_capability`.
 * @example
 * const support = runTools({ model, tools: [findOrder, refund], prompt: (mail: string) => `Answer this mail:\n${mail}` });
 * answering: {
 *   invoke: { src: 'support', input: ({ context }) => context.mail, onDone: 'replying', onError: 'waitingForPerson' },
 * }
 */
export function runTools<Input = AttemptPrompt, Schema extends StandardSchemaV1 = StandardSchemaV1<string>>(
  options: RunToolsOptions<Input, Schema>,
): RunToolsActor<Input, StandardSchemaV1.InferOutput<Schema>> {
  const { tools, approval = 'never', prompt, schema, jsonSchema, limits: given = {}, onPartial, ...others } = options;
  parseOption(optionsSchema, { tools, approval, prompt, onPartial }, 'options');
  const { limits, rest } = limitsOf(given);
  const registry = createRegistry(tools);
  const clock = options.clock ?? systemClock;
  const now = () => clock.now();
  const answer = schema === undefined ? null : { schema, json: jsonSchema ?? jsonSchemaOf(schema) };
  const think = thinker({ ...others, limits: rest, schema: anyReply }, { registry, answer, prompt, onPartial });
  const checkCall = promiseActivity(
    async ({ input, signal }: { input: { tool: string; arguments: string }; signal: AbortSignal }) => {
      const checked = await checkArguments(registry, { capability: input.tool, arguments: input.arguments });
      if (!checked.ok) return checked;
      const call = { capability: input.tool, arguments: checked.arguments };
      return {
        ...checked,
        needsApproval: await needsApproval(registry, call, approval, { signal, sessionId: null, now }),
      };
    },
  );
  const executeTool = promiseActivity(
    ({ input, signal, self }: { input: ToolQuestion; signal: AbortSignal; self: object }) =>
      runCapability(registry, {
        capability: input.tool,
        arguments: input.arguments as Record<string, unknown>,
        sessionId: null,
        idempotencyKey: isHosted({ self }) ? idempotencyKey({ self }) : crypto.randomUUID(),
        maxResultChars: limits.maxResultChars,
        signal,
        now,
      }),
  );
  const toolCall = toolCallMachine.provide({
    actors: { checkCall: checkCall as never, executeTool: executeTool as never },
  });
  const timeouts = Object.fromEntries(
    registry.descriptors.flatMap(({ name, timeoutMs }) => (timeoutMs === null ? [] : [[name, timeoutMs]])),
  );
  const machine = createToolsMachine({ limits, timeouts }).provide({ actors: { think: think as never, toolCall } });
  return declareOutcomes(machine, () => {
    const outputOf = (found: unknown) => ({ answer: found, rounds: [], stopReason: 'answered' });
    return [...exampleOutcomes(answer?.json ?? { type: 'string' }, outputOf), ...FAILURES];
  }) as never;
}

const limitsSchema = z.object({
  maxRounds: z._default(z.int().check(z.gte(1)), 50),
  maxParallelCalls: z._default(z.int().check(z.gte(1)), 8),
  maxSameCalls: z._default(z.int().check(z.gte(1)), 3),
  toolMs: z._default(z.number().check(z.gt(0), z.lte(MAX_TIMER_MS)), 30_000),
  maxResultChars: z._default(z.int().check(z.gte(1)), 20_000),
});

const optionsSchema = z.object({
  tools: z.array(z.unknown()).check(z.minLength(1, 'expected one or more tools')),
  approval: z.enum(['always', 'never']),
  prompt: z.optional(functionSchema),
  onPartial: z.optional(functionSchema),
});

/** Returns the limits of tools, and the others. Throws `invalid_option`. */
function limitsOf(given: NonNullable<RunToolsOptions<unknown, StandardSchemaV1>['limits']>) {
  const { limits } = parseOption(z.object({ limits: limitsSchema }), { limits: given }, 'options');
  const rest = Object.fromEntries(Object.entries(given).filter(([name]) => !Object.hasOwn(limits, name)));
  return { limits: limits as Limits, rest };
}

/** The schema of the answer; null if it is text. */
type AnswerSchema = { readonly schema: StandardSchemaV1; readonly json: JsonSchema } | null;

interface ThinkParts<Input> {
  readonly registry: CapabilityRegistry;
  readonly answer: AnswerSchema;
  readonly prompt: PromptFor<Input>;
  readonly onPartial: ((partial: { readonly id: string; readonly value: never }) => void) | undefined;
}

const callSchema = z.object({ id: z._default(z.string(), ''), tool: z.string(), arguments: z.string() });
const anyReply = z.looseObject({});

function thinker<Input>(
  options: ModelOptions & { readonly schema: StandardSchemaV1 },
  { registry: { descriptors }, answer, prompt, onPartial }: ThinkParts<Input>,
): ModelActor<ThinkInput, ThinkReply> {
  const turnsOf = turnsFor(prompt, options);
  const offers = descriptors.map(({ name, description, arguments: parameters }) => ({ name, description, parameters }));
  return modelActor({
    options,
    others: ['tools', 'approval', 'prompt', 'onPartial'],
    isText: answer === null,
    onPartial: ({ attemptId: id }, reply) => {
      const value = isJsonNode(reply) ? reply['answer'] : reply;
      if (value !== undefined && value !== null) onPartial?.({ id, value: value as never });
    },
    specFor: (name) => {
      const specOf = (mayCall: boolean): PromptSpec => ({
        schemaName: wireName(name),
        shape: {
          ...outputShape(anyReply, name, replySchema(mayCall ? descriptors : [], answer)),
          validate: (value) => checkedReply(value, { name, answer, mayCall }),
        },
        turns: (input) => turnsWithRounds(turnsOf((input as ThinkInput).given as Input), (input as ThinkInput).rounds),
        tools: () => (mayCall ? offers : []),
        toolsInWords: () => (mayCall ? `${CALLS_IN_JSON}\n${describedTools(descriptors)}` : NO_TOOLS),
        fromToolCalls: (calls, text) => ({ text, calls: calls.map(askedCall) }),
        callsInText: writtenCalls,
        withToolCalls: withOfferedTools,
        toolTurns: (input) => nativeTurns(input as ThinkInput),
        ...(answer === null && { fromProse: (text: string) => ({ answer: text }) }),
      });
      const inJson = { calling: specOf(true), answering: specOf(false) };
      const inProse = { calling: proseSpec(inJson.calling, descriptors), answering: proseSpec(inJson.answering, []) };
      return ({ input }, _, model) => {
        const specs = answer === null && model?.nativeTools === true ? inProse : inJson;
        return (input as ThinkInput).mayCall ? specs.calling : specs.answering;
      };
    },
  });
}

/** Without a schema of the answer, a model with native tools replies in prose. If its server rejects tools, it writes the calls into its text. */
function proseSpec(spec: PromptSpec, tools: readonly CapabilityDescriptor[]): PromptSpec {
  const names = tools.map(({ name }) => name);
  const toValue: ProseValue = async (text, reason) => {
    const values: unknown[] = [];
    for await (const { value } of valuesIn(text, reason === 'stop')) values.push(value);
    const calls = writtenCalls(text, values, names);
    return calls.length > 0 ? spec.fromToolCalls?.(calls, '') : { answer: text };
  };
  return {
    ...spec,
    shape: { ...spec.shape, jsonSchema: {} },
    ...(names.length > 0 && { toolsInWords: () => `${CALLS_IN_TEXT}\n${describedTools(tools)}` }),
    prose: () => createProseDriver(toValue),
  };
}

const askedCall = ({ id, name, arguments: text }: ToolCall) => ({ id, tool: name, arguments: text });

const NO_TOOLS = 'No tool can run any more. Answer with what you know, and say what is missing.';

const CALLS_IN_JSON =
  'To call tools, put the calls into "calls", each with its arguments as JSON text, and leave "answer" null. The calls of one reply run at the same time. To answer, leave "calls" empty. The tools:';
const CALLS_IN_TEXT =
  'To call tools, reply with nothing but a JSON list of the calls: [{"tool":"NAME","arguments":{}}]. The calls of one reply run at the same time. To answer, reply with text. The tools:';

const describedTools = (tools: readonly CapabilityDescriptor[]): string =>
  JSON.stringify(tools.map(({ name, description, arguments: schema }) => ({ name, description, arguments: schema })));

/** The JSON Schema of a reply: an answer, or calls of these tools. */
function replySchema(tools: readonly CapabilityDescriptor[], answer: AnswerSchema): JsonNode {
  const json = answer?.json ?? { type: 'string' };
  if (tools.length === 0) {
    const properties = { answer: nestedSchema('/properties/answer', json) };
    return { type: 'object', properties, required: ['answer'], additionalProperties: false };
  }
  const call = {
    type: 'object',
    properties: { tool: { type: 'string', enum: tools.map(({ name }) => name) }, arguments: { type: 'string' } },
    required: ['tool', 'arguments'],
    additionalProperties: false,
  };
  return {
    type: 'object',
    properties: {
      answer: { anyOf: [nestedSchema('/properties/answer/anyOf/0', json), { type: 'null' }] },
      calls: { type: 'array', items: call },
    },
    required: ['answer', 'calls'],
    additionalProperties: false,
  };
}

interface ReplyRules {
  readonly name: string;
  readonly answer: AnswerSchema;
  readonly mayCall: boolean;
}

/** A reply without the members of the schema is the answer itself. */
function checkedReply(value: unknown, { name, answer, mayCall }: ReplyRules): Validation | Promise<Validation> {
  const isReply = isJsonNode(value) && (Object.hasOwn(value, 'answer') || Object.hasOwn(value, 'calls'));
  const reply = isReply ? value : { answer: value };
  const text = typeof reply['text'] === 'string' ? reply['text'] : '';
  const calls = z.array(callSchema).safeParse(reply['calls'] ?? []);
  if (!calls.success)
    return misfit(name, 'calls', 'expected a list of calls, each with a tool and its arguments as JSON text');
  if (calls.data.length > 0 && !mayCall)
    return misfit(name, 'calls', 'expected an answer, because no tool can run any more');
  if (calls.data.length > 0) return { ok: true, value: { answer: null, text, calls: calls.data } };
  const found = (checked: unknown): Validation => ({ ok: true, value: { answer: checked, text, calls: [] } });
  if (answer !== null)
    return mapMaybePromise(validate(answer.schema, name, reply['answer']), (checked) =>
      checked.ok ? found(checked.value) : checked,
    );
  return typeof reply['answer'] === 'string' && reply['answer'].trim() !== ''
    ? found(reply['answer'])
    : misfit(name, 'answer', 'expected an answer in text, or calls of tools');
}

const misfit = (name: string, path: string, message: string): Validation => ({
  ok: false,
  failure: schemaFailure(name, 'runTools', [{ path: [path], message }]),
});

/** The rounds as text, for a model without native tool calls. */
function turnsWithRounds(turns: readonly TextTurn[], rounds: readonly Round[]): readonly TextTurn[] {
  if (rounds.length === 0) return turns;
  const calls = rounds.flatMap((round) => round.calls.map(resultText));
  const last = turns.findLastIndex(({ role }) => role === 'user');
  return turns.map((turn, at) =>
    at === last ? { ...turn, content: `${turn.content}\n\nResults of tools so far:\n${calls.join('\n')}` } : turn,
  );
}

const resultText = ({ tool, arguments: given, success, output }: Round['calls'][number]): string =>
  JSON.stringify({ tool, arguments: given, [success ? 'output' : 'error']: output });

/** The rounds as native turns, and the input without them; null if there are none. */
function nativeTurns({ rounds, ...input }: ThinkInput): { input: ThinkInput; turns: readonly ChatTurn[] } | null {
  if (rounds.length === 0) return null;
  const turns = rounds.flatMap(({ text, calls }): ChatTurn[] => [
    {
      role: 'assistant',
      content: text,
      toolCalls: calls.map(({ id, tool: name, arguments: given }) => ({ id, name, arguments: given })),
    },
    ...calls.map(
      ({ id, tool: name, success, output }): ChatTurn => ({
        role: 'tool',
        content: success ? output : `Error: ${output}`,
        toolResult: { id, name, isError: !success },
      }),
    ),
  ]);
  return { input: { ...input, rounds: [] }, turns };
}
