/**
 * What a server is asked in: OpenAI's is spoken by many, in full by few. `format` is how the reply's shape is asked for, the best
 * first; `usage` is whether token counts are asked for; `tokenLimit` is what the longest reply is called.
 */
export interface Dialect {
  readonly format: 'strict_schema' | 'json_schema' | 'json_object' | 'text';
  readonly usage: boolean;
  readonly tokenLimit: 'max_tokens' | 'max_completion_tokens';
}

/** A refused request: its HTTP status, all that the server said, and the parameter it named, if any. */
export interface Refusal {
  readonly status: number;
  readonly text: string;
  readonly param: string | null;
}

/** The statuses that servers refuse a parameter with. */
export const REFUSING: ReadonlySet<number> = new Set([400, 404, 422, 501]);

const ABOUT_FORMAT = /response_?\s?format|json[_ ](schema|object|mode)|structured output|guided|grammar/iu;
const ABOUT_SCHEMA = /invalid schema|strict|not permitted/iu;
const ABOUT_USAGE = /stream_options|include_usage/iu;
const UNKNOWN =
  /not supported|unsupported|not support |unrecogni[sz]ed|unknown (field|parameter)|extra (inputs|fields)/iu;

/**
 * The next humbler dialect to ask in, or null when the refusal is about something else or nothing is left to give up. Every step
 * gives up one thing for good, so at most six requests are made.
 */
export function humblerDialect(dialect: Dialect, refusal: Refusal): Dialect | null {
  if (!REFUSING.has(refusal.status)) return null;
  const text = `${refusal.param ?? ''} ${refusal.text}`;
  if (dialect.usage && ABOUT_USAGE.test(text)) return { ...dialect, usage: false };
  if (dialect.tokenLimit === 'max_tokens' && text.includes('max_completion_tokens')) {
    return { ...dialect, tokenLimit: 'max_completion_tokens' };
  }
  const aboutFormat = ABOUT_FORMAT.test(text);
  if (!aboutFormat && (refusal.param !== null || !UNKNOWN.test(text))) return null;
  const format = humblerFormat(dialect.format, aboutFormat && ABOUT_SCHEMA.test(text));
  if (format !== null) return { ...dialect, format };
  return dialect.usage && !aboutFormat ? { ...dialect, usage: false } : null;
}

function humblerFormat(format: Dialect['format'], aboutSchema: boolean): Dialect['format'] | null {
  switch (format) {
    case 'strict_schema':
      return aboutSchema ? 'json_schema' : 'json_object';
    case 'json_schema':
      return 'json_object';
    case 'json_object':
      return 'text';
    case 'text':
      return null;
    default: {
      const never: never = format;
      return never;
    }
  }
}
