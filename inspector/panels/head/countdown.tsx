import { useEffect, useState } from 'preact/hooks';
import { formatDuration } from '../../fold/format.ts';

/** ` in 12 s`, counting down to a time in milliseconds since 1970; nothing once it has passed. */
export function Countdown({ toMs }: { readonly toMs: number }) {
  const [nowMs, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  const leftMs = 1_000 * Math.ceil((toMs - nowMs) / 1_000);
  return leftMs > 0 ? (
    <>
      {' '}
      in <b role="timer">{leftMs < 60_000 ? `${leftMs / 1_000} s` : formatDuration(leftMs)}</b>
    </>
  ) : null;
}
