import type { StopReason } from '../contracts/capability.ts';

type Broken = { readonly event: { readonly error: unknown } };

/** The loop ends for this reason. */
export const stop = (reason: StopReason) => ({ type: 'noteStop' as const, params: { reason } });

/** A port that threw: taken in by this action. */
export const broken = <Name extends string>(type: Name) => ({
  type,
  params: ({ event }: Broken) => ({ error: event.error }),
});
