import { formatDuration, startedText } from '../../fold/format.ts';
import { useNow } from '../../ui-state/use-now.ts';

const LONG_MS = 3_600_000;

/** ` in 12 s`, counting down to a time in milliseconds since 1970; with its date if it is over an hour away; nothing once it has passed. */
export function Countdown({ toMs }: { readonly toMs: number }) {
  const nowMs = useNow(1_000);
  const leftMs = 1_000 * Math.ceil((toMs - nowMs) / 1_000);
  return leftMs > 0 ? (
    <>
      {' '}
      in <b role="timer">{leftMs < 60_000 ? `${leftMs / 1_000} s` : formatDuration(leftMs)}</b>
      {leftMs > LONG_MS && ` (${startedText(toMs)})`}
    </>
  ) : null;
}
