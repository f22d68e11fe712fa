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

/** The longest that a browser waits for a timer. */
const MAX_WAIT_MS = 2_147_483_647;

/** Whether a time in milliseconds since 1970 has passed. Renders again when it does. */
export function useIsPast(atMs: number | null): boolean {
  const [waits, setWaits] = useState(0);
  useEffect(() => {
    const leftMs = atMs === null ? 0 : atMs - Date.now();
    if (!(leftMs > 0)) return;
    const timer = setTimeout(() => setWaits(waits + 1), Math.min(leftMs + 1, MAX_WAIT_MS));
    return () => clearTimeout(timer);
  }, [atMs, waits]);
  return atMs !== null && atMs <= Date.now();
}
