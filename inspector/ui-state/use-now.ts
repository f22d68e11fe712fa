import { useEffect, useState } from 'preact/hooks';

/** The time in milliseconds since 1970, updated at this interval. */
export function useNow(intervalMs: number): number {
  const [nowMs, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), intervalMs);
    return () => clearInterval(timer);
  }, [intervalMs]);
  return nowMs;
}
