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
  /** The tool whose arguments are the reply; for the form `tool-call` alone. */
  readonly toolName: string;
  /** Whether a bare list in the text may be the value; for the form `text` alone. */
  readonly acceptsList: boolean;
  /** The tools whose call may stand for the reply, in either form. */
  readonly offered?: OfferedTools | undefined;
  readonly maxChars: number;
  /** Given a function that stops the reading at once, whether the stream listens to its signal or not. */
  readonly onStoppable: (stop: () => void) => void;
  /** For the estimate where the provider gives no usage. */
  readonly promptChars: number;
}

/**
 * Reads one model stream to its end and finds the JSON value in it while it arrives [A2, A12].
 *
 * 1. The value is what JSON.parse makes of exactly its text: no partial is part of it. 2. Nothing is parsed twice on the way, and
 * all work is linear in the characters; the arguments of an offered tool are not parsed at all. 3. It never rejects for what a model does: a broken transport, a stream that throws, no JSON,
 * or too much text is the reply's `failure`. 4. What a observer throws, it throws, and lets go of the stream.
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
      text: driver.call?.spelled() ?? text,
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
  return offered === undefined ? driver : withOfferedTools(driver, offered, { saysJson: form === 'text' });
}

function brokenBy({ failure, reason }: StreamEnd): Failure | null {
  if (failure !== null) return failure;
  if (reason !== 'content-filter') return null;
  return failureOf('refinement', 'filtered', 'The reply was stopped by the provider’s content filter.', {
    retryable: false,
  });
}

const NOTHING: TokenUsage = { inputTokens: 0, outputTokens: 0, estimated: true };

/** Never reached, or refused by its status before a word: nobody read the prompt, and nobody bills it. */
function isTurnedAway({ failure }: StreamEnd, chars: number): boolean {
  if (failure === null || failure.stage !== 'transport' || chars > 0) return false;
  return failure.status !== null || failure.code === 'connection_failed';
}

/** Four characters a token; what came beside the reply, reasoning say, was output too. */
function estimate(promptChars: number, chars: number): TokenUsage {
  return { inputTokens: Math.ceil(promptChars / 4), outputTokens: Math.ceil(chars / 4), estimated: true };
}

/** A name in a message is cut off here: a model may have made it up. */
const MAX_NAME_CHARS = 60;

/**
 * Reads a reply that is the arguments of one tool call: of the first one of this tool. Its arguments are one whole JSON text. Text,
 * other calls, and further calls of the same tool are none of the reply.
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
        `The arguments of ${tool} have more than ${MAX_DEPTH} open brackets; wanted fewer.`,
      );
    if (reason === 'length')
      return extraction(
        'truncated',
        `The reply was cut off at the output limit before the arguments of ${tool} ended.`,
      );
    if (index === null) return extraction('no_tool_call', `The reply does not call ${tool}; ${instead()}.`);
    if (text.trim() === '')
      return extraction('empty_reply', `The call of ${tool} has no arguments; wanted one JSON object.`);
    if (miss === 'unfinished')
      return extraction('no_json', `The arguments of ${tool} do not end; wanted one whole JSON object.`);
    return extraction(
      'no_json',
      `The arguments of ${tool} are no valid JSON; wanted one JSON object, and nothing else.`,
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
