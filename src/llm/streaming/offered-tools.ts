import type { Failure } from '../../../machines/contracts/failure.ts';
import type { FinishReason } from '../../../machines/contracts/model.ts';
import { failureOf } from '../../../machines/policies/failures.ts';
import { clippedLine } from '../../../machines/text/clip.ts';
import { type DeltaPart, GrowingText } from './part-source.ts';
import { quotedName } from './quoted-name.ts';
import type {
  FoundValue,
  OfferedCall,
  OfferedTools,
  StreamDriver,
  UnsearchedReply,
  WrapOptions,
} from './stream-driver.ts';
import { StrictFinder } from './strict-finder.ts';
import { withoutThought } from './thought.ts';

/** The most tool names that an error message lists. */
const MAX_NAMES = 20;
const MAX_NAME_CHARS = 60;
const MAX_ID_CHARS = 200;

/** The most calls of one reply; a reply with more has failed. */
const MAX_CALLS = 256;

/**
 * Returns a driver that also accepts calls of these tools as the reply, whatever text or calls surround them. Until the first such call
 * starts, the given driver reads the stream. The reply contains all calls in the order in which they started, including those of unknown
 * tools, which become failed results.
 */
export function withOfferedTools(
  driver: StreamDriver,
  offered: OfferedTools,
  { readsJsonText, replyTool }: WrapOptions,
): StreamDriver {
  const text = new GrowingText();
  const pending = new PendingCalls(offered.valueOf);
  let isCalled = false;
  let unknown: string | null = null;

  const textBeforeCall = (): string => {
    const { found, miss } = driver.finder;
    const isReply = readsJsonText && (found !== null || miss !== 'none');
    return isReply ? '' : withoutThought(text.text).trim();
  };

  return {
    finder: driver.finder,
    get unsearched() {
      return isCalled ? pending : driver.unsearched;
    },
    claim(part) {
      if (part.type === 'tool-call-delta' && part.name !== replyTool) {
        pending.continueWith(part);
        if (!offered.names.has(part.name)) unknown ??= part.name;
        else if (!isCalled) {
          isCalled = true;
          pending.textBefore = textBeforeCall();
        }
        if (isCalled) return true;
        pending.push(part.arguments);
      }
      if (isCalled) return false;
      if (part.type === 'text-delta') text.add(part.text);
      return driver.claim(part);
    },
    get misplaced() {
      return isCalled ? null : driver.misplaced;
    },
    proseIn: (given) => (isCalled ? '' : driver.proseIn(given)),
    failureOf(missing) {
      if (isCalled) return pending.isTooMany ? tooManyFailure() : truncatedFailure(pending.lastName);
      const namesUnknownTool = readsJsonText && missing.miss === 'none' && missing.reason !== 'length';
      return unknown !== null && namesUnknownTool
        ? unknownToolFailure(unknown, offered.names)
        : driver.failureOf(missing);
    },
  };
}

class PendingCalls implements UnsearchedReply {
  readonly areCalls = true;
  textBefore = '';
  readonly #toValue: OfferedTools['valueOf'];
  /** The places of the calls in the list, by their index in the stream. */
  readonly #places = new Map<number, number>();
  readonly #texts: GrowingText[] = [];
  readonly #calls: OfferedCall[] = [];
  #current = 0;
  #isTooMany = false;

  constructor(toValue: OfferedTools['valueOf']) {
    this.#toValue = toValue;
  }

  /** Selects the call that the next chunk belongs to. */
  continueWith({ index, id = '', name }: Extract<DeltaPart, { type: 'tool-call-delta' }>): void {
    this.#current = this.#places.get(index) ?? this.#calls.length;
    this.#isTooMany ||= this.#current === MAX_CALLS;
    if (this.#current < this.#calls.length || this.#isTooMany) return;
    this.#places.set(index, this.#current);
    this.#texts.push(new GrowingText());
    this.#calls.push({ id: id.length <= MAX_ID_CHARS ? id : '', name, arguments: '' });
  }

  push(chunk: string): void {
    const [text, call] = [this.#texts[this.#current], this.#calls[this.#current]];
    if (text === undefined || call === undefined) return;
    text.add(chunk);
    this.#calls[this.#current] = { ...call, arguments: text.text };
  }

  get isTooMany(): boolean {
    return this.#isTooMany;
  }

  get lastName(): string {
    return this.#calls.at(-1)?.name ?? '';
  }

  soFar(): unknown {
    return this.#toValue(this.#calls, this.textBefore);
  }

  /**
   * A call that the output limit cut off is dropped if another is complete. Invalid arguments are rejected later, when the tool runs. Some
   * servers send no arguments for a tool without parameters.
   */
  whole(reason: FinishReason | null): FoundValue | null {
    const calls = this.#calls.filter((call) => reason !== 'length' || isWhole(call.arguments));
    if (calls.length === 0 || this.#isTooMany) return null;
    const complete = calls.map((call) => (call.arguments.trim() === '' ? { ...call, arguments: '{}' } : call));
    return { value: this.#toValue(complete, this.textBefore) };
  }

  describe(): string {
    const called = this.#calls.map((call) => `[called the tool ${call.name} with the arguments ${call.arguments}]`);
    return [...(this.textBefore === '' ? [] : [this.textBefore]), ...called].join('\n');
  }
}

function isWhole(json: string): boolean {
  const finder = new StrictFinder();
  finder.push(json);
  finder.end();
  return finder.found !== null;
}

function truncatedFailure(name: string): Failure {
  const message = `The reply was cut off at the output limit, within the arguments of ${quotedName(name)}.`;
  return failureOf('extraction', 'truncated', message);
}

function tooManyFailure(): Failure {
  const message = `The reply calls more than ${MAX_CALLS} tools; expected at most ${MAX_CALLS} calls.`;
  return failureOf('extraction', 'too_many_calls', message);
}

function unknownToolFailure(name: string, names: ReadonlySet<string>): Failure {
  const known = [...names]
    .slice(0, MAX_NAMES)
    .map((one) => clippedLine(one, MAX_NAME_CHARS))
    .join(', ');
  const message = `The reply calls ${quotedName(name)}, which is not an available tool; expected a call of ${known}, or a reply without calls.`;
  return failureOf('extraction', 'no_tool_call', message);
}
