import { isStepCount, ToolLoopAgent, tool } from 'ai-sdk-7';
import * as z from 'zod';
import { model } from '../ai-sdk-model.mjs';
import { shop } from '../world.mjs';

export const agent = new ToolLoopAgent({
  model,
  stopWhen: isStepCount(9),
  tools: {
    search: tool({
      description: 'Returns passages of the documents of the shop.',
      inputSchema: z.object({ query: z.string() }),
      execute: (args, { toolCallId }) => shop.search(args, toolCallId),
    }),
    calculate: tool({
      description: 'Adds or multiplies two numbers.',
      inputSchema: z.object({ left: z.number(), operator: z.enum(['+', '*']), right: z.number() }),
      execute: (args, { toolCallId }) => shop.calculate(args, toolCallId),
    }),
  },
});

export const run = async (prompt) => (await agent.generate({ prompt })).text;
