import type { Failure } from '../../../machines/contracts/failure.ts';
import type { FinishReason } from '../../../machines/contracts/model.ts';
import { failureOf } from '../../../machines/policies/failures.ts';
import { mapMaybePromise } from '../../internal/async.ts';
import { quotedName } from './quoted-name.ts';
import type { JsonFinder, MissingValue, StreamDriver } from './stream-driver.ts';
import { TextWithoutThought } from './thought.ts';

/** Converts the text of a reply to its value. */
export type ProseValue = (text: string, reason: FinishReason | null) => unknown;

/** Returns a driver for replies in prose: the whole text without reasoning. */
export function createProseDriver(toValue: ProseValue = (text) => text): StreamDriver {
  const reply = new TextWithoutThought();
  let tool: string | null = null;
  return {
    finder: NOTHING_FOUND,
    claim(part) {
      if (part.type === 'tool-call-delta') tool ??= part.name;
      return part.type === 'text-delta';
    },
    unsearched: {
      areCalls: false,
      push: (chunk) => reply.add(chunk),
      soFar: () => reply.text,
      whole(reason) {
        const text = reply.text.trim();
        if (text === '' || reason === 'length') return null;
        return mapMaybePromise(toValue(text, reason), (value) => ({ value }));
      },
      describe: () => reply.text.trim(),
    },
    misplaced: null,
    proseIn: () => '',
    failureOf: (missing) => missingTextFailure(missing, tool),
  };
}

const NOTHING_FOUND: JsonFinder = {
  push: () => '',
  end: () => {},
  candidate: 0,
  found: null,
  fallback: null,
  fallbackIfCut: null,
  showsFallback: false,
  miss: 'none',
};

function missingTextFailure({ text, reason }: MissingValue, tool: string | null): Failure {
  const failure = (code: string, message: string): Failure => failureOf('extraction', code, message);
  if (reason === 'length')
    return failure('truncated', 'The reply was cut off at the output limit; expected a shorter text.');
  if (text.trim() !== '') return failure('empty_reply', 'The reply contains only reasoning; expected text after it.');
  if (tool === null) return failure('empty_reply', 'The reply is empty; expected text.');
  return failure('empty_reply', `The reply calls the tool ${quotedName(tool)}, which was not offered; expected text.`);
}
