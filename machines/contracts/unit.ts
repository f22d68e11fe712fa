import { z } from 'zod';

/** A score, share or strength: 0 (none) to 1 (all). */
export const unitSchema = z.number().min(0).max(1);
