import { z } from 'zod';
import { modelDecider } from '../../src/engine/runtime/decider.ts';
import { replies } from '../../src/testing/replies.ts';
import { defineCapability } from '../../src/tools/capability.ts';
import { worthASummary } from './run-chain.ts';

/** What the model says where it wants the capability "work" run. */
export const wish = { capability: 'work', arguments: '{}' };

const work = defineCapability({ name: 'work', description: 'Works.', arguments: z.object({}), execute: () => 'done' });

/** Plan, options and run of a chain that asks its model for every task there is. */
export const everyTask = {
  plan: { action: { ...replies.action, call: wish } },
  options: { capabilities: [work], decider: modelDecider },
  run: { messages: worthASummary },
} as const;
