import * as z from 'zod';

/**
 * Schemas of what the Open Responses specification (openresponses.org, version of 2026-04-24) requires of a response and of the events that
 * this server sends. Based on its OpenAPI document, without optional members.
 */
const part = z.discriminatedUnion('type', [
  z.object({ type: z.literal('output_text'), text: z.string(), annotations: z.array(z.unknown()) }),
  z.object({ type: z.literal('summary_text'), text: z.string() }),
]);

const item = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('message'),
    id: z.string(),
    status: z.enum(['in_progress', 'completed', 'incomplete']),
    role: z.enum(['user', 'assistant', 'system', 'developer']),
    content: z.array(part),
  }),
  z.object({ type: z.literal('reasoning'), id: z.string(), summary: z.array(part) }),
  z.object({
    type: z.literal('function_call'),
    id: z.string(),
    call_id: z.string(),
    name: z.string(),
    arguments: z.string(),
    status: z.enum(['in_progress', 'completed', 'incomplete']),
  }),
]);

const count = z.int().nonnegative();

export const responseSchema = z.object({
  id: z.string(),
  object: z.literal('response'),
  created_at: z.int(),
  completed_at: z.int().nullable(),
  status: z.string(),
  incomplete_details: z.object({ reason: z.string() }).nullable(),
  model: z.string(),
  previous_response_id: z.string().nullable(),
  instructions: z.string().nullable(),
  output: z.array(item),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  tools: z.array(z.unknown()),
  tool_choice: z.enum(['none', 'auto', 'required']),
  truncation: z.enum(['auto', 'disabled']),
  parallel_tool_calls: z.boolean(),
  text: z.object({ format: z.object({ type: z.literal('text') }) }),
  top_p: z.number(),
  presence_penalty: z.number(),
  frequency_penalty: z.number(),
  top_logprobs: z.int(),
  temperature: z.number(),
  reasoning: z.object({}).nullable(),
  usage: z
    .object({
      input_tokens: count,
      output_tokens: count,
      total_tokens: count,
      input_tokens_details: z.object({ cached_tokens: count }),
      output_tokens_details: z.object({ reasoning_tokens: count }),
    })
    .nullable(),
  max_output_tokens: z.int().nullable(),
  max_tool_calls: z.int().nullable(),
  store: z.boolean(),
  background: z.boolean(),
  service_tier: z.string(),
  metadata: z.record(z.string(), z.string()),
  safety_identifier: z.string().nullable(),
  prompt_cache_key: z.string().nullable(),
});

const lifecycle = { response: responseSchema };
const place = { output_index: count };
const content = { ...place, item_id: z.string(), content_index: count };
const summary = { ...place, item_id: z.string(), summary_index: count };

const MEMBERS: Readonly<Record<string, z.ZodRawShape>> = {
  'response.created': lifecycle,
  'response.in_progress': lifecycle,
  'response.completed': lifecycle,
  'response.incomplete': lifecycle,
  'response.output_item.added': { ...place, item },
  'response.output_item.done': { ...place, item },
  'response.reasoning_summary_part.added': { ...summary, part },
  'response.reasoning_summary_part.done': { ...summary, part },
  'response.reasoning_summary_text.delta': { ...summary, delta: z.string() },
  'response.reasoning_summary_text.done': { ...summary, text: z.string() },
  'response.function_call_arguments.delta': { ...place, item_id: z.string(), delta: z.string() },
  'response.function_call_arguments.done': { ...place, item_id: z.string(), arguments: z.string() },
  'response.content_part.added': { ...content, part },
  'response.content_part.done': { ...content, part },
  'response.output_text.delta': { ...content, delta: z.string() },
  'response.output_text.done': { ...content, text: z.string() },
};

/** Returns the schema of an event; undefined if the specification has no event of this type. */
export const eventSchemaOf = (type: string): z.ZodType | undefined =>
  MEMBERS[type] && z.object({ type: z.literal(type), sequence_number: count, ...MEMBERS[type] });
