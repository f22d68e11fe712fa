import type { ModelRequest } from '../../../machines/contracts/model.ts';
import { type Dialect, isUnknown, REFUSING, type Refusal } from './dialect.ts';
import { humblerOffers, humblerTool, isAboutTools } from './humbler-tool.ts';
import { refusesTools } from './tool-refusal.ts';

const ABOUT_FORMAT = /response_?\s?format|json[_ ](schema|object|mode)|structured output|guided|grammar/iu;
const ABOUT_SCHEMA = /invalid schema|strict|not permitted/iu;
/** What a server says of a schema that it would have taken the way of asking for. */
const ABOUT_THIS_SCHEMA =
  /invalid schema|invalid_function_parameters|grammar|reference can only|schema missing items/iu;
/** What servers say of tools beside a response format, some with a status of 500. */
const COMBINED = /(cannot|can't|not) (use|be (used|combined)).*\b(tools?|functions?)\b/iu;
const ABOUT_USAGE = /stream_options|include_usage/iu;

/** Whether a refusal is about the one schema, so that others may be asked for as before. */
export function isAboutSchema(text: string): boolean {
  return ABOUT_THIS_SCHEMA.test(text);
}

/**
 * The next humbler dialect to ask in, or null when the refusal is about something else or nothing is left to give up. Every step
 * gives up one thing for good, so at most six requests are made for a reply in text and seven for a tool call, and as many as eight
 * and eleven where tools are offered beside it: those are given up before anything that the reply itself is asked for with.
 */
export function fallbackDialect(
  dialect: Dialect,
  refusal: Refusal,
  { replyForm, tools }: Pick<ModelRequest, 'replyForm' | 'tools'>,
): Dialect | null {
  const text = `${refusal.param ?? ''} ${refusal.text}`;
  const isOffering = tools !== undefined && tools.length > 0 && dialect.offers !== 'words';
  const isText = replyForm === 'text';
  if (isText && isOffering && refusal.status === 500 && (refusesTools(text) || COMBINED.test(text)))
    return humblerOffers(dialect, text);
  if (!REFUSING.has(refusal.status)) return null;
  if (dialect.usage && ABOUT_USAGE.test(text)) return { ...dialect, usage: false };
  if (dialect.tokenLimit === 'max_tokens' && text.includes('max_completion_tokens')) {
    return { ...dialect, tokenLimit: 'max_completion_tokens' };
  }
  const namesParam = refusal.param !== null;
  if (!isText) return humblerTool(dialect, { text, namesParam, isOffering });
  if (isOffering && (isAboutTools(text) || isUnspecific(text, namesParam))) return humblerOffers(dialect, text);
  return humblerText(dialect, text, namesParam);
}

/** Whether something is refused and it is not said what. */
function isUnspecific(text: string, namesParam: boolean): boolean {
  return !ABOUT_FORMAT.test(text) && !namesParam && isUnknown(text);
}

function humblerText(dialect: Dialect, text: string, namesParam: boolean): Dialect | null {
  const aboutFormat = ABOUT_FORMAT.test(text);
  if (!aboutFormat && !isUnspecific(text, namesParam)) return null;
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
