import type { Phase } from '../../machines/contracts/phase.ts';
import type { TokenUsage } from '../../machines/contracts/usage.ts';
import { revealHidden } from './text.ts';

/** Formats milliseconds: `840 ms`, `12.4 s`, `3 min 5 s`, `2 h 10 min`, `3 d 4 h`. */
export function formatDuration(ms: number): string {
  if (ms < 999.5) return `${ms < 10 ? Math.round(ms * 10) / 10 : Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  const [large, small, unit, rest] =
    seconds < 3_600 ? [60, 1, 'min', 's'] : seconds < 86_400 ? [3_600, 60, 'h', 'min'] : [86_400, 3_600, 'd', 'h'];
  const part = Math.floor((seconds % large) / small);
  return `${Math.floor(seconds / large)} ${unit}${part === 0 ? '' : ` ${part} ${rest}`}`;
}

/** A duration in its largest unit: `5 min`, `2 h`, `3 d`. */
export const formatRoughly = (ms: number): string => formatDuration(ms).split(' ', 2).join(' ');

/** Formats a delay of a chart: milliseconds as `30 s` or `5 min`, a named delay as its name. */
export function formatDelay(delay: string): string {
  const ms = Number(delay);
  if (!/^\d+$/u.test(delay)) return delay;
  return ms < 1_000 ? `${ms} ms` : ms < 60_000 ? `${ms / 1_000} s` : formatDuration(ms);
}

/** The message of an error with times as people read them: `30 s` for `30000 ms`. */
export const messageText = (message: string): string =>
  message.replace(/\b(\d{4,}) ms\b/gu, (_, ms: string) => formatDelay(ms));

/** Formats with tenths of a millisecond below a second, with milliseconds above. */
export const formatTime = (ms: number): string =>
  ms < 999.95 ? `${ms.toFixed(1)} ms` : `${(ms / 1_000).toFixed(3)} s`;

/** A score with two decimals, or as many as it takes to tell it from the number that it is compared with. */
export function formatScore(score: number, compared: number | null = null): string {
  if (Number.isInteger(score)) return formatNumber(score);
  const at = [2, 3, 4].find(
    (decimals) => compared === null || rounded(score, decimals) !== rounded(compared, decimals),
  );
  return String(rounded(score, score === compared ? 2 : (at ?? 6)));
}

const rounded = (number: number, decimals: number): number => Number(number.toFixed(decimals));

// `toLocaleString` creates a format for each number.
const NUMBER = new Intl.NumberFormat('en-US');

export const formatNumber = (number: number): string => NUMBER.format(number);

/** Formats a cost with two significant digits and its currency: `0.0021 EUR`, `12.40 EUR`. */
export const formatCost = ({ amount, currency }: { readonly amount: number; readonly currency: string }): string =>
  `${amount >= 1 ? amount.toFixed(2) : Number(amount.toPrecision(2))} ${revealHidden(currency)}`;

/** Returns the tokens of one or more calls, for example "2,300 tokens in (2,000 cached), 40 out (30 reasoning)". */
export function formatTokens(usage: TokenUsage): string {
  const { inputTokens, outputTokens, cachedInputTokens, cacheWriteTokens, reasoningTokens, estimated } = usage;
  const parts = (...all: readonly (readonly [number | undefined, string])[]): string => {
    const known = all.flatMap(([number, words]) => (number === undefined ? [] : [`${formatNumber(number)} ${words}`]));
    return known.length === 0 ? '' : ` (${known.join(', ')})`;
  };
  const input = `${pluralize(inputTokens, 'token')} in${parts([cachedInputTokens, 'cached'], [cacheWriteTokens, 'written to the cache'])}`;
  return `${input}, ${formatNumber(outputTokens)} out${parts([reasoningTokens, 'reasoning'])}${estimated ? ', estimated' : ''}`;
}

/** `2,340 tokens (2,300 in, 40 out)`; `744 estimated prompt tokens, no reply` if usage is missing and all calls have failed. */
export function tokenTotal({ inputTokens, outputTokens, estimated }: TokenUsage): string {
  const total = inputTokens + outputTokens;
  if (total > 0 && outputTokens === 0)
    return `${pluralize(total, estimated ? 'estimated prompt token' : 'prompt token')}, no reply`;
  return `${pluralize(total, estimated ? 'estimated token' : 'token')} (${formatNumber(inputTokens)} in, ${formatNumber(outputTokens)} out)`;
}

/** `1 token`, `2,300 tokens`, `2 searches`, `2 activities`. */
export const pluralize = (number: number, noun: string): string =>
  `${formatNumber(number)} ${number === 1 ? noun : `${noun.replace(/ch$/u, 'che').replace(/ity$/u, 'itie')}s`}`;

/** `confidenceReached` becomes `confidence reached`. Other texts are unchanged. */
export function humanize(name: string): string {
  if (!/^[A-Za-z][A-Za-z0-9]*$/u.test(name)) return revealHidden(name);
  return name.replace(/([a-z0-9])([A-Z])/gu, (_, before: string, next: string) => `${before} ${next.toLowerCase()}`);
}

/** What charts call an anonymous function, and logic without an id. */
export const UNNAMED = 'inline';

/** A guard with its parameters: `nextPhaseIs(action)` as `next phase is action`. */
export function humanizeGuard(guard: string): string {
  if (guard === UNNAMED) return 'unnamed guard';
  const [, name, parameters] = /^([A-Za-z][A-Za-z0-9]*)\((.*)\)$/su.exec(guard) ?? [];
  return name === undefined ? humanize(guard) : `${humanize(name)} ${parameters ?? ''}`;
}

const DAY = new Intl.DateTimeFormat('en-US', { month: 'short', day: 'numeric' });
const CLOCK = new Intl.DateTimeFormat('en-US', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});

/** `Nov 22, 22:14`, in local time; null if it is not a time. A journal may contain any text. */
export function startedText(time: string | number): string | null {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? null : `${DAY.format(date)}, ${CLOCK.format(date).slice(0, 5)}`;
}

/** A time in local time, in parts: the day with a space after it if it is another day than that of `since`, `22:14:05`, and `.250`. Empty if it is unknown. */
export function clockText(date: Date, since: Date): readonly [day: string, time: string, ms: string] {
  if (Number.isNaN(date.getTime())) return ['', '', ''];
  const isSameDay = !Number.isNaN(since.getTime()) && date.toDateString() === since.toDateString();
  return [
    isSameDay ? '' : `${DAY.format(date)}, `,
    CLOCK.format(date),
    `.${String(date.getMilliseconds()).padStart(3, '0')}`,
  ];
}

export const capitalize = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

/** The six phases in the order of a full cycle; a copy, so that the page does not load the schema. */
export const PHASE_NAMES: readonly Phase[] = [
  'action',
  'experience',
  'intention',
  'observation',
  'understanding',
  'yield',
];
