import OpenAI from 'openai';
import { generate } from 'postchain/agents';
import { createDurableMachine, memoryJournals } from 'postchain/durable';
import { bearerTokens, createServer } from 'postchain/server';
import { scriptedModel } from 'postchain/testing';
import { assign, setup } from 'xstate';

// In production, use openaiModel({ model: 'gpt-4.1-mini' }).
const model = scriptedModel({ draft: [{ text: 'Yes, until Friday.' }] });
const desk = setup({
  types: {} as { input: { mail: string }; context: { mail: string; reply: string }; output: { text: string } },
  actors: { draft: generate({ model, name: 'draft', prompt: (mail: string) => `Answer this mail:\n${mail}` }) },
}).createMachine({
  id: 'desk',
  description: 'Answers mails of customers.',
  context: ({ input }) => ({ mail: input.mail, reply: '' }),
  output: ({ context }) => ({ text: context.reply }),
  initial: 'drafting',
  states: {
    drafting: {
      description: 'The model drafts a reply.',
      invoke: {
        src: 'draft',
        input: ({ context }) => context.mail,
        onDone: { target: 'answered', actions: assign({ reply: ({ event }) => event.output }) },
        onError: 'left',
      },
    },
    answered: { description: 'The customer has a reply.', type: 'final' },
    left: { description: 'A colleague answers the customer.', type: 'final' },
  },
});

const server = await createServer({
  agents: {
    desk: {
      host: createDurableMachine(desk, { journals: memoryJournals() }), // In production: files, SQLite or PostgreSQL.
      input: ({ request }) => ({ mail: request }),
      reply: ({ text }) => text,
      answer: 'draft', // Clients see its text while the model writes it.
    },
  },
  authorize: bearerTokens({ 'a-long-secret-token': 'alice' }),
});

const client = new OpenAI({
  baseURL: 'http://localhost/v1',
  apiKey: 'a-long-secret-token',
  // Calls the server in this process. Omit it to call a running server.
  fetch: (url, init) => server.fetch(new Request(url, init)),
});
const messages = [{ role: 'user', content: 'Is the offer still valid?' }] as const;
const { choices } = await client.chat.completions.create({ model: 'desk', messages: [...messages] });
console.log(choices[0]?.message.content); // Yes, until Friday.
await server.close();
