import { createPassageIndex, createPostChain, memoryJournals } from 'postchain';
import { createServer } from 'postchain/server';

/** Serves an extractive chain, follows one run, and gets one response of OpenAI's API. */
export async function serveRequests() {
  const documents = createPassageIndex([{ path: 'hours.md', text: 'The library opens at nine.' }]);
  const chain = createPostChain({ documents, journals: memoryJournals() });
  const server = await createServer({ chain, authorize: () => 'local' });
  const fetched = (path, body) => {
    const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    return server.fetch(new Request(`http://localhost${path}`, body && post));
  };
  const request = 'When does the library open?';
  const { runId } = await (await fetched('/runs', { request })).json();
  const events = await (await fetched(`/runs/${runId}/events`)).text();
  const { output } = await (await fetched('/v1/responses', { input: request })).json();
  await server.close();
  const types = [...events.matchAll(/^data: \{"type":"([a-z-]+)"/gmu)].map(([, type]) => type);
  return { events: [...new Set(types)].sort(), text: output.at(-1).content[0].text };
}
