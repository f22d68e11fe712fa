import { describe, expect, it } from 'vitest';
import { createRegistry } from '../../../../src/tools/registry.ts';
import { connectUntilTestEnds, mcpHttpServer, oneToolServer, sendMessage } from '../../../support/mcp.ts';

const tool = (name: string) => ({ name, inputSchema: { type: 'object' } });

/** Connects to a server whose pages of tools are those that `pageOf` returns for a cursor. */
async function listedBy(pageOf: (cursor: string | undefined, count: number) => object) {
  let count = 0;
  const others = oneToolServer(() => {});
  const { url } = await mcpHttpServer((message, response, request) => {
    const { id, method, params } = message;
    if (method !== 'tools/list') others(message, response, request);
    else sendMessage(response, { id, result: pageOf((params as { cursor?: string })?.cursor, count++) });
  });
  const { capabilities, leftOut } = await connectUntilTestEnds({ name: 'x', url });
  return { names: capabilities.map(({ name }) => name), leftOut, pages: count };
}

describe('a list of tools', () => {
  it.each([
    ['null', () => ({ tools: [tool('a')], nextCursor: null }), 1],
    ['false', () => ({ tools: [tool('a')], nextCursor: false }), 1],
    ['a number', (cursor) => ({ tools: [tool(cursor === '2' ? 'b' : 'a')], nextCursor: cursor === '2' ? null : 2 }), 2],
    ['an empty text, which is a cursor', (cursor) => page('a', 'b', cursor === undefined ? '' : undefined), 2],
    ['the same forever', () => page('a', 'b', 'next'), 2],
    ['the same two in turn', (cursor) => page('a', 'b', cursor === '1' ? '2' : '1'), 3],
    ['another with every page of the same tools', (_, count) => page('a', 'b', `${count}`), 11],
    ['another with every empty page', (_, count) => (count === 0 ? page('a', 'b', '0') : page(`${count}`)), 11],
    ['one after an empty page', (_, count) => [page('a', '1'), page('2'), page('b', undefined)][count] ?? {}, 3],
  ] as const satisfies [string, Parameters<typeof listedBy>[0], number][])(
    'whose next cursor is %s ends, and its tools can be used',
    async (_, pageOf, pages) => {
      const listed = await listedBy(pageOf);
      expect(listed.names).toContain('x_a');
      expect(listed.leftOut).toEqual([]);
      expect(listed.pages).toBe(pages);
    },
  );

  it('has the same order, however the server lists and the user registers the tools', async () => {
    const orders = [
      ['b', 'a', 'C', 'a.b', 'a_b'],
      ['a_b', 'C', 'a', 'a.b', 'b'],
    ];
    const [one, other] = await Promise.all(orders.map((names) => listedBy(() => ({ tools: names.map(tool) }))));
    expect(one?.names).toEqual(other?.names);
    const registered = (names: readonly string[]) =>
      createRegistry(
        names.map((name) => ({
          name,
          description: name,
          arguments: ANY,
          jsonSchema: { type: 'object' },
          execute: () => '',
        })),
      );
    expect(registered(['b', 'a', 'C']).descriptors).toEqual(registered(['C', 'b', 'a']).descriptors);
  });
});

/** A page of tools: the last value is the next cursor. */
function page(...values: readonly (string | undefined)[]) {
  const nextCursor = values.at(-1);
  return { tools: values.slice(0, -1).map((name = '') => tool(name)), ...(nextCursor !== undefined && { nextCursor }) };
}

const ANY = { '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) } } as const;
