import { describe, expect, it } from 'vitest';
import { capabilityDescriptorSchema } from '../../../machines/contracts/capability.ts';
import { messageSchema } from '../../../machines/contracts/message.ts';
import { finalAnswerSchema } from '../../../machines/contracts/synthesis.ts';
import { contractCases } from '../../support/contract-cases.ts';
import { aFinalAnswer, aMessage } from '../../support/contract-samples.ts';

/** Returns a copy of the value with another value at a dotted path. */
function withValueAt(value: object, path: string, bad: unknown): object {
  const copy = structuredClone(value) as Record<string, unknown>;
  const keys = path.split('.');
  const last = keys.pop() ?? '';
  const parent = keys.reduce<Record<string, unknown>>((at, key) => at[key] as Record<string, unknown>, copy);
  parent[last] = bad;
  return copy;
}

const refusals = contractCases.flatMap(({ title, schema, value, bad }) =>
  bad.map(([path, wrong]) => ({ title, path, schema, value: withValueAt(value, path, wrong) })),
);

describe('contracts', () => {
  it.each(refusals)('$title rejects an invalid $path and names it', ({ schema, value, path }) => {
    const issues = schema.safeParse(value).error?.issues.map((issue) => issue.path.join('.')) ?? [];
    expect(issues.some((named) => named === path || named.startsWith(`${path}.`))).toBe(true);
  });

  it.each([
    { title: '[C2] a message', schema: messageSchema, value: aMessage() },
    { title: '[E2] a final answer', schema: finalAnswerSchema, value: aFinalAnswer() },
    {
      title: '[R10] a capability descriptor',
      schema: capabilityDescriptorSchema,
      value: { name: 'a', description: 'b', arguments: {}, timeoutMs: null },
    },
  ])('$title has no optional field: each missing field is named', ({ schema, value }) => {
    for (const field of Object.keys(value)) {
      const rest = Object.fromEntries(Object.entries(value).filter(([key]) => key !== field));
      expect(schema.safeParse(rest).error?.issues.map(({ path }) => path[0])).toEqual([field]);
    }
  });
});
