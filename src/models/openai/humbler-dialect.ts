import type { ReplyForm } from '../../../machines/contracts/model.ts';
import { type Dialect, isUnknown, REFUSING, type Refusal } from './dialect.ts';
import { humblerTool } from './humbler-tool.ts';

const ABOUT_FORMAT = /response_?\s?format|json[_ ](schema|object|mode)|structured output|guided|grammar/iu;
const ABOUT_SCHEMA = /invalid schema|strict|not permitted/iu;
/** What a server says of a schema that it would have taken the way of asking for. */
const ABOUT_THIS_SCHEMA =
  /invalid schema|invalid_function_parameters|grammar|reference can only|schema missing items/iu;
const ABOUT_USAGE = /stream_options|include_usage/iu;

/** Whether a refusal is about the one schema, so that others may be asked for as before. */
export function isAboutSchema(text: string): boolean {
  return ABOUT_THIS_SCHEMA.test(text);
}

/**
 * The next humbler dialect to ask in, or null when the refusal is about something else or nothing is left to give up. Every step
 * gives up one thing for good, so at most six requests are made for a reply in text and seven for a tool call.
 */
export function humblerDialect(dialect: Dialect, refusal: Refusal, form: ReplyForm): Dialect | null {
  if (!REFUSING.has(refusal.status)) return null;
  const text = `${refusal.param ?? ''} ${refusal.text}`;
  if (dialect.usage && ABOUT_USAGE.test(text)) return { ...dialect, usage: false };
  if (dialect.tokenLimit === 'max_tokens' && text.includes('max_completion_tokens')) {
    return { ...dialect, tokenLimit: 'max_completion_tokens' };
  }
  const humbler = form === 'tool-call' ? humblerTool : humblerText;
  return humbler(dialect, text, refusal.param !== null);
}

function humblerText(dialect: Dialect, text: string, isAboutParam: boolean): Dialect | null {
  const aboutFormat = ABOUT_FORMAT.test(text);
  if (!aboutFormat && (isAboutParam || !isUnknown(text))) return null;
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
