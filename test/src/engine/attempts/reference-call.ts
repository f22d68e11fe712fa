import type { TokenUsage } from '../../../../machines/contracts/usage.ts';
import type { CallPlan, ScheduleLimits } from './schedule.ts';
import type { Wrong } from './schedule-replies.ts';

/** What one call comes to if nobody ends it before. Times count from its beginning. */
export interface HeardCall {
  readonly endsAfterMs: number;
  readonly wrong: (Wrong & { readonly isHopeless: boolean; readonly retryAfterMs: number | null }) | null;
  /** Null where it can only be estimated. */
  readonly usage: TokenUsage | null;
  /** Whether there is a whole value to validate, right or not. */
  readonly isWhole: boolean;
  /** The reply's own characters that arrived. */
  readonly heard: string;
  /** When it was last seen alive, as its watch keeps it. */
  readonly seenAtMs: number | null;
  /** Two things happen at one time, and no rule says which is first. */
  readonly isTie: boolean;
}

const bad = (stage: Wrong['stage'], code: string, isHopeless = false, retryAfterMs: number | null = null) => ({
  stage,
  code,
  how: code,
  isHopeless,
  retryAfterMs,
});

/** Listens to a call: the first part must come in time, and each further one, and there may not be too much. */
export function hear(call: CallPlan, { firstChunkMs, chunkMs, maxReplyChars }: ScheduleLimits): HeardCall {
  let [nowMs, chars, dueMs, isTie] = [0, 0, firstChunkMs, false];
  let seenAtMs: number | null = null;
  let heard = '';
  const ended = (endsAfterMs: number, wrong: HeardCall['wrong'], usage: TokenUsage | null = null): HeardCall => ({
    endsAfterMs,
    wrong,
    usage,
    isWhole: false,
    heard,
    seenAtMs,
    isTie,
  });
  const late = (): HeardCall => ended(dueMs, bad('transport', seenAtMs === null ? 'no_reply' : 'stalled'));

  for (const step of call.steps) {
    nowMs += step.afterMs;
    isTie ||= nowMs === dueMs;
    if (nowMs > dueMs) return late();
    // The watch may be set again as seldom as once in an eighth; that eighth is added to the wait, so none is cut early.
    if (seenAtMs === null || nowMs - seenAtMs >= chunkMs / 8) {
      seenAtMs = nowMs;
      dueMs = nowMs + chunkMs * 1.125;
    }
    chars += step.text.length;
    if (chars > maxReplyChars) return ended(nowMs, bad('extraction', 'too_long'));
    if (step.type === 'own') heard += step.text;
  }

  nowMs += call.endAfterMs;
  isTie ||= nowMs === dueMs;
  const { ending, said } = call;
  if (nowMs > dueMs || ending.type === 'hang' || ending.type === 'deaf') return late();
  if (ending.type === 'throw') return ended(nowMs, bad('unexpected', 'model_threw', true));
  if (ending.type === 'failure') {
    const { stage, code, retryable, retryAfterMs } = ending.failure;
    return ended(nowMs, bad(stage, code, !retryable, retryAfterMs), ending.usage);
  }
  const usage = ending.type === 'finish' ? ending.usage : null;
  const reason = ending.type === 'finish' ? ending.reason : null;
  if (reason === 'content-filter') return ended(nowMs, bad('refinement', 'filtered', true), usage);
  if (said.json === undefined && reason === 'length') return ended(nowMs, bad('extraction', 'truncated'), usage);
  const wrong = said.wrong && { ...said.wrong, isHopeless: false, retryAfterMs: null };
  return { ...ended(nowMs, wrong, usage), isWhole: said.json !== undefined };
}

/** The items that are whole, and right up to the first that is not, in what was heard of a call. */
export function itemsHeard({ said }: CallPlan, { heard }: HeardCall): readonly unknown[] {
  return said.items.filter((_, index) => heard.length >= (said.itemEnds[index] ?? Number.POSITIVE_INFINITY));
}
