import OpenAI from 'openai';
import { approval, createDurableMachine, memoryJournals } from 'postchain/durable';
import { bearerTokens, createServer, type RunView } from 'postchain/server';
import { setup } from 'xstate';

const refunds = setup({ actors: { approval } }).createMachine({
  id: 'refunds',
  initial: 'asking',
  states: {
    asking: {
      description: 'A person approves the refund.',
      invoke: { src: 'approval', input: { question: { order: 'A7', cents: 12_000 } }, onDone: 'refunded' },
    },
    refunded: { description: 'The customer has the money back.', type: 'final' },
  },
});
const server = await createServer({
  agents: { refunds: createDurableMachine(refunds, { journals: memoryJournals() }) },
  authorize: bearerTokens({ 'a-long-secret-token': 'alice' }),
});
const fetch = (url: string | URL | Request, init?: RequestInit) => server.fetch(new Request(url, init));

async function approve(runId: string) {
  const url = `http://localhost/runs/${runId}`;
  const headers = { authorization: 'Bearer a-long-secret-token', 'content-type': 'application/json' };
  const { questions } = (await (await fetch(url, { headers })).json()) as RunView;
  for (const question of questions) {
    if (question.kind !== 'approval') continue;
    const { questionId, digest } = question;
    const event = { type: 'approval.given', questionId, digest, decision: 'approve' };
    await fetch(`${url}/events`, { method: 'POST', headers, body: JSON.stringify(event) });
  }
}

const client = new OpenAI({ baseURL: 'http://localhost/v1', apiKey: 'a-long-secret-token', fetch });
const messages = [{ role: 'user', content: 'My lamp broke.' }] as const;
const headers = { 'Idempotency-Key': 'mail-1' };
const ask = () => client.chat.completions.create({ model: 'refunds', messages: [...messages] }, { headers });
const asked = await ask();
console.log(asked.choices[0]?.finish_reason, asked.choices[0]?.message.content?.includes('"cents":12000')); // length true
await approve(asked.id.replace('chatcmpl-', ''));
console.log('Chat:', (await ask()).choices[0]?.message.content); // Chat: The customer has the money back.

const response = await client.responses.create({ model: 'refunds', input: 'My lamp broke.' });
console.log(response.status, response.incomplete_details?.reason); // incomplete user_input_required
await approve(response.metadata?.['postchain_run'] ?? '');
// If the run is still in progress, `retrieve` with `stream: true` waits for its end.
console.log('Response:', (await client.responses.retrieve(response.id)).output_text); // Response: The customer has the money back.
await server.close();
