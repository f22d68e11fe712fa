import type { ModelRequest, ToolOffer } from '../../../machines/contracts/model.ts';
import { memoize } from '../../../machines/text/memoize.ts';
import { type JsonNode, mapSchema, schemaKey } from '../../internal/json-schema.ts';
import type { ServerRejection } from './server-errors.ts';
import { DESCRIBED, descriptionWith } from './strict-schema.ts';

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
export function isAboutSchema({ text }: Pick<ServerRejection, 'text'>): boolean {
  return ABOUT_SCHEMA.test(text);
}

/** How one tool is sent. `bare`: its schema is only in the prompt. `prompt`: all tools of the request are. */
export type ToolLevel = 'strict' | 'plain' | 'bare' | 'prompt';

const LOWER = { strict: 'plain', plain: 'bare', bare: 'prompt', prompt: null } as const;

/** How the tools are sent whose schemas a server rejected, by the text of the schema. */
export type ToolLevels = ReadonlyMap<string, ToolLevel>;

/** Whether the request offers native tools, none of which must be described in the prompt. */
export function offersTools(
  { tools = [] }: Pick<ModelRequest, 'tools'>,
  sent: { readonly offers: string; readonly tools: ToolLevels },
): boolean {
  const areNative = tools.every(({ parameters }) => sent.tools.get(schemaKey(parameters)) !== 'prompt');
  return tools.length > 0 && sent.offers !== 'prompt' && areNative;
}

/** The names of tools on the wire. */
interface WireNames {
  readonly reply: string;
  readonly offered: readonly string[];
}

interface Schemas<Sent> {
  readonly names: WireNames;
  /** The offered tools, unless none of them may be sent in a poorer form. */
  readonly tools: readonly ToolOffer[] | undefined;
  readonly levelOf: (tool: ToolOffer) => ToolLevel;
  readonly isReplyStrict: boolean;
  /** What is sent if the reply's schema is sent in a poorer form; null if there is none. */
  readonly poorerReply: Sent | null;
  /** Whether the rejection blames the reply's schema, unless it names a tool. */
  readonly blamesReply: boolean;
}

const ABOUT_REPLY = /response_?\s?(?:format|schema|mime)|text\.format|output_(?:format|config)/iu;

/**
 * Sends one schema in a poorer form: that of the reply or of the tool that the rejection names. If it names neither, schemas that are not
 * strict come first, and those of tools before that of the reply. Returns null if no schema has a poorer form.
 */
export function fallbackSchemas<Sent extends { readonly tools: ToolLevels }>(
  sent: Sent,
  rejection: Pick<ServerRejection, 'param' | 'text'>,
  { replyForm }: Pick<ModelRequest, 'replyForm'>,
  { names, tools = [], levelOf, isReplyStrict, poorerReply, blamesReply }: Schemas<Sent>,
): Sent | null {
  const text = `${rejection.param ?? ''} ${rejection.text}`;
  const withLower = (some: readonly ToolOffer[]): Sent | null => {
    const lowered = some.flatMap((tool): [string, ToolLevel][] => {
      const level = LOWER[levelOf(tool)];
      return level === null ? [] : [[schemaKey(tool.parameters), level]];
    });
    return lowered.length === 0 ? null : { ...sent, tools: new Map([...sent.tools, ...lowered]) };
  };
  const ofLevel = (level: ToolLevel) => tools.filter((tool) => levelOf(tool) === level);
  // Such a text may also quote words of the schema, such as the name of a tool.
  if (ABOUT_REPLY.test(text)) return poorerReply;
  const named = tools[rejectedTool(text, names.offered, replyForm === 'tool-call' ? 1 : 0)];
  if (named !== undefined) return withLower([named]);
  if (blamesReply || text.includes(`'${names.reply}'`)) return poorerReply;
  return (
    withLower(ofLevel('plain')) ??
    (isReplyStrict ? null : poorerReply) ??
    withLower(ofLevel('bare')) ??
    withLower(ofLevel('strict')) ??
    poorerReply
  );
}

/** Returns the index of the offered tool that a rejection names, or whose place it names; -1 if none. The first tool has the place `first`. */
function rejectedTool(text: string, offered: readonly string[], first: number): number {
  const at = Number(/\btools(?:\[|\.)(\d+)/u.exec(text)?.[1]) - first;
  if (offered[at] !== undefined) return at;
  const named = [...text.matchAll(/(?:['"`]|\b(?:function|tool) )([\w-]{1,64})\b/giu)].map(([, name]) => name);
  return offered.findIndex((name) => named.includes(name));
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

/** Returns a schema in which descriptions state the keywords that only narrow it and that servers reject. */
export const sendableSchema = memoize((schema: JsonNode) => mapSchema(schema, withNamesInWords));

function withNamesInWords(node: JsonNode): JsonNode {
  if (node['propertyNames'] === undefined) return node;
  const { propertyNames, ...others } = node;
  const isAnyName = JSON.stringify(propertyNames) === '{"type":"string"}';
  return { ...others, ...(!isAnyName && descriptionWith(node, ['propertyNames'])) };
}

const LENGTHS = ['minItems', 'maxItems', 'minProperties', 'maxProperties'];
const RANGES = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'];

/** Returns the same schema, in which descriptions also state the keywords that older AI SDK providers for Gemini drop. */
export const describedSchema = (schema: JsonNode): JsonNode =>
  mapSchema(sendableSchema(schema), (node) => ({
    ...node,
    ...descriptionWith(node, [...DESCRIBED, ...LENGTHS, ...RANGES]),
  }));
