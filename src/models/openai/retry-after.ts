/**
 * How long the server asks to wait, in milliseconds, or null: `retry-after-ms` (OpenAI's), else `Retry-After` in seconds or as
 * an HTTP date (RFC 9110, 10.2.3). A date that has passed is 0.
 */
export function retryAfterMs(headers: Headers | null, now: () => number): number | null {
  const milliseconds = decimal(headers?.get('retry-after-ms'));
  if (milliseconds !== null) return milliseconds;
  const asked = headers?.get('retry-after');
  const seconds = decimal(asked);
  if (seconds !== null) return seconds * 1000;
  const date = asked && /^[A-Z][a-z]{2,8},? /u.test(asked) ? Date.parse(asked) : Number.NaN;
  return Number.isNaN(date) ? null : Math.max(0, date - now());
}

function decimal(text: string | null | undefined): number | null {
  return text && /^\s*\d{1,12}(\.\d+)?\s*$/u.test(text) ? Number(text) : null;
}
