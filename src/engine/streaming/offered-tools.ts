import type { Failure } from '../../../machines/contracts/failure.ts';
import type { FinishReason } from '../../../machines/contracts/model.ts';
import { failureOf } from '../../../machines/policies/failures.ts';
import { oneLine } from '../../../machines/text/clip.ts';
import { GrowingText } from './part-source.ts';
import type { FoundValue, OfferedCall, StreamDriver } from './stream-driver.ts';
import { StrictFinder } from './strict-finder.ts';
import { LeadingThought } from './text-driver.ts';

/** No message lists more names. */
const MAX_NAMES = 20;
const MAX_NAME_CHARS = 60;

/** Tools that a model may call in place of its reply, by name, and what such a call and the words before it are as a value. */
export interface OfferedTools {
  readonly names: ReadonlySet<string>;
  readonly valueOf: (call: { readonly name: string; readonly arguments: string }, said: string) => unknown;
}

/**
 * A driver that also takes a call of one of these tools for the reply: the first such call, whatever text, JSON or other calls came
 * before it or follow. Until one begins, all is read as by the driver given. `saysJson`: that one reads JSON in text, which then is
 * no words said before a call.
 */
export function withOfferedTools(
  driver: StreamDriver,
  offered: OfferedTools,
  { saysJson }: { readonly saysJson: boolean },
): StreamDriver {
  const text = new GrowingText();
  const thought = new LeadingThought();
  let call: CallUnderWay | null = null;
  let unknown: string | null = null;

  const said = (): string => {
    const { found, miss } = driver.finder;
    const isReply = saysJson && (found !== null || miss !== 'none');
    return isReply ? '' : text.text.trim();
  };

  return {
    finder: driver.finder,
    get call() {
      return call;
    },
    owns(part) {
      if (part.type === 'tool-call-delta' && offered.names.has(part.name)) {
        call ??= new CallUnderWay(part.index, part.name, said(), offered.valueOf);
        return part.index === call.index;
      }
      if (call !== null) return false;
      if (part.type === 'text-delta') text.add(part.text.slice(thought.endIn(part.text)));
      if (part.type === 'tool-call-delta') unknown ??= part.name;
      return driver.owns(part);
    },
    failureOf(unfound) {
      if (call !== null) return cutOff(call.name);
      const isNoTool = saysJson && unfound.miss === 'none' && unfound.reason !== 'length';
      return unknown !== null && isNoTool ? noTool(unknown, offered.names) : driver.failureOf(unfound);
    },
  };
}

class CallUnderWay implements OfferedCall {
  readonly index: number;
  readonly name: string;
  readonly #said: string;
  readonly #toValue: OfferedTools['valueOf'];
  readonly #arguments = new GrowingText();

  constructor(index: number, name: string, said: string, toValue: OfferedTools['valueOf']) {
    this.index = index;
    this.name = name;
    this.#said = said;
    this.#toValue = toValue;
  }

  push(chunk: string): void {
    this.#arguments.add(chunk);
  }

  soFar(): unknown {
    return this.#value(this.#arguments.text);
  }

  /** Arguments that are no JSON are for the one who runs the tool to refuse; some servers give none at all for a tool without any. */
  whole(reason: FinishReason | null): FoundValue | null {
    const { text } = this.#arguments;
    if (reason === 'length' && !isWhole(text)) return null;
    return { value: this.#value(text.trim() === '' ? '{}' : text) };
  }

  spelled(): string {
    const called = `[a call of the tool ${this.name} with the arguments ${this.#arguments.text}]`;
    return this.#said === '' ? called : `${this.#said}\n${called}`;
  }

  #value(text: string): unknown {
    return this.#toValue({ name: this.name, arguments: text }, this.#said);
  }
}

function isWhole(json: string): boolean {
  const finder = new StrictFinder();
  finder.push(json);
  finder.end();
  return finder.found !== null;
}

function cutOff(name: string): Failure {
  const message = `The reply was cut off at the output limit before the arguments of the tool “${oneLine(name, MAX_NAME_CHARS)}” ended.`;
  return failureOf('extraction', 'truncated', message);
}

function noTool(name: string, names: ReadonlySet<string>): Failure {
  const known = [...names]
    .slice(0, MAX_NAMES)
    .map((one) => oneLine(one, MAX_NAME_CHARS))
    .join(', ');
  const message = `The reply calls “${oneLine(name, MAX_NAME_CHARS)}”, which is no tool; wanted a call of ${known}, or one JSON object.`;
  return failureOf('extraction', 'no_tool_call', message);
}
