import { expect, it } from 'vitest';
import { connected, httpServer, reply, use, wellBehaved } from '../../../support/mcp.ts';

it('runs a tool once when the server answers 400: only an unknown session causes a new connection', async () => {
  let ran = 0;
  const { url } = await httpServer(
    wellBehaved((_, response) => {
      ran += 1;
      response.writeHead(400).end('the account is overdrawn');
    }),
  );
  const server = await connected({ name: 'h', url });
  await expect(use(server, 'work')).rejects.toMatchObject({ code: 'mcp_failed' });
  expect(ran).toBe(1);
});

it('keeps the calls of other runs when one call is rejected with 400', async () => {
  let finish = (): void => {};
  const { url } = await httpServer(
    wellBehaved(({ id }, response) => {
      const result = { content: [{ type: 'text', text: 'done' }] };
      if (id !== undefined && finishing === null) {
        finishing = id;
        finish = () => reply(response, { id, result });
      } else response.writeHead(400).end('bad arguments');
    }),
  );
  const server = await connected({ name: 'h', url });
  const slow = use(server, 'work');
  slow.catch(() => {});
  while (finishing === null) await new Promise((resolve) => setImmediate(resolve));
  await expect(use(server, 'work')).rejects.toMatchObject({ code: 'mcp_failed' });
  finish();
  expect(await slow).toBe('done');
});

let finishing: number | null = null;
