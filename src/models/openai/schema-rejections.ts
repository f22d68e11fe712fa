import type { ModelRequest } from '../../../machines/contracts/model.ts';
import type { JsonNode } from '../../internal/json-schema.ts';
import type { Rejection } from './server-errors.ts';

const RULES = [
  String.raw`\bin context=\(`,
  String.raw`\b(?:additional_?properties|property_?names|pattern_?properties)\b`,
  "'(?:any|one|all)of'",
  String.raw`\bschema must\b`,
  'schema missing',
  'reference can only',
  "every key in '?properties",
  String.raw`\bjson schema\b.{0,60}\b(?:invalid|not (?:valid|supported)|unsupported|not permitted)\b`,
  String.raw`\binvalid (?:json )?schema\b`,
  'invalid_function_parameters',
  'grammar',
];
const ABOUT_SCHEMA = new RegExp(RULES.join('|'), 'iu');

/** Whether a server accepts requests of this kind, but not one of their schemas. Many servers say only which rule was broken. */
export function isAboutSchema({ text }: Pick<Rejection, 'text'>): boolean {
  return ABOUT_SCHEMA.test(text);
}

/** The names of the offered tools on the wire. */
interface WireNames {
  readonly offered: readonly string[];
}

const ABOUT_REPLY = /response_?\s?(?:format|schema|mime)|text\.format|output_(?:format|config)/iu;

/** Whether a rejection names the format of the reply. It may also quote words of the schema, such as the name of a tool. */
export function namesReplyFormat({ param, text }: Pick<Rejection, 'param' | 'text'>): boolean {
  return ABOUT_REPLY.test(`${param ?? ''} ${text}`);
}

/** How one tool is sent. `bare`: its schema is only in the prompt. `prompt`: all tools of the request are. */
export type ToolLevel = 'strict' | 'plain' | 'bare' | 'prompt';

export const LOWER = { strict: 'plain', plain: 'bare', bare: 'prompt', prompt: null } as const;

/** The tools whose schemas a server did not accept as they are: how they are sent, by the text of the schema. */
export type ToolLevels = ReadonlyMap<string, ToolLevel>;

const keys = new WeakMap<object, string>();

/** Returns the text of a schema, which is the same for every copy of it. */
export function schemaKey(schema: JsonNode): string {
  const key = keys.get(schema) ?? JSON.stringify(schema);
  keys.set(schema, key);
  return key;
}

/** Returns the position of the tool that a rejection names by its name or its place; -1 if it names none. The reply's tool has the place `own`. */
export function rejectedTool(
  { param, text }: Pick<Rejection, 'param' | 'text'>,
  names: WireNames,
  own: number,
): number {
  const [, place] = /\btools(?:\[|\.)(\d+)/u.exec(`${param ?? ''} ${text}`) ?? [];
  if (place !== undefined && names.offered[Number(place) - own] !== undefined) return Number(place) - own;
  const named = [...text.matchAll(/(?:['"`]|\b(?:function|tool) )([\w-]{1,64})\b/giu)].map(([, name]) => name);
  return names.offered.findIndex((name) => named.includes(name));
}

/** Returns the instruction with the schemas of the tools that are sent without them; null if there are none. */
export function bareToolText({ tools = [] }: Pick<ModelRequest, 'tools'>, names: WireNames, levels: ToolLevels) {
  const texts = tools.flatMap(({ parameters }, at) => {
    const key = schemaKey(parameters);
    return levels.get(key) === 'bare'
      ? [`The arguments of ${names.offered[at]} must match this JSON Schema:\n${key}`]
      : [];
  });
  return texts.length === 0 ? null : texts.join('\n');
}

/** The parameters of a tool whose schema is only in the prompt. */
export const BARE: JsonNode = { type: 'object', properties: {} };

/** The schemas for which a server's rejections are remembered. */
const MAX_KEPT = 500;

/** Adds entries to a map of bounded size. */
export function keep<Value>(map: Map<string, Value>, entries: Iterable<readonly [string, Value]>): void {
  for (const [key, value] of entries) {
    map.delete(key);
    map.set(key, value);
    const [oldest] = map.keys();
    if (map.size > MAX_KEPT && oldest !== undefined) map.delete(oldest);
  }
}

/** Returns a schema without keywords that only narrow it and that servers reject. Every reply is validated anyway. */
export function sendableSchema(schema: JsonNode): JsonNode {
  const known = sendable.get(schema) ?? (withoutPropertyNames(schema) as JsonNode);
  sendable.set(schema, known);
  return known;
}

const sendable = new WeakMap<JsonNode, JsonNode>();

/** Keywords whose values map names to schemas, and those whose values are data. */
const NAMED = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);
const DATA = new Set(['const', 'enum', 'default', 'examples', 'required']);

function withoutPropertyNames(node: unknown, isSchema = true): unknown {
  if (Array.isArray(node)) return node.map((one) => withoutPropertyNames(one));
  if (typeof node !== 'object' || node === null) return node;
  const entries = Object.entries(node).filter(([keyword]) => !isSchema || keyword !== 'propertyNames');
  return Object.fromEntries(
    entries.map(([keyword, value]) => [
      keyword,
      isSchema && DATA.has(keyword) ? value : withoutPropertyNames(value, !(isSchema && NAMED.has(keyword))),
    ]),
  );
}
