import { limitsSchema } from '../contracts/budget.ts';
import type { ChainState } from '../contracts/chain-state.ts';
import { thresholdsSchema } from '../contracts/thresholds.ts';

interface Adjustment {
  readonly limits?: Readonly<Record<string, number | undefined>> | undefined;
  readonly thresholds?: Readonly<Record<string, number | undefined>> | undefined;
}

/**
 * The run goes by other numbers from here on. What makes no sense leaves them as they are. A delay that runs already ends when it would
 * have.
 */
export function adjust(state: ChainState, { limits, thresholds }: Adjustment): Partial<ChainState> {
  const nextLimits = limitsSchema.safeParse({ ...state.limits, ...limits });
  const nextThresholds = thresholdsSchema.safeParse({ ...state.thresholds, ...thresholds });
  return {
    ...(nextLimits.success && { limits: nextLimits.data }),
    ...(nextThresholds.success && { thresholds: nextThresholds.data }),
  };
}
