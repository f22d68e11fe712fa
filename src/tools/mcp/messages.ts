import { createParser } from 'eventsource-parser';
import { clipped } from '../../../machines/text/clip.ts';
import { parseJson } from '../../internal/json-text.ts';
import type { Sdk } from './sdk.ts';

type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const withoutNull = (object: Json): Json =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null));

/**
 * Returns the text of a server's message with what the SDK would reject, and then wait for, repaired: a response without an id gets that of
 * its request (`own`), members that are null are left out, and unreadable parts of a tool's result are replaced by their text or type.
 */
export function repaired(sdk: Sdk, text: string, own?: unknown): string {
  const message = parseJson(text);
  if (!isObject(message) || 'method' in message) return text;
  const { id = own, result, ...others } = withoutNull(message);
  const isCall = isObject(result) && ('content' in result || 'structuredContent' in result);
  const isValid = !isCall || !Array.isArray(result['content'] ?? []) || sdk.isSpecType.CallToolResult(result);
  if (id === undefined || (isValid && id === message['id'] && !Object.values(message).includes(null))) return text;
  return JSON.stringify({
    ...others,
    id,
    ...(result !== undefined && { result: isValid ? result : readable(sdk, result) }),
  });
}

function readable({ isSpecType }: Sdk, { content, structuredContent: structured, isError }: Json): object {
  const parts: readonly unknown[] = [content ?? []].flat();
  return {
    content: parts.map((part) => (isSpecType.ContentBlock(part) ? part : { type: 'text', text: textOf(part) })),
    ...(isObject(structured) && { structuredContent: structured }),
    ...(typeof isError === 'boolean' && { isError }),
  };
}

const MAX_TYPE_CHARS = 100;

function textOf(part: unknown): string {
  const { text = part, type } = Object(part) as { readonly text?: unknown; readonly type?: unknown };
  if (typeof text === 'string') return text;
  return `[unreadable content${typeof type === 'string' ? `, ${clipped(type, MAX_TYPE_CHARS)}` : ''}]`;
}

/** Repairs the messages of an event stream. */
export function repairedStream(sdk: Sdk, own: unknown): TransformStream<string, string> {
  let parser: ReturnType<typeof createParser>;
  return new TransformStream({
    start(controller) {
      parser = createParser({
        onEvent: ({ id, event, data }) => {
          const lines = repaired(sdk, data, own).split('\n');
          const head = [
            ...(id === undefined ? [] : [`id: ${id}`]),
            ...(event === undefined ? [] : [`event: ${event}`]),
          ];
          controller.enqueue([...head, ...lines.map((line) => `data: ${line}`), '', ''].join('\n'));
        },
        onRetry: (ms) => controller.enqueue(`retry: ${ms}\n\n`),
      });
    },
    transform: (text) => parser.feed(text),
  });
}
