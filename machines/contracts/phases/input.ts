import { z } from 'zod';
import { capabilityDescriptorSchema } from '../capability.ts';
import type { Message } from '../message.ts';
import { passageSchema } from '../passage.ts';
import { phaseSchema } from '../phase.ts';

/**
 * What every phase is given [C1, C2]. `prompt` is the user's request in the first cycle and Yield's continuation prompt
 * later; `content` is what the phase before handed over; `messages` is the context with the incoming operations shown as
 * applied. Messages are only checked to be an array: each was validated when it entered the context, and checking all of
 * them at every phase would make a step cost what the context weighs.
 */
const common = {
  runId: z.string(),
  request: z.string().min(1),
  prompt: z.string().min(1),
  cycle: z.int().min(1),
  step: z.int().min(1),
  content: z.string(),
  messages: z.custom<readonly Message[]>((value) => Array.isArray(value), 'an array of messages'),
};

export const phaseInputSchema = z.discriminatedUnion('phase', [
  z.object({ phase: z.literal('action'), ...common, capabilities: z.array(capabilityDescriptorSchema).readonly() }),
  z.object({ phase: z.literal('experience'), ...common, passages: z.array(passageSchema).readonly() }),
  z.object({ phase: z.literal('intention'), ...common }),
  z.object({ phase: z.literal('observation'), ...common }),
  z.object({ phase: z.literal('understanding'), ...common }),
  z.object({
    phase: z.literal('yield'),
    ...common,
    previousAnswer: z.string(),
    flags: z.array(z.string()).readonly(),
    phases: z.array(phaseSchema).readonly(),
  }),
]);
export type PhaseInput = Readonly<z.infer<typeof phaseInputSchema>>;
