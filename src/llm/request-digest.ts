import type { ModelRequest } from '../../machines/contracts/model.ts';
import { fnv1a, hexDigest } from '../../machines/text/hash.ts';
import { memoize } from '../../machines/text/memoize.ts';

const schemaDigest = memoize((schema: object) => hexDigest(JSON.stringify(schema)));

/** The first turn of the latest request, which most requests of a run share, and its hash. */
let latest = { turn: '', hash: 0 };

/**
 * Returns a digest of the prompt of a model call: its turns, files, schema and tools. It verifies a prompt that is rendered again from
 * a journal.
 */
export function requestDigest({ turns, outputSchema, tools = [] }: ModelRequest): string {
  const [first = '', ...others] = turns.map(({ role, content, files = [], toolCalls, toolResult }) =>
    [
      ...files.map(({ digest, name }) => `${role}: ${digest} ${name}`),
      `${role}: ${content}`,
      ...[toolCalls, toolResult].flatMap((one) => (one === undefined ? [] : JSON.stringify(one))),
      '',
    ].join('\n'),
  );
  if (latest.turn !== first) latest = { turn: first, hash: fnv1a(first) };
  const rest = [...others, schemaDigest(outputSchema), ...tools.map((tool) => `\n${JSON.stringify(tool)}`)];
  const hash = rest.reduce((soFar, text) => fnv1a(text, soFar), latest.hash);
  return (hash >>> 0).toString(16).padStart(8, '0');
}
