import type { ReadReplyInput } from '../../../machines/attempt/actors.ts';
import { callInput, initialAttemptState } from '../../../machines/attempt/state.ts';
import type { CallAheadInput } from '../../../machines/contracts/attempt.ts';
import type { CallSubject } from '../../../machines/contracts/journal.ts';
import type { Json } from '../../durable/codec.ts';
import { digestOf } from '../../durable/machine-digest.ts';

export function describeCall(source: string, input: unknown): Json {
  const call = modelCallInput(source, input);
  const { attemptId, task, capability } = Object(call ?? input) as Readonly<Record<string, unknown>>;
  const { runId } = Object(call?.input ?? input) as { readonly runId?: string };
  const asked = textOf(call === null ? input : requestOf(call));
  return {
    ...(typeof attemptId === 'string' && { attemptId }),
    ...(typeof task === 'string' && { task }),
    ...(typeof capability === 'string' && { capability }),
    request: digestOf(runId === undefined ? asked : asked.replaceAll(JSON.stringify(runId), '"run"')),
  } satisfies CallSubject;
}

/** Returns the JSON text without tool calls. A replacer takes several times as long as none, and most texts contain no tool call. */
function textOf(asked: unknown): string {
  const whole = JSON.stringify(asked) ?? '';
  return whole.includes('"toolCall') ? JSON.stringify(asked, withoutToolCall) : whole;
}

/** A replacer for `JSON.stringify` that omits tool calls, because a provider's ids differ from call to call. */
const withoutToolCall = (name: string, value: unknown): unknown =>
  name === 'toolCall' || name === 'toolCallId' ? undefined : value;

/** Returns the input of a model call, whether it started early or not; null for any other call. */
function modelCallInput(source: string, input: unknown): ReadReplyInput | null {
  if (source === 'readReply') return input as ReadReplyInput;
  return source === 'callAhead' ? callInput(initialAttemptState((input as CallAheadInput).attempt)) : null;
}

function requestOf({ task, model, input, instructions, phases, feedback }: ReadReplyInput) {
  return { task, model, input, instructions, phases, feedback };
}
