import { toolNamed } from '../../machines/policies/tool-names.ts';
import { isJsonNode } from '../internal/json-schema.ts';
import { parseJson } from '../internal/json-text.ts';
import type { ToolCall } from './request.ts';

/**
 * Returns the calls of these tools that a model wrote into its text, in the form of its template or as JSON; none if anything in the text
 * may be something else. `values` are the JSON values in the text.
 */
export function writtenCalls(text: string, values: readonly unknown[], names: readonly string[]): readonly ToolCall[] {
  const elements = elementsIn(text, CALL, CALL_END);
  const given =
    elements.length > 0
      ? elements.map(([name, content]) => ({ name, arguments: argumentsIn(content) }))
      : values.flatMap(listOf);
  const calls = given.flatMap((one) => callOf(one, names) ?? []);
  return calls.length === given.length ? calls : [];
}

const CALL = /<(?:function=|invoke name=")([^>"]{1,200})"?>/gu;
const CALL_END = /<\/(?:function|invoke)>/gu;
const PARAMETER = /<parameter(?:=| name=")([^>"]{1,200})"?>/gu;
const PARAMETER_END = /<\/parameter>/gu;

/** Returns the name and the content of each element. Every character is read once. */
function elementsIn(text: string, begin: RegExp, end: RegExp): readonly (readonly [name: string, content: string])[] {
  const elements: (readonly [string, string])[] = [];
  for (begin.lastIndex = 0; ; begin.lastIndex = end.lastIndex) {
    const opened = begin.exec(text);
    if (opened === null) return elements;
    end.lastIndex = begin.lastIndex;
    const closed = end.exec(text);
    if (closed === null) return elements;
    elements.push([opened[1]?.trim() ?? '', text.slice(begin.lastIndex, closed.index)]);
  }
}

function argumentsIn(content: string): unknown {
  const parameters = elementsIn(content, PARAMETER, PARAMETER_END);
  if (parameters.length === 0) return content.trim();
  return Object.fromEntries(
    parameters.map(([name, value]) => {
      const text = value.replace(/^\n|\n$/gu, '');
      return [name, parseJson(text) ?? text];
    }),
  );
}

function listOf(value: unknown): readonly unknown[] {
  const { tool_calls: calls = value } = isJsonNode(value) ? value : {};
  return Array.isArray(calls) ? calls : [calls];
}

function callOf(given: unknown, names: readonly string[]): ToolCall | null {
  if (!isJsonNode(given)) return null;
  const { id, function: called = given } = given;
  const call: Readonly<Record<string, unknown>> = isJsonNode(called) ? called : { ...given, name: called };
  const name = toolNamed(String(call['name'] ?? call['tool'] ?? ''), names);
  if (!names.includes(name)) return null;
  const args = call['arguments'] ?? call['parameters'] ?? call['args'] ?? call['input'] ?? {};
  return {
    id: typeof id === 'string' ? id : '',
    name,
    arguments: typeof args === 'string' ? args : JSON.stringify(args),
  };
}
