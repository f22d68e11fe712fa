import { Miniflare } from 'miniflare';

const [script, ...urls] = process.argv.slice(2);
const workerd = new Miniflare({
  modules: [{ type: 'ESModule', path: script }],
  compatibilityDate: '2026-07-01',
  bindings: { TOKEN: 'a-long-secret-token' },
  ...(urls.length === 0 && { durableObjects: { CHAIN: 'ChainServer' } }),
});
const authorization = 'Bearer a-long-secret-token';
const question = 'When does the library open?';

/** Starts a run in a request, and reads it in two others, and in one more asks again. */
async function askServer() {
  const headers = { authorization, 'content-type': 'application/json' };
  const post = (path, body) =>
    workerd.dispatchFetch(`http://localhost${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  const { runId } = await (await post('/runs', { request: question })).json();
  const events = await workerd.dispatchFetch(`http://localhost/runs/${runId}/events`, { headers });
  await events.text();
  const { answer } = await (await workerd.dispatchFetch(`http://localhost/runs/${runId}`, { headers })).json();
  const { output } = await (await post('/v1/responses', { input: question })).json();
  return JSON.stringify([answer.answerText, output.at(-1).content[0].text]);
}

try {
  process.stdout.write(urls.length === 0 ? await askServer() : await (await workerd.dispatchFetch(urls[0])).text());
} finally {
  await workerd.dispose();
}
