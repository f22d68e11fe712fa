import type { Failure } from '../../../machines/contracts/failure.ts';
import type { FinishReason } from '../../../machines/contracts/model.ts';
import { failureOf } from '../../../machines/policies/failures.ts';
import { oneLine } from '../../../machines/text/clip.ts';
import { GrowingText } from './part-source.ts';
import { type FoundValue, LeadingThought, type OfferedCall, type StreamDriver } from './stream-driver.ts';
import { StrictFinder } from './strict-finder.ts';

/** The most tool names that an error message lists. */
const MAX_NAMES = 20;
const MAX_NAME_CHARS = 60;

/** The tools that a model may call instead of replying. `valueOf` converts a call and the text before it to the reply's value. */
export interface OfferedTools {
  readonly names: ReadonlySet<string>;
  readonly valueOf: (call: { readonly name: string; readonly arguments: string }, textBefore: string) => unknown;
}

/**
 * Returns a driver that also accepts a call of one of these tools as the reply: the first such call, whatever precedes or follows it.
 * Until one starts, the given driver reads the stream. With `readsJsonText` that driver reads JSON in text, which then is not kept as the text
 * before a call.
 */
export function withOfferedTools(
  driver: StreamDriver,
  offered: OfferedTools,
  { readsJsonText }: { readonly readsJsonText: boolean },
): StreamDriver {
  const text = new GrowingText();
  const thought = new LeadingThought();
  let call: PendingCall | null = null;
  let unknown: string | null = null;

  const textBeforeCall = (): string => {
    const { found, miss } = driver.finder;
    const isReply = readsJsonText && (found !== null || miss !== 'none');
    return isReply ? '' : text.text.trim();
  };

  return {
    finder: driver.finder,
    get call() {
      return call;
    },
    claim(part) {
      if (part.type === 'tool-call-delta' && offered.names.has(part.name)) {
        call ??= new PendingCall(part.index, part.name, textBeforeCall(), offered.valueOf);
        return part.index === call.index;
      }
      if (call !== null) return false;
      if (part.type === 'text-delta') text.add(part.text.slice(thought.endIn(part.text)));
      if (part.type === 'tool-call-delta') unknown ??= part.name;
      return driver.claim(part);
    },
    proseIn: (given) => (call === null ? driver.proseIn(given) : ''),
    failureOf(missing) {
      if (call !== null) return truncatedFailure(call.name);
      const namesUnknownTool = readsJsonText && missing.miss === 'none' && missing.reason !== 'length';
      return unknown !== null && namesUnknownTool
        ? unknownToolFailure(unknown, offered.names)
        : driver.failureOf(missing);
    },
  };
}

class PendingCall implements OfferedCall {
  readonly index: number;
  readonly name: string;
  readonly #textBefore: string;
  readonly #toValue: OfferedTools['valueOf'];
  readonly #arguments = new GrowingText();

  constructor(index: number, name: string, textBefore: string, toValue: OfferedTools['valueOf']) {
    this.index = index;
    this.name = name;
    this.#textBefore = textBefore;
    this.#toValue = toValue;
  }

  push(chunk: string): void {
    this.#arguments.add(chunk);
  }

  soFar(): unknown {
    return this.#value(this.#arguments.text);
  }

  /** Whoever runs the tool rejects invalid arguments. Some servers send none at all for a tool without parameters. */
  whole(reason: FinishReason | null): FoundValue | null {
    const { text } = this.#arguments;
    if (reason === 'length' && !isWhole(text)) return null;
    return { value: this.#value(text.trim() === '' ? '{}' : text) };
  }

  describe(): string {
    const called = `[called the tool ${this.name} with the arguments ${this.#arguments.text}]`;
    return this.#textBefore === '' ? called : `${this.#textBefore}\n${called}`;
  }

  #value(text: string): unknown {
    return this.#toValue({ name: this.name, arguments: text }, this.#textBefore);
  }
}

function isWhole(json: string): boolean {
  const finder = new StrictFinder();
  finder.push(json);
  finder.end();
  return finder.found !== null;
}

function truncatedFailure(name: string): Failure {
  const message = `The reply was cut off at the output limit before the arguments of the tool “${oneLine(name, MAX_NAME_CHARS)}” ended.`;
  return failureOf('extraction', 'truncated', message);
}

function unknownToolFailure(name: string, names: ReadonlySet<string>): Failure {
  const known = [...names]
    .slice(0, MAX_NAMES)
    .map((one) => oneLine(one, MAX_NAME_CHARS))
    .join(', ');
  const message = `The reply calls “${oneLine(name, MAX_NAME_CHARS)}”, which is not an available tool; expected a call of ${known}, or one JSON object.`;
  return failureOf('extraction', 'no_tool_call', message);
}
