import { SimulatedClock } from 'xstate';
import { z } from 'zod';
import { defineCapability } from '../../tools/capability.ts';

/** Time stands still. */
export const CLOCK = new SimulatedClock();

/** There is one capability, which no exploration runs. */
export const LOOKUP = defineCapability({
  name: 'lookup',
  description: 'Looks something up.',
  arguments: z.object({}),
  execute: () => 'found',
});
