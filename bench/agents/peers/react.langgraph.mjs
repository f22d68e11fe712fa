import { createAgent, modelCallLimitMiddleware, modelRetryMiddleware, tool } from 'langchain';
import * as z from 'zod';
import { model } from '../langchain-model.mjs';
import { shop } from '../world.mjs';

const tools = [
  tool((args, { toolCall }) => shop.search(args, toolCall.id).then(JSON.stringify), {
    name: 'search',
    description: 'Returns passages of the documents of the shop.',
    schema: z.object({ query: z.string() }),
  }),
  tool((args, { toolCall }) => shop.calculate(args, toolCall.id), {
    name: 'calculate',
    description: 'Adds or multiplies two numbers.',
    schema: z.object({ left: z.number(), operator: z.enum(['+', '*']), right: z.number() }),
  }),
];
const middleware = [
  modelCallLimitMiddleware({ runLimit: 9, exitBehavior: 'end' }),
  modelRetryMiddleware({ maxRetries: 2, onFailure: 'error' }),
];

export const createApp = (checkpointer) => createAgent({ model, tools, middleware, checkpointer }).graph;
export const stateOf = (content) => ({ messages: [{ role: 'user', content }] });
export const outputOf = ({ messages }) => messages.at(-1).content;
