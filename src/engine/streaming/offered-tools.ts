import type { Failure } from '../../../machines/contracts/failure.ts';
import type { FinishReason } from '../../../machines/contracts/model.ts';
import { failureOf } from '../../../machines/policies/failures.ts';
import { oneLine } from '../../../machines/text/clip.ts';
import { GrowingText } from './part-source.ts';
import { type FoundValue, LeadingThought, type OfferedCalls, type StreamDriver } from './stream-driver.ts';
import { StrictFinder } from './strict-finder.ts';

/** The most tool names that an error message lists. */
const MAX_NAMES = 20;
const MAX_NAME_CHARS = 60;

/** The tools that a model may call instead of replying. `valueOf` converts the calls and the text before them to the reply's value. */
export interface OfferedTools {
  readonly names: ReadonlySet<string>;
  readonly valueOf: (calls: readonly OfferedCall[], textBefore: string) => unknown;
}

/** `arguments` is JSON text. */
interface OfferedCall {
  readonly name: string;
  readonly arguments: string;
}

/**
 * Returns a driver that also accepts calls of these tools as the reply, in the order in which they start, whatever precedes or follows
 * them. Until one starts, the given driver reads the stream. With `readsJsonText` that driver reads JSON in text, which then is not kept
 * as the text before a call.
 */
export function withOfferedTools(
  driver: StreamDriver,
  offered: OfferedTools,
  { readsJsonText }: { readonly readsJsonText: boolean },
): StreamDriver {
  const text = new GrowingText();
  const thought = new LeadingThought();
  let calls: PendingCalls | null = null;
  let unknown: string | null = null;

  const textBeforeCall = (): string => {
    const { found, miss } = driver.finder;
    const isReply = readsJsonText && (found !== null || miss !== 'none');
    return isReply ? '' : text.text.trim();
  };

  return {
    finder: driver.finder,
    get calls() {
      return calls;
    },
    claim(part) {
      if (part.type === 'tool-call-delta' && offered.names.has(part.name)) {
        calls ??= new PendingCalls(textBeforeCall(), offered.valueOf);
        calls.continueWith(part.index, part.name);
        return true;
      }
      if (calls !== null) return false;
      if (part.type === 'text-delta') text.add(part.text.slice(thought.endIn(part.text)));
      if (part.type === 'tool-call-delta') unknown ??= part.name;
      return driver.claim(part);
    },
    proseIn: (given) => (calls === null ? driver.proseIn(given) : ''),
    failureOf(missing) {
      if (calls !== null) return truncatedFailure(calls.lastName);
      const namesUnknownTool = readsJsonText && missing.miss === 'none' && missing.reason !== 'length';
      return unknown !== null && namesUnknownTool
        ? unknownToolFailure(unknown, offered.names)
        : driver.failureOf(missing);
    },
  };
}

interface PendingCall {
  readonly index: number;
  readonly name: string;
  readonly text: GrowingText;
}

class PendingCalls implements OfferedCalls {
  readonly #textBefore: string;
  readonly #toValue: OfferedTools['valueOf'];
  readonly #calls = new Map<number, PendingCall>();
  /** The call that the next chunk belongs to. */
  #current: PendingCall | undefined;

  constructor(textBefore: string, toValue: OfferedTools['valueOf']) {
    this.#textBefore = textBefore;
    this.#toValue = toValue;
  }

  continueWith(index: number, name: string): void {
    this.#current = this.#calls.get(index) ?? { index, name, text: new GrowingText() };
    this.#calls.set(index, this.#current);
  }

  push(chunk: string): void {
    this.#current?.text.add(chunk);
  }

  get lastName(): string {
    return [...this.#calls.values()].at(-1)?.name ?? '';
  }

  soFar(): unknown {
    return this.#toValue(this.#given, this.#textBefore);
  }

  /**
   * A call that the output limit cut off is dropped if another is complete. Invalid arguments are rejected later, when the tool runs. Some
   * servers send no arguments for a tool without parameters.
   */
  whole(reason: FinishReason | null): FoundValue | null {
    const calls = this.#given.filter((call) => reason !== 'length' || isWhole(call.arguments));
    if (calls.length === 0) return null;
    const complete = calls.map((call) => (call.arguments.trim() === '' ? { ...call, arguments: '{}' } : call));
    return { value: this.#toValue(complete, this.#textBefore) };
  }

  describe(): string {
    const called = this.#given.map((call) => `[called the tool ${call.name} with the arguments ${call.arguments}]`);
    return [...(this.#textBefore === '' ? [] : [this.#textBefore]), ...called].join('\n');
  }

  get #given(): readonly OfferedCall[] {
    return [...this.#calls.values()].map(({ name, text }) => ({ name, arguments: text.text }));
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
