/** Latest time that a date can have, in milliseconds from 1970. */
const LATEST_MS = 8_640_000_000_000_000;

/** The times of a system's messages, from its first: a time that goes back, or is none, is that of the message before. */
export function createSystemClock() {
  let firstMs: number | null = null;
  let lastMs = 0;
  return {
    /** In milliseconds from 1970, as text or number. */
    see(createdAt: string | number | null | undefined): void {
      const ms = Number(createdAt ?? Number.NaN);
      if (!(ms > 0 && ms <= LATEST_MS)) return;
      firstMs ??= ms;
      lastMs = Math.max(lastMs, ms);
    },
    get atMs(): number {
      return firstMs === null ? 0 : lastMs - firstMs;
    },
    /** ISO 8601; empty before the first time. */
    get startedAt(): string {
      return firstMs === null ? '' : new Date(firstMs).toISOString();
    },
  };
}
