import type { Failure } from '../../../machines/contracts/failure.ts';
import { failureOf } from '../../../machines/policies/failures.ts';
import { oneLine } from '../../../machines/text/one-line.ts';
import { MAX_DEPTH } from './json-grammar.ts';
import type { StreamDriver, Unfound } from './stream-driver.ts';
import { StrictFinder } from './strict-finder.ts';

/** A name in a message is cut off here: a model may have made it up. */
const MAX_NAME_CHARS = 60;

/**
 * Reads a reply that is the arguments of one tool call: of the first one of this tool. Its arguments are one whole JSON text. Text,
 * other calls, and further calls of the same tool are none of the reply.
 */
export function createToolCallDriver(toolName: string): StreamDriver {
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
