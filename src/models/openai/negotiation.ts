import type OpenAI from 'openai';
import type { ModelRequest } from '../../../machines/contracts/model.ts';
import { wellFormed } from '../../../machines/text/safe-json.ts';
import { schemaKey } from '../../internal/json-schema.ts';
import { isOpenAI, type OpenAISettings } from './options.ts';
import { ReplyBody } from './reply-body.ts';
import { chatBody, type Dialect, responsesBody, toolLevel, toolNames } from './request-body.ts';
import { fallbackSchemas, isAboutSchema, keep, offersTools, type ToolLevel } from './schema-rejections.ts';
import { exceedsScoreLimits } from './score-limits.ts';
import {
  isAboutToolChoice,
  isFailedGeneration,
  isPromptTooLong,
  REJECTION_STATUSES,
  rejectsTools,
  type ServerError,
  type ServerRejection,
  serverError,
} from './server-errors.ts';
import { strictSchema } from './strict-schema.ts';

const UNSUPPORTED =
  /not supported|unsupported|not support |unrecogni[sz]ed|unknown (field|parameter)|extra (inputs|fields)/iu;

const RICHEST = {
  format: 'strict_schema',
  toolChoice: 'named',
  replyTool: 'strict',
  offers: 'strict',
  anyChoice: 'required',
} as const;

/** A server that names another of many tools in every rejection gets none of them. */
const MAX_TOOL_REJECTIONS = 12;

/** `json`: the text of a reply, and the arguments of its calls; it may be cut off. */
interface WrittenReply {
  readonly json: string;
  readonly hasCall: boolean;
}

interface Negotiation {
  readonly send: (request: ModelRequest, signal: AbortSignal) => Promise<ReplyBody>;
  /** Learns from a complete reply what the server ignores without an error. */
  readonly learn: (request: ModelRequest, reply: WrittenReply) => void;
}

/**
 * Sends requests in the richest dialect that the server accepts. A rejected request is repeated in a fallback
 * dialect within the same attempt. An accepted dialect is remembered, separately for text and tool calls, so a rejection costs one request
 * in the lifetime of a model. A rejection of one schema is remembered for that schema only, by its text.
 *
 * `send` rejects with the openai client's error: the first rejection if no dialect is accepted. After a reply with a score beyond the limits
 * that its schema stated, the next requests list the scores; after a reply without the call that was requested by name, they require any call.
 */
export function negotiateDialect(settings: OpenAISettings, client: () => Promise<OpenAI>): Negotiation {
  const api = settings.api ?? 'chat';
  const tokenLimit = isOpenAI(settings.baseURL) ? 'max_completion_tokens' : 'max_tokens';
  const richestFor = (form: ModelRequest['replyForm']): Dialect => ({
    ...RICHEST,
    api,
    usage: api === 'chat',
    scores: 'limited',
    tokenLimit,
    tools: new Map(),
    ...(form === 'json-object' && { format: 'json_object' }),
    ...(form === 'prose' && { format: 'text' }),
  });
  const accepted = new Map<ModelRequest['replyForm'], Dialect>();
  const acceptedFor = new Map<string, Pick<Dialect, 'format' | 'replyTool'>>();
  const toolLevels = new Map<string, ToolLevel>();
  let scores: Dialect['scores'] = 'limited';

  const learn: Negotiation['learn'] = ({ outputSchema, replyForm: form, tools = [] }, { json, hasCall }) => {
    const dialect = accepted.get(form) ?? richestFor(form);
    const isCall = form === 'tool-call';
    // llama.cpp reads only words as a choice.
    const isIgnored = isCall && !hasCall && tools.length === 0 && dialect.toolChoice === 'named';
    if (isIgnored) accepted.set(form, { ...dialect, toolChoice: 'required' });
    const isSent = isCall ? dialect.replyTool !== 'bare' : /schema/u.test(dialect.format);
    if (isSent && exceedsScoreLimits(json, outputSchema)) scores = 'listed';
  };
  const send: Negotiation['send'] = async (request, signal) => {
    const form = request.replyForm;
    const key = `${form} ${schemaKey(request.outputSchema)}`;
    const { format, replyTool, ...general } = accepted.get(form) ?? richestFor(form);
    const known = acceptedFor.get(key) ?? { format, replyTool };
    let dialect: Dialect = { ...general, ...known, tools: toolLevels, scores };
    let firstRejection: unknown = null;
    let isSchemaRejected = false;
    for (let rejections = 0; ; rejections += 1) {
      try {
        const sent = await sendOnce(await client(), request, { settings, dialect, signal });
        if (firstRejection !== null) {
          const ofSchema = { format: dialect.format, replyTool: dialect.replyTool };
          if (isSchemaRejected) keep(acceptedFor, [[key, ofSchema]]);
          accepted.set(form, { ...dialect, ...(isSchemaRejected && { format, replyTool }) });
          if (dialect.tools !== toolLevels) keep(toolLevels, dialect.tools);
        }
        return sent;
      } catch (thrown) {
        const error = serverError(thrown);
        const next =
          error === null || isFinal(error)
            ? null
            : ((settings.api === undefined ? fallbackApi(dialect, error) : null) ??
              fallbackDialect(dialect, error, request, rejections < MAX_TOOL_REJECTIONS));
        firstRejection ??= thrown;
        const isReply = next?.format !== dialect.format || next.replyTool !== dialect.replyTool;
        isSchemaRejected ||= error !== null && isReply && isAboutSchema(error);
        if (next === null) throw isRejection(error) ? firstRejection : thrown;
        dialect = next;
      }
    }
  };
  return { send, learn };
}

/** Whether an error is one more rejection of a dialect: the first rejection, about the richest dialect, is then more informative. */
function isRejection(error: ServerError | null): boolean {
  return error !== null && REJECTION_STATUSES.has(error.status) && !isFinal(error) && !rejectsTools(error.text);
}

/** Whether a rejection is about the content, so that another dialect would not help. */
function isFinal(error: ServerError): boolean {
  return isPromptTooLong(error) || isFailedGeneration(error);
}

/** Returns the dialect of the Responses API if OpenAI reports that chat completions lack the model or a combination of features. */
function fallbackApi(dialect: Dialect, { status, text }: ServerRejection): Dialect | null {
  const requiresResponses = REJECTION_STATUSES.has(status) && /\bv1\/responses\b/u.test(text);
  return dialect.api === 'chat' && requiresResponses ? { ...dialect, api: 'responses', usage: false } : null;
}

interface SendOptions {
  readonly settings: OpenAISettings;
  readonly dialect: Dialect;
  readonly signal: AbortSignal;
}

/** Sends a request. The client's own stream reader is slower and has no size limit. */
async function sendOnce(
  client: OpenAI,
  request: ModelRequest,
  { settings, dialect, signal }: SendOptions,
): Promise<ReplyBody> {
  const { timers, maxResponseBytes } = settings;
  const isChat = dialect.api === 'chat';
  const path = isChat ? '/chat/completions' : '/responses';
  const sent = (isChat ? chatBody : responsesBody)(request, settings, dialect);
  const { body } = await client.post(path, { body: wellFormed(sent), signal }).asResponse();
  const maxChars = Math.ceil(maxResponseBytes / 2);
  return new ReplyBody(body, { timers, maxChars });
}

const ABOUT_FORMAT = /response_?\s?format|text\.format|json[_ ](schema|object|mode)|structured output|guided|grammar/iu;
const ABOUT_SCHEMA = /invalid schema|strict|not permitted/iu;
/** Tools cannot be combined with a response format; some servers report this with status 500. */
const COMBINED = /(cannot|can't|not) (use|be (used|combined)).*\b(tools?|functions?)\b/iu;
const ABOUT_USAGE = /stream_options|include_usage/iu;

/**
 * Returns the next dialect to try, or null if the rejection is about something else or nothing is left to give up. Each step gives up one
 * feature permanently: at most seven requests for a text reply and nine for a tool call, and a few more with offered tools, which are
 * given up before any feature of the reply itself.
 */
function fallbackDialect(
  dialect: Dialect,
  rejection: ServerRejection,
  request: ModelRequest,
  mayLowerTools: boolean,
): Dialect | null {
  const { replyForm } = request;
  const text = `${rejection.param ?? ''} ${rejection.text}`;
  const isOffering = offersTools(request, dialect);
  const isText = replyForm !== 'tool-call';
  if (isText && isOffering && rejection.status === 500 && (rejectsTools(text) || COMBINED.test(text)))
    return fallbackOffers(dialect, text);
  if (!REJECTION_STATUSES.has(rejection.status)) return null;
  if (dialect.usage && ABOUT_USAGE.test(text)) return { ...dialect, usage: false };
  if (dialect.tokenLimit === 'max_tokens' && text.includes('max_completion_tokens')) {
    return { ...dialect, tokenLimit: 'max_completion_tokens' };
  }
  if (isAboutSchema(rejection) && !COMBINED.test(text)) {
    const next = fallbackSchemas(dialect, rejection, request, {
      names: toolNames(request),
      tools: isOffering && mayLowerTools ? request.tools : [],
      levelOf: (tool) => toolLevel(tool, dialect),
      isReplyStrict: isReplyStrict(dialect, request),
      poorerReply: withPoorerReply(dialect, request),
      blamesReply: ABOUT_FORMAT.test(text),
    });
    if (next !== null) return next;
  }
  const namesParam = rejection.param !== null;
  if (!isText) return fallbackToolCall(dialect, { text, namesParam, isOffering });
  if (isOffering && (ABOUT_TOOLS.test(text) || isUnspecific(text, namesParam))) return fallbackOffers(dialect, text);
  return fallbackText(dialect, text, { namesParam, isStrict: isReplyStrict(dialect, request) });
}

/** A schema that cannot be strict is sent in the next form. */
function isReplyStrict({ format, replyTool }: Dialect, { replyForm, outputSchema }: ModelRequest): boolean {
  const isAsked = replyForm === 'tool-call' ? replyTool === 'strict' : format === 'strict_schema';
  return isAsked && strictSchema(outputSchema) !== null;
}

function withPoorerReply(dialect: Dialect, request: ModelRequest): Dialect | null {
  const isStrict = isReplyStrict(dialect, request);
  if (request.replyForm === 'tool-call')
    return dialect.replyTool === 'bare' ? null : { ...dialect, replyTool: isStrict ? 'plain' : 'bare' };
  const format = isStrict ? 'json_schema' : POORER[dialect.format];
  return format === null ? null : { ...dialect, format };
}

/** Whether a server reports something as unsupported without naming it. */
function isUnspecific(text: string, namesParam: boolean): boolean {
  return !ABOUT_FORMAT.test(text) && !namesParam && UNSUPPORTED.test(text);
}

interface RejectedText {
  readonly namesParam: boolean;
  /** Whether the schema of the reply was sent as a strict one. */
  readonly isStrict: boolean;
}

function fallbackText(dialect: Dialect, text: string, { namesParam, isStrict }: RejectedText): Dialect | null {
  const aboutFormat = ABOUT_FORMAT.test(text);
  if (!aboutFormat && !isUnspecific(text, namesParam)) return null;
  const isPlainNext = isStrict && aboutFormat && ABOUT_SCHEMA.test(text);
  const format = isPlainNext ? 'json_schema' : POORER[dialect.format];
  if (format !== null) return { ...dialect, format };
  return dialect.usage && !aboutFormat ? { ...dialect, usage: false } : null;
}

const POORER = { strict_schema: 'json_object', json_schema: 'json_object', json_object: 'text', text: null } as const;

const ABOUT_STRICT = /\bstrict\b|invalid schema|invalid_function_parameters|additional_?properties|not permitted/iu;
const ABOUT_TOOLS = /\btools?\b|\btool_?(calls?|use|choice)\b|\bfunctions?\b|function[- _]?call/iu;

interface RejectedCall {
  readonly text: string;
  readonly namesParam: boolean;
  /** Whether the request offered native tools in addition to the reply. */
  readonly isOffering: boolean;
}

/** Falls back to tools without strict schemas, then to tools described in the prompt. */
function fallbackOffers(dialect: Dialect, text: string): Dialect {
  const isPlainNext = dialect.offers === 'strict' && ABOUT_STRICT.test(text);
  return { ...dialect, offers: isPlainNext ? 'plain' : 'prompt' };
}

/**
 * Falls back to a weaker tool choice, then to a schema that is not strict, then to offered tools described in the prompt. The tool of the
 * reply always stays.
 */
function fallbackToolCall(dialect: Dialect, { text, namesParam, isOffering }: RejectedCall): Dialect | null {
  const inPrompt: Dialect | null = isOffering ? { ...dialect, offers: 'prompt' } : null;
  const weakerChoice = isOffering ? weakerAnyChoice(dialect) : weakerToolChoice(dialect);
  if (isAboutToolChoice(text)) return weakerChoice ?? inPrompt;
  if (ABOUT_STRICT.test(text)) {
    if (isOffering && dialect.offers === 'strict') return { ...dialect, offers: 'plain' };
    if (dialect.replyTool === 'strict') return { ...dialect, replyTool: 'plain' };
    if (inPrompt !== null) return inPrompt;
  }
  if (namesParam || rejectsTools(text) || !UNSUPPORTED.test(text)) return null;
  if (inPrompt !== null) return inPrompt;
  if (dialect.replyTool === 'strict') return { ...dialect, replyTool: 'plain' };
  return weakerChoice ?? (dialect.usage ? { ...dialect, usage: false } : null);
}

const WEAKER = { named: 'required', required: 'auto', auto: 'omitted', omitted: null } as const;

function weakerToolChoice(dialect: Dialect): Dialect | null {
  const toolChoice = WEAKER[dialect.toolChoice];
  return toolChoice === null ? null : { ...dialect, toolChoice };
}

function weakerAnyChoice(dialect: Dialect): Dialect | null {
  const anyChoice = WEAKER[dialect.anyChoice];
  return anyChoice === null ? null : { ...dialect, anyChoice };
}
