import type { ModelRequest } from '../../../machines/contracts/model.ts';
import { hexDigest } from '../../../machines/text/hash.ts';

const schemaTexts = new WeakMap<object, string>();

/**
 * Returns a digest of the prompt of a model call: its turns, files, schema and tools. It verifies a prompt that is rendered again from
 * a journal.
 */
export function requestDigest({ turns, outputSchema, tools = [] }: ModelRequest): string {
  const schema = schemaTexts.get(outputSchema) ?? JSON.stringify(outputSchema);
  schemaTexts.set(outputSchema, schema);
  const texts = [
    ...turns.flatMap(({ role, content, files = [], toolCalls, toolResult }) => [
      ...files.map(({ digest, name }) => `${role}: ${digest} ${name}`),
      `${role}: ${content}`,
      ...[toolCalls, toolResult].flatMap((one) => (one === undefined ? [] : JSON.stringify(one))),
    ]),
    schema,
    ...tools.map((tool) => JSON.stringify(tool)),
  ];
  return hexDigest(texts.join('\n'));
}
