import type { Reply } from '../../../machines/contracts/attempt.ts';
import type { Failure } from '../../../machines/contracts/failure.ts';
import type { ModelPart, ReplyForm } from '../../../machines/contracts/model.ts';
import type { TokenUsage } from '../../../machines/contracts/usage.ts';
import { failureOf } from '../../../machines/policies/failures.ts';
import { oneLine } from '../../../machines/text/clip.ts';

import { MAX_DEPTH } from './json-scanner.ts';
import { type OfferedTools, withOfferedTools } from './offered-tools.ts';
import { PartSource, type StreamEnd } from './part-source.ts';
import { readValue, type StreamObserver } from './read-value.ts';
import type { StreamDriver, Unfound } from './stream-driver.ts';
import { StrictFinder } from './strict-finder.ts';
import { createTextDriver } from './text-driver.ts';

export interface ReadStreamOptions extends StreamObserver {
  readonly form: ReplyForm;
  /** The tool whose arguments are the reply; only for the form `tool-call`. */
  readonly toolName: string;
  /** Whether a bare array in the text may be the value; only for the form `text`. */
  readonly acceptsList: boolean;
  /** The tools that a model may call instead of replying, in either form. */
  readonly offered?: OfferedTools | undefined;
  readonly maxChars: number;
  /** Receives a function that stops reading at once, even if the stream ignores its signal. */
  readonly onStoppable: (stop: () => void) => void;
  /** For an estimate if the provider reports no usage. */
  readonly promptChars: number;
}

/**
 * Reads one model stream to its end and finds the JSON value in it while it arrives.
 *
 * - The value is the result of JSON.parse on exactly its text; partial values are separate objects.
 * - While streaming, nothing is parsed twice, and all work is linear in the characters. The arguments of an offered tool are not parsed.
 * - It never rejects because of a model: a transport failure, a stream that throws, missing JSON or too much text is the reply's `failure`.
 * - It rejects with what an observer throws, and closes the stream.
 */
export async function readStream(open: () => AsyncIterable<ModelPart>, options: ReadStreamOptions): Promise<Reply> {
  const driver = driverFor(options);
  const { maxChars, onStoppable } = options;
  const source = new PartSource(open, { owns: driver.owns, maxChars, onStoppable });
  try {
    const found = await readValue(source, driver, options);
    const { text, end } = source;
    const none = found === null ? driver.failureOf({ text, miss: driver.finder.miss, reason: end.reason }) : null;
    const failure = brokenBy(end) ?? none;
    return {
      text: driver.call?.describe() ?? text,
      value: failure === null ? found?.value : null,
      failure,
      usage: end.usage ?? (isTurnedAway(end, source.chars) ? NOTHING : estimate(options.promptChars, source.chars)),
    };
  } finally {
    source.close();
  }
}

function driverFor(options: ReadStreamOptions): StreamDriver {
  const { form, toolName, offered } = options;
  const driver = form === 'text' ? createTextDriver(options) : createToolCallDriver(toolName);
  return offered === undefined ? driver : withOfferedTools(driver, offered, { readsJsonText: form === 'text' });
}

function brokenBy({ failure, reason }: StreamEnd): Failure | null {
  if (failure !== null) return failure;
  if (reason !== 'content-filter') return null;
  return failureOf('refinement', 'filtered', 'The reply was stopped by the provider’s content filter.', {
    retryable: false,
  });
}

const NOTHING: TokenUsage = { inputTokens: 0, outputTokens: 0, estimated: true };

/** Whether the request was never processed, so that nobody bills the prompt: no connection, or an error status before any text. */
function isTurnedAway({ failure }: StreamEnd, chars: number): boolean {
  if (failure === null || failure.stage !== 'transport' || chars > 0) return false;
  return failure.status !== null || failure.code === 'connection_failed';
}

/** Assumes four characters per token; everything received counts as output, including reasoning. */
function estimate(promptChars: number, chars: number): TokenUsage {
  return { inputTokens: Math.ceil(promptChars / 4), outputTokens: Math.ceil(chars / 4), estimated: true };
}

/** Names in messages are cut to this length: a model may have invented them. */
const MAX_NAME_CHARS = 60;

/**
 * Returns a driver for replies that are the arguments of a tool call: the first call of this tool. The arguments are one complete JSON
 * text. Text, other calls, and further calls of the same tool are not part of the reply.
 */
function createToolCallDriver(toolName: string): StreamDriver {
  const tool = `the tool “${oneLine(toolName, MAX_NAME_CHARS)}”`;
  let index: number | null = null;
  let otherCall: string | null = null;
  let sawText = false;

  function whyNone({ text, miss, reason }: Unfound): Failure {
    if (miss === 'too-deep')
      return extraction(
        'too_deep',
        `The arguments of ${tool} have more than ${MAX_DEPTH} open brackets; expected fewer.`,
      );
    if (reason === 'length')
      return extraction(
        'truncated',
        `The reply was cut off at the output limit before the arguments of ${tool} ended.`,
      );
    if (index === null) return extraction('no_tool_call', `The reply does not call ${tool}; ${instead()}.`);
    if (text.trim() === '')
      return extraction('empty_reply', `The call of ${tool} has no arguments; expected one JSON object.`);
    if (miss === 'unfinished')
      return extraction('no_json', `The arguments of ${tool} do not end; expected one complete JSON object.`);
    return extraction(
      'no_json',
      `The arguments of ${tool} are not valid JSON; expected one JSON object and nothing else.`,
    );
  }

  function instead(): string {
    if (otherCall !== null) return `a call of “${oneLine(otherCall, MAX_NAME_CHARS)}” came instead`;
    return sawText ? 'text came instead' : 'nothing came instead';
  }

  return {
    finder: new StrictFinder(),
    call: null,
    owns(part) {
      if (part.type === 'text-delta') sawText ||= part.text.trim() !== '';
      if (part.type !== 'tool-call-delta') return false;
      if (part.name === toolName) index ??= part.index;
      else otherCall ??= part.name;
      return part.name === toolName && part.index === index;
    },
    failureOf: whyNone,
  };
}

const extraction = (code: string, message: string): Failure => failureOf('extraction', code, message);
