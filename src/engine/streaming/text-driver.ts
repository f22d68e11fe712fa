import type { Failure } from '../../../machines/contracts/failure.ts';
import { failureOf } from '../../../machines/policies/failures.ts';
import { MAX_DEPTH } from './json-grammar.ts';
import { ProseFinder } from './prose-finder.ts';
import type { StreamDriver, Unfound } from './stream-driver.ts';

/** Reads a reply that is JSON in text, with prose and fences around it: all text is the reply’s own. */
export function createTextDriver({ acceptsList }: { readonly acceptsList: boolean }): StreamDriver {
  return {
    finder: new ProseFinder({ acceptsList }),
    owns: (part) => part.type === 'text-delta',
    call: null,
    failureOf: whyNone,
  };
}

function whyNone({ text, miss, reason }: Unfound): Failure {
  if (miss === 'too-deep')
    return failureOf(
      'extraction',
      'too_deep',
      `The JSON in the reply has more than ${MAX_DEPTH} open brackets; wanted a flatter one.`,
    );
  if (reason === 'length')
    return failureOf('extraction', 'truncated', 'The reply was cut off at the output limit before its JSON ended.');
  if (text.trim() === '') return failureOf('extraction', 'empty_reply', 'The reply is empty; wanted one JSON object.');
  if (miss === 'unfinished')
    return failureOf('extraction', 'no_json', 'The JSON in the reply does not end; wanted one whole JSON object.');
  return failureOf('extraction', 'no_json', 'The reply holds no valid JSON; wanted one JSON object.');
}
