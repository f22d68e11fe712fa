import { readFile } from 'node:fs/promises';
import { Hono } from 'hono';
import { type AgentOptions, bearerTokens, createServer } from 'postchain/server';

/** Serves the chat page, and the agent that it talks to. Clients send the token; `hosts` are the public names of the server. */
export async function createDesk(host: AgentOptions['host'], token: string, hosts: readonly string[] = []) {
  const page = await readFile('page.html', 'utf8');
  const server = await createServer({
    agents: { support: { host } },
    authorize: bearerTokens({ [token]: 'desk' }),
    allowedHosts: hosts,
  });
  const app = new Hono();
  app.get('/', (context) => context.html(page));
  app.all('*', (context) => server.fetch(context.req.raw));
  return { fetch: app.fetch, close: () => server.close() };
}
