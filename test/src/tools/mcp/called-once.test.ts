import { expect, it } from 'vitest';
import { callTool, connectUntilTestEnds, mcpHttpServer, oneToolServer, sendMessage } from '../../../support/mcp.ts';

it('keeps the calls of other runs when one call is rejected with 400', async () => {
  let finish = (): void => {};
  const { url } = await mcpHttpServer(
    oneToolServer(({ id }, response) => {
      const result = { content: [{ type: 'text', text: 'done' }] };
      if (id !== undefined && finishing === null) {
        finishing = id;
        finish = () => sendMessage(response, { id, result });
      } else response.writeHead(400).end('bad arguments');
    }),
  );
  const server = await connectUntilTestEnds({ name: 'h', url });
  const slow = callTool(server, 'work');
  slow.catch(() => {});
  while (finishing === null) await new Promise((resolve) => setImmediate(resolve));
  await expect(callTool(server, 'work')).rejects.toMatchObject({ code: 'mcp_failed' });
  finish();
  expect(await slow).toBe('done');
});

let finishing: number | null = null;
