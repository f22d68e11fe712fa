import { serve } from '@hono/node-server';
import { createPostChain, defineCapability } from 'postchain';
import { fileJournals } from 'postchain/node';
import { openaiModel } from 'postchain/openai';
import { createServer } from 'postchain/server';
import * as z from 'zod';

const refund = defineCapability({
  name: 'refund',
  description: 'Refunds an order.',
  arguments: z.object({ order: z.string(), euros: z.number() }),
  approval: 'always',
  execute: ({ order, euros }) => `Refunded ${euros} euros for ${order}.`,
});

const model = openaiModel({ model: 'gpt-4.1-mini' });
const chain = createPostChain({ model, journals: fileJournals('journals'), capabilities: [refund] });

// Everyone who uses this computer is the same owner. A public server would take the owner from its login, such as a cookie.
const server = await createServer({ chain, authorize: () => 'local' });
serve({ fetch: server.fetch, hostname: '127.0.0.1', port: 8787 });
