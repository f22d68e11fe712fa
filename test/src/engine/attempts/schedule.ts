import type { Failure } from '../../../../machines/contracts/failure.ts';
import type { ReplyForm } from '../../../../machines/contracts/model.ts';
import type { TokenUsage } from '../../../../machines/contracts/usage.ts';
import type { ListOrObject, Said } from './schedule-replies.ts';

/** Everything that happens to one structured output: it is data, so that it can be played, predicted and printed. */
export interface Schedule {
  readonly seed: number;
  readonly form: ReplyForm;
  readonly kind: ListOrObject;
  readonly policy: SchedulePolicy;
  readonly limits: ScheduleLimits;
  readonly hooks: ScheduleHooks;
  /** Of each model in line: whether no prompt fits into it. */
  readonly narrow: readonly boolean[];
  /** How long it takes to validate a reply. */
  readonly validateMs: number;
  /** What each call does, whichever model it goes to; there is one for every call that the budgets could allow. */
  readonly calls: readonly CallPlan[];
  readonly stop: StopPlan | null;
  readonly reader: ReaderPlan;
}

interface SchedulePolicy {
  readonly maxCorrections: number;
  readonly maxTransportRetries: number;
  readonly baseMs: number;
  readonly maxMs: number;
  readonly jitter: number;
  readonly stopOnRepeatedError: boolean;
  readonly feedbackChars: number;
  readonly fallbacks: number;
  readonly after: number | null;
}

export interface ScheduleLimits {
  readonly firstChunkMs: number;
  readonly chunkMs: number;
  readonly totalMs: number;
  readonly maxReplyChars: number;
  readonly maxCalls: number;
}

export interface ScheduleHooks {
  /** `shouldRetry` declines from this many attempts on. */
  readonly declinesFrom: number | null;
  /** `prepareRetry` waits longer. */
  readonly extraWaitMs: number;
  /** A rule throws when it is asked about this attempt. */
  readonly throwing: { readonly rule: 'shouldRetry' | 'recordFailure' | 'prepareRetry'; readonly at: number } | null;
  /** `finalizeOrThrow` throws an error of its own. */
  readonly hasLastWord: boolean;
}

export interface Step {
  readonly afterMs: number;
  /** The reply's own characters, or others beside it. */
  readonly type: 'own' | 'reasoning' | 'text';
  readonly text: string;
}

export type Ending =
  | {
      readonly type: 'finish';
      readonly reason: 'stop' | 'length' | 'content-filter';
      readonly usage: TokenUsage | null;
    }
  | { readonly type: 'failure'; readonly failure: Failure; readonly usage: TokenUsage | null }
  | { readonly type: 'throw' | 'hang' | 'deaf' | 'nothing' };

export interface CallPlan {
  readonly said: Said;
  readonly steps: readonly Step[];
  readonly endAfterMs: number;
  readonly ending: Ending;
}

export interface StopPlan {
  /** Below 0: before anybody has asked for anything. */
  readonly atMs: number;
  readonly by: 'cancel' | 'signal';
}

export interface ReaderPlan {
  /** `leaves` stops reading at the first reset; `late` begins after a while; `slow` takes its time after each update. */
  readonly type: 'value' | 'updates' | 'steps' | 'slow' | 'late' | 'leaves' | 'elements';
  readonly ms: number;
}

/** A schedule as one can read it. */
export function inWords({ calls, ...schedule }: Schedule): string {
  const lines = calls.map(({ said, steps, endAfterMs, ending }, index) => {
    const parts = steps.map(({ afterMs, type, text }) => `+${afterMs} ${type} ${JSON.stringify(text)}`);
    return `  call ${index + 1} (${said.name}): ${[...parts, `+${endAfterMs} ${JSON.stringify(ending)}`].join(', ')}`;
  });
  const head = Object.entries(schedule).map(([name, value]) => `  ${name}: ${JSON.stringify(value)}`);
  return [...head, ...lines].join('\n');
}
