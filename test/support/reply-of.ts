import type { ModelPart } from '../../machines/contracts/model.ts';

/** What the parts of one call say when they are put together. */
export interface Reply {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly { readonly name: string; readonly arguments: string }[];
  /** The finish reason, or the code of the failure. */
  readonly end: string;
}

/** Puts the parts together, and throws where they break the port's contract: order, indexes, names and the one last part. */
export function replyOf(parts: readonly ModelPart[]): Reply {
  const calls: { name: string; arguments: string }[] = [];
  let text = '';
  let reasoning = '';
  for (const part of parts.slice(0, -1)) {
    if (part.type === 'text-delta') text += part.text;
    else if (part.type === 'reasoning-delta') reasoning += part.text;
    else if (part.type === 'tool-call-delta') addTo(calls, part);
    else throw new Error(`a part came after the ${part.type}`);
  }
  const last = parts.at(-1);
  if (last?.type === 'finish') return { text, reasoning, calls, end: last.reason };
  if (last?.type === 'failure') return { text, reasoning, calls, end: last.failure.code };
  throw new Error(`expected a last part, got ${JSON.stringify(last)}`);
}

function addTo(
  calls: { name: string; arguments: string }[],
  part: Extract<ModelPart, { type: 'tool-call-delta' }>,
): void {
  if (part.index === calls.length) calls.push({ name: part.name, arguments: '' });
  const call = calls[part.index];
  if (call?.name !== part.name) throw new Error(`call ${part.index} is ${call?.name}, got ${JSON.stringify(part)}`);
  call.arguments += part.arguments;
}
