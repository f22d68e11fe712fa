import { defineCapability } from 'postchain';
import { runTools } from 'postchain/agents';
import * as z from 'zod';
import { model } from './model.mts';

const Refund = z.object({ order: z.string(), cents: z.int(), reason: z.string() });
export type Refund = z.infer<typeof Refund>;

const findOrder = defineCapability({
  name: 'find_order',
  description: 'Returns what a customer ordered and paid.',
  arguments: z.object({ id: z.string() }),
  execute: ({ id }) => ({ id, item: 'umbrella', cents: 4_000 }),
});

export const clerk = runTools({
  model,
  name: 'clerk',
  tools: [findOrder],
  schema: Refund,
  prompt: (mail: string) => `Which refund is right for this mail?\n${mail}`,
});
