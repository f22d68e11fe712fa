import type { Failure } from '../../../machines/contracts/failure.ts';
import type { FinishReason, ModelPart } from '../../../machines/contracts/model.ts';
import { redactSecrets } from '../../internal/secrets.ts';
import { CUT, failedPart, failure } from '../../models/openai/failures.ts';
import { type ReportedCounts, tokenUsage } from '../../models/openai/reply-chunk.ts';
import { maskKeys } from './failures.ts';
import type { AiSdkStreamPart } from './language-model.ts';

/** The failure of a reply without content: the connection was lost, or the response is not a stream, such as a page of HTML. */
const EMPTY = failure('stream_cut', 'the response has no content; check the base URL of the provider', {
  retryable: true,
});

export interface ReplyContext {
  readonly version: string;
  readonly provider: string;
  readonly nameOf: (wire: string) => string;
  readonly failureOf: (thrown: unknown) => Failure;
}

/**
 * Converts the parts of a language model's stream, one at a time, to model parts: deltas, then one `finish` or `failure`, after which
 * nothing follows. Every value of a part is checked, because a provider may send anything.
 */
export class ReplyParts {
  readonly #context: ReplyContext;
  readonly #calls = new Map<string, Call>();
  readonly #openBlocks = new Set<string>();
  #isEmpty = true;
  #isOver = false;

  constructor(context: ReplyContext) {
    this.#context = context;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  read(part: AiSdkStreamPart): readonly ModelPart[] {
    const { id, delta } = part;
    if (!FRAME.has(part.type)) this.#isEmpty = false;
    switch (part.type) {
      case 'text-start':
      case 'reasoning-start':
        this.#openBlocks.add(`${part.type}${id}`);
        return KEEP_ALIVE;
      case 'text-end':
      case 'reasoning-end':
        this.#openBlocks.delete(`${part.type.replace('end', 'start')}${id}`);
        return KEEP_ALIVE;
      case 'text-delta':
        return textOf(delta) === '' ? KEEP_ALIVE : [{ type: 'text-delta', text: textOf(delta) }];
      case 'reasoning-delta':
        return [{ type: 'reasoning-delta', text: textOf(delta) }];
      case 'tool-input-start':
      case 'tool-input-delta':
      case 'tool-call':
        return part.providerExecuted === true ? KEEP_ALIVE : this.#readCall(part);
      case 'finish':
        return this.#end(this.#finish(part));
      case 'error':
        return this.#end({ type: 'failure', failure: this.#causeOf(this.#context.failureOf(sentError(part))) });
      default:
        return KEEP_ALIVE;
    }
  }

  /** Returns the last part of a stream that ended without one. */
  cut(): ModelPart {
    return { type: 'failure', failure: this.#causeOf(CUT) };
  }

  #causeOf(cause: Failure): Failure {
    return cause === CUT && this.#isEmpty ? EMPTY : cause;
  }

  #end(part: ModelPart): readonly ModelPart[] {
    this.#isOver = true;
    return [part];
  }

  /** A call arrives as deltas of its arguments and then as a whole, or only as a whole. */
  #readCall(part: AiSdkStreamPart): readonly ModelPart[] {
    const id = String(part.toolCallId ?? part.id);
    const name = textOf(part.toolName);
    const known = this.#calls.get(id);
    if (known === undefined && part.type === 'tool-input-delta') return KEEP_ALIVE;
    const call = known ?? { index: this.#calls.size, name: this.#context.nameOf(name), sent: '', isJson: true };
    this.#calls.set(id, call);
    if (part.inputEncoding === 'text') call.isJson = false;
    const rest = this.#restOf(call, part);
    if (rest === '' && known !== undefined) return KEEP_ALIVE;
    call.sent += rest;
    return [{ type: 'tool-call-delta', index: call.index, id, name: call.name, arguments: rest }];
  }

  /** Returns the arguments that the part adds. Deltas of another encoding than JSON are not arguments yet. */
  #restOf({ sent, isJson }: Call, { type, delta, input }: AiSdkStreamPart): string {
    if (type === 'tool-input-delta') return isJson ? textOf(delta) : '';
    if (type !== 'tool-call') return '';
    const whole = typeof input === 'string' ? input : (JSON.stringify(input) ?? '');
    if (whole.startsWith(sent)) return whole.slice(sent.length);
    return '';
  }

  #finish({ finishReason, usage: reported, providerMetadata }: AiSdkStreamPart): ModelPart {
    const isFlat = this.#context.version === 'v2';
    const usage = tokenUsage(isFlat ? flatUsage(reported, providerMetadata, this.#context) : nestedUsage(reported));
    const { unified, raw } = reasonOf(finishReason);
    const reason = REASONS[unified];
    if (unified === 'error') {
      const why = raw === null || raw === '' ? '' : ` (${redactSecrets(maskKeys(raw), [])})`;
      const message = `the provider ended the reply because of an error${why}`;
      return failedPart(failure('garbled_reply', message, { retryable: true }), usage);
    }
    const isMissing = unified === '' && raw === '';
    // V2 and V3 have no separate reason for a stream that ended early.
    const isUnknown = unified === 'unknown' || (isMissing && isFlat);
    const isCut = isUnknown
      ? usage === null || this.#openBlocks.size > 0
      : isMissing || unified === 'interrupted' || (unified === 'other' && raw === null);
    return isCut ? failedPart(this.#causeOf(CUT), usage) : { type: 'finish', reason: reason ?? 'other', usage };
  }
}

/** The parts that also a stream without a reply has. */
const FRAME: ReadonlySet<string> = new Set(['stream-start', 'response-metadata', 'raw', 'error', 'finish']);

/** Returns the error of a part as an error or an object, because a thrown text is not from the server. */
function sentError({ error }: AiSdkStreamPart): unknown {
  return error instanceof Error ? error : { error: error ?? 'an error without a description' };
}

/** `sent` are the arguments so far. */
interface Call {
  readonly index: number;
  readonly name: string;
  sent: string;
  isJson: boolean;
}

/** Has no content; it only shows that the model is still working. */
const KEEP_ALIVE: readonly ModelPart[] = [{ type: 'reasoning-delta', text: '' }];

const REASONS: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  length: 'length',
  'tool-calls': 'tool-calls',
  'content-filter': 'content-filter',
};

/** A string in V2; an object since V3, whose `raw` is absent if the provider gave no reason. */
function reasonOf(given: unknown): { readonly unified: string; readonly raw: string | null } {
  if (typeof given === 'string') return { unified: given, raw: '' };
  const { unified, raw } = membersOf(given);
  return { unified: textOf(unified), raw: typeof raw === 'string' ? raw : unified === 'other' ? null : '' };
}

function nestedUsage(given: unknown): ReportedCounts {
  const { inputTokens, outputTokens } = membersOf(given);
  const [input, output] = [membersOf(inputTokens), membersOf(outputTokens)];
  return {
    input: countOf(input['total']),
    output: countOf(output['total']),
    cached: countOf(input['cacheRead']),
    written: countOf(input['cacheWrite']),
    reasoning: countOf(output['reasoning']),
  };
}

/**
 * V2 does not define what its numbers include. The input of Anthropic and Bedrock excludes tokens read from the cache and written to it;
 * the latter are only in the metadata. Google's output excludes reasoning, which its total includes.
 */
function flatUsage(given: unknown, metadata: unknown, { provider }: ReplyContext): ReportedCounts {
  const { anthropic, bedrock } = membersOf(metadata);
  const written = countOf(
    membersOf(anthropic)['cacheCreationInputTokens'] ?? membersOf(membersOf(bedrock)['usage'])['cacheWriteInputTokens'],
  );
  const { inputTokens, outputTokens, totalTokens, cachedInputTokens, reasoningTokens } = membersOf(given);
  const [input, output, cached] = [countOf(inputTokens), countOf(outputTokens), countOf(cachedInputTokens)];
  const total = countOf(totalTokens);
  const whole = input === null || output === null || total === null ? output : Math.max(output, total - input);
  return {
    input: input !== null && /anthropic|bedrock/u.test(provider) ? input + (cached ?? 0) + (written ?? 0) : input,
    output: whole,
    cached,
    written,
    reasoning: countOf(reasoningTokens),
  };
}

function countOf(given: unknown): number | null {
  return typeof given === 'number' && Number.isSafeInteger(given) && given >= 0 ? given : null;
}

function membersOf(given: unknown): Readonly<Record<string, unknown>> {
  return typeof given === 'object' && given !== null ? (given as Readonly<Record<string, unknown>>) : {};
}

const textOf = (given: unknown): string => (typeof given === 'string' ? given : '');
