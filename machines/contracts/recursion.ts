import { z } from 'zod';
import { phaseSchema } from './phase.ts';

/** One decision to go on, as loop detection sees it [Y7]. */
const turnSchema = z.object({ cycle: z.int(), target: phaseSchema, fingerprint: z.string() });
export type Turn = Readonly<z.infer<typeof turnSchema>>;

/**
 * Where the run stands [C2, Y6]. `cycle` is the current one (from 1), `completedCycles` how many reached a decision,
 * `origin` the phase the current cycle started at, `step` how many phases were entered. `history` keeps the newest
 * decisions only (64), so that a step costs the same at any cycle.
 */
export const recursionStateSchema = z.object({
  mode: z.enum(['automatic', 'manual']),
  cycle: z.int().min(1),
  completedCycles: z.int().min(0),
  step: z.int().min(0),
  origin: phaseSchema,
  continuationPrompt: z.string().nullable(),
  history: z.array(turnSchema).readonly(),
});
export type RecursionState = Readonly<z.infer<typeof recursionStateSchema>>;
