import type { StandardSchemaV1 } from '@standard-schema/spec';
import * as z from 'zod/mini';
import { PostChainError } from '../../machines/contracts/error.ts';
import { firstChars } from '../../machines/text/clip.ts';
import { describeValue } from './describe-value.ts';
import { invalidOption } from './options.ts';

/** The types of events that people may send to actors of a machine, each with a schema of the other members of the event. */
export type EventSchemas = Readonly<Record<string, StandardSchemaV1>>;

/** An event whose type and members are checked. */
export type ActorEvent = { readonly type: string } & Readonly<Record<string, unknown>>;

/** XState keeps every type that a machine has received in memory. */
const MAX_TYPE_CHARS = 200;
export const eventSchema = z.looseObject({ type: z.string().check(z.minLength(1), z.maxLength(MAX_TYPE_CHARS)) });

/** The receiver adds the name of who answered. */
export const approvalSchema = z.strictObject({
  type: z.literal('approval.given'),
  id: z.string(),
  digest: z.string(),
  decision: z.enum(['approve', 'deny']),
  edited: z.optional(z.json()),
  reason: z.optional(z.string()),
});

/**
 * Returns the event to send to an actor. Without `events`, any type that does not begin with `xstate.` is accepted. `by` names the sender. Throws
 * `invalid_option` with the name of the invalid member before the colon.
 */
export async function acceptedEvent(
  body: ActorEvent,
  { events, by }: { readonly events?: EventSchemas | undefined; readonly by: string | undefined },
): Promise<ActorEvent> {
  const { type, ...members } = body;
  if (type.startsWith('xstate.')) throw invalid('type', 'expected a type that does not begin with "xstate."', type);
  // Only the receiver says who has answered, whatever the schemas of the machine's own events.
  if (type === 'approval.given') return { ...checkedApproval(body), ...(by !== undefined && { by }) };
  const schema = events !== undefined && Object.hasOwn(events, type) ? events[type] : undefined;
  if (schema !== undefined) return { ...Object(await validated(schema, members, 'event')), type };
  if (events === undefined) return body;
  throw invalid('type', `expected one of ${[...Object.keys(events), 'approval.given'].join(', ')}`, type);
}

function checkedApproval(body: ActorEvent): z.output<typeof approvalSchema> {
  const read = approvalSchema.safeParse(body);
  if (read.success) return read.data;
  throw invalidOption('body', body, read.error, approvalSchema);
}

/** Returns the output of a schema for a value. Throws `invalid_option` with the first problem. */
export async function validated(schema: StandardSchemaV1, value: unknown, what: string): Promise<unknown> {
  const result = await schema['~standard'].validate(value);
  if (result.issues === undefined) return result.value;
  const [issue] = result.issues;
  const keys = (issue?.path ?? []).map((part) => (typeof part === 'object' ? part.key : part));
  throw invalid([what, ...keys.map(String)].join('.'), firstChars(issue?.message ?? 'invalid', 500));
}

function invalid(param: string, expected: string, ...received: readonly unknown[]): PostChainError {
  const values = received.map((value) => `; received ${describeValue(value)}`).join('');
  return new PostChainError('invalid_option', `${param}: ${expected}${values}.`);
}
