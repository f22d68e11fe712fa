import type { AttemptState } from '../../../../machines/attempt/state.ts';
import type { Row } from './held-against.ts';

type AttemptRow = Row<AttemptState>;

const CALLING = ['opening', 'streaming'];

/** A call to another model is begun at once, and so is a correction; an attempt that is over says why. */
const ANEW = ['opening'];

const hasFallback = ({ execution, policy }: AttemptState): boolean => execution.fallbacks < policy.maxFallbacks;
const mayCorrect = ({ execution, policy }: AttemptState): boolean => execution.corrections < policy.maxCorrections;

/** A4, A13: a retry is left, and its wait is over before the time is. What ran into a timer took as long. */
const mayRetry =
  (tookMs: (context: AttemptState) => number) =>
  (context: AttemptState): boolean => {
    const { execution, policy, elapsedMs } = context;
    const waitMs = Math.min(policy.backoffMaxMs, policy.backoffBaseMs * 2 ** execution.transportRetries);
    return (
      execution.transportRetries < policy.maxTransportRetries && elapsedMs + tookMs(context) + waitMs < policy.totalMs
    );
  };

/** Where nothing is left to do with this model, the next one; where there is none, the end. */
const given = (from: readonly string[], on: RegExp, by: string): readonly AttemptRow[] => [
  { from, on, when: hasFallback, to: ANEW, by },
  { from, on, to: ['failed'], by },
];

const retried = (
  from: readonly string[],
  on: RegExp,
  tookMs: (context: AttemptState) => number,
): readonly AttemptRow[] => [
  { from, on, when: mayRetry(tookMs), to: ['backingOff'], by: 'A4, A13' },
  ...given(from, on, 'A4, C4'),
];

const corrected = (from: readonly string[], on: RegExp): readonly AttemptRow[] => [
  { from, on, when: mayCorrect, to: ANEW, by: 'A4, A9' },
  ...given(from, on, 'A4, C4'),
];

export const ATTEMPT_TABLE: readonly AttemptRow[] = [
  // A11: the call that it broke off is told of, and charged; a wait is no call.
  {
    from: [...CALLING, 'validating'],
    on: /^after totalDeadline$/,
    to: ['failed'],
    so: ({ execution }) => execution.attempts.at(-1)?.failure?.code === 'total_deadline',
    by: 'A10, A11',
  },
  {
    from: ['backingOff'],
    on: /^after totalDeadline$/,
    to: ['failed'],
    so: ({ execution, failure }) =>
      failure?.code === 'total_deadline' && execution.attempts.at(-1)?.failure?.code !== 'total_deadline',
    by: 'A10, A11',
  },

  { from: ['opening'], on: /: starts$/, to: ['streaming'], by: 'A1' },
  { from: ['streaming'], on: /: continues$/, to: ['streaming'], by: 'A1' },
  { from: CALLING, on: /: lost$/, to: ['opening'], by: 'A8' },
  { from: CALLING, on: /: complete$/, to: ['validating'], by: 'A2, A6' },
  ...retried(CALLING, /: connection lost$/, () => 0),
  ...given(CALLING, /: (rate limited for an hour|unauthorized|error)$/, 'A13'),
  ...corrected(CALLING, /: no JSON$/),
  ...retried(['opening'], /^after firstChunkDeadline$/, ({ policy }) => policy.firstChunkMs),
  ...retried(['streaming'], /^after stallDeadline$/, ({ policy }) => policy.chunkMs * 1.125),

  { from: ['validating'], on: /: valid$/, to: ['succeeded'], by: 'A1' },
  ...corrected(['validating'], /: invalid$/),
  ...given(['validating'], /: error$/, 'A10'),

  { from: ['backingOff'], on: /^after backoff$/, to: ['opening'], by: 'A3' },
];
