import { memoize } from '../../../machines/text/memoize.ts';
import { type JsonNode, mapSchema } from '../../internal/json-schema.ts';

/** 0, 0.05 … 1: as fine as a model's scores are. */
const SCORES = Array.from({ length: 21 }, (_, at) => at / 20);

const isScore = ({ type, minimum, maximum }: JsonNode): boolean => type === 'number' && minimum === 0 && maximum === 1;

/**
 * Returns a schema that lists the values of each score, a number from 0 to 1, for servers that ignore the limits of numbers: the grammars of
 * llama.cpp, and of what is built on it, enforce lists only.
 */
export const withListedScores = memoize((schema: JsonNode) =>
  mapSchema(schema, (node) => (isScore(node) ? { ...node, enum: SCORES } : node)),
);

const scoreNames = memoize((schema: JsonNode): ReadonlySet<string> => {
  const names = new Set<string>();
  mapSchema(schema, (node) => {
    for (const [name, member] of Object.entries(node['properties'] ?? {})) if (isScore(Object(member))) names.add(name);
    return node;
  });
  return names;
});

const NUMBER_MEMBER = /"([^"\\]{1,100})"\s*:\s*(-?\d[\d.e+-]*)/giu;

/** Whether JSON, which may be cut off, has a score below 0 or above 1. */
export function exceedsScoreLimits(json: string, schema: JsonNode): boolean {
  const names = scoreNames(schema);
  if (names.size === 0) return false;
  for (const [, name = '', number] of json.matchAll(NUMBER_MEMBER))
    if (names.has(name) && (Number(number) < 0 || Number(number) > 1)) return true;
  return false;
}
