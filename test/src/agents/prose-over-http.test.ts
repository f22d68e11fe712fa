import { describe, expect, it } from 'vitest';
import { createActor, waitFor } from 'xstate';
import * as z from 'zod';
import { defineCapability, generate, runTools } from '../../../src/entries/agents.ts';
import { openaiModel } from '../../../src/models/openai/openai-model.ts';
import { chartAround } from '../../support/agent-charts.ts';
import {
  type ChatBody,
  chatServer,
  chunk,
  completion,
  event,
  respondWithJson,
  streaming,
  toolChunk,
} from '../../support/chat-server.ts';

type Answer = string | { readonly call: object } | { readonly refusal: string };

/** A server with these answers, and the bodies of the requests for them. */
async function serverWith(answerTo: (body: ChatBody, index: number) => Answer) {
  const { baseURL, exchanges } = await chatServer(({ body, index, response }) => {
    const answer = answerTo(body, index);
    if (typeof answer === 'string') streaming(response).end(completion(answer));
    else if ('refusal' in answer) respondWithJson(response, 400, { error: { message: answer.refusal } });
    else streaming(response).end(event(toolChunk(answer.call)) + event(chunk({}, 'tool_calls')));
  });
  return { model: openaiModel({ model: 'm', apiKey: 'k', baseURL }), bodies: () => exchanges.map(({ body }) => body) };
}

const ran: string[] = [];
const stock = defineCapability({
  name: 'stock',
  description: 'Returns how many units are in stock.',
  arguments: z.object({ article: z.string() }),
  execute: ({ article }) => {
    ran.push(article);
    return '3';
  },
});

async function outputOf(agent: Parameters<typeof chartAround>[0]): Promise<unknown> {
  const actor = createActor(chartAround(agent), { input: 'How many coats?' }).start();
  return (await waitFor(actor, ({ status }) => status === 'done')).context.output;
}

describe('an agent that asks an OpenAI-compatible server for text', () => {
  it('sends the prompt alone: no instructions, schema, response format or tool', async () => {
    const { model, bodies } = await serverWith(() => '{"text":"Three."}');
    expect(await outputOf(generate({ model, system: 'You count.' }))).toBe('{"text":"Three."}');
    const [body] = bodies();
    expect(body?.messages).toEqual([
      { role: 'system', content: 'You count.' },
      { role: 'user', content: 'How many coats?' },
    ]);
    for (const member of ['response_format', 'tools', 'tool_choice']) expect(body).not.toHaveProperty(member);
  });

  it('offers native tools, and takes text without calls as the answer', async () => {
    const call = { index: 0, id: 'a', function: { name: 'stock', arguments: '{"article":"coat"}' } };
    const { model, bodies } = await serverWith((_, index) => (index === 0 ? { call } : 'Three.'));
    expect(await outputOf(runTools({ model, tools: [stock] }))).toMatchObject({ answer: 'Three.', rounds: [{}] });
    for (const body of bodies()) {
      expect(body.messages?.[0]).toEqual({ role: 'user', content: 'How many coats?' });
      expect(body).toMatchObject({ tool_choice: 'auto', tools: [{ function: { name: 'stock' } }] });
      expect(body).not.toHaveProperty('response_format');
    }
  });

  it('finds calls in the text if the server rejects tools, within the same call', async () => {
    ran.length = 0;
    const calls = 'I look.\n```json\n[{"tool":"stock","arguments":{"article":"coat"}}]\n```';
    const { model, bodies } = await serverWith(({ tools, messages }) => {
      if (tools) return { refusal: 'm does not support tools' };
      return String(messages?.at(-1)?.content).includes('Results of tools so far') ? 'Three.' : calls;
    });
    expect(await outputOf(runTools({ model, tools: [stock] }))).toMatchObject({
      answer: 'Three.',
      rounds: [{ calls: [{ tool: 'stock', output: '3' }] }],
    });
    expect(ran).toEqual(['coat']);
    expect(bodies().map(({ tools }) => tools !== undefined)).toEqual([true, false, false]);
    for (const body of bodies().slice(1)) {
      expect(body.messages?.[0]?.content).toContain('reply with nothing but a JSON list of the calls');
      expect(body).not.toHaveProperty('response_format');
    }
  });
});
