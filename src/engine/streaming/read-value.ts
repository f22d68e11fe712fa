import type { PartSource } from './part-source.ts';
import { createPartialView, type OnComplete, type PartialView } from './partial-view.ts';
import type { FoundValue, StreamDriver } from './stream-driver.ts';

export interface StreamWatcher {
  /** Called for every chunk of the reply's own text, in order: of its text, or of the arguments that it is. */
  readonly onText: (text: string) => void;
  /** Called for every other delta: reasoning, other tool calls, text beside a tool call, and empty ones. */
  readonly onAlive: () => void;
  /**
   * Called after every chunk that moved the value on, with the value as far as it is there. It is one object that grows:
   * a live view, to be read and not kept. What is done to it never reaches the value; where it was frozen, the views stop, and
   * one last view shows the whole value.
   */
  readonly onPartial: (value: unknown) => void;
  /** Called when the value begins, and again where what had begun turned out to be none. */
  readonly onBegin?: (() => void) | undefined;
  /** Called for each value within it as that is complete; left out, nothing is spent on it. */
  readonly onComplete?: OnComplete | undefined;
}

/** Reads a source to its end, and shows the value in it on the way; null where it holds none. */
export async function readValue(
  source: PartSource,
  driver: StreamDriver,
  { onText, onAlive, onBegin, onPartial, onComplete }: StreamWatcher,
): Promise<FoundValue | null> {
  const { finder } = driver;
  let view = null as PartialView | null;
  let candidate = 0;
  let isCalled = false;

  function take(chunk: string, onParsed: () => void, onThrown: (error: unknown) => void): void {
    if (chunk === '') onAlive();
    else onText(chunk);
    if (driver.call !== null) {
      driver.call.push(chunk);
      if (!isCalled) onBegin?.();
      if (!isCalled || chunk !== '') onPartial(driver.call.soFar());
      isCalled = true;
      onParsed();
      return;
    }
    const json = finder.push(chunk);
    // A new candidate has a new view; that of the one before is let go.
    if (json !== '' && candidate !== finder.candidate) {
      onBegin?.();
      view = createPartialView({ onPartial, onComplete, onParsed, onThrown });
      candidate = finder.candidate;
    }
    if (json === '' || view === null) onParsed();
    else view.push(json);
  }

  await readAll(source, take);
  if (source.end.failure !== null) return null;
  if (driver.call !== null) return driver.call.whole(source.end.reason);
  finder.end();
  const span = finder.found ?? (source.end.reason === 'length' ? finder.fallbackIfCut : finder.fallback);
  if (span === null) return null;
  const json = source.text.slice(span.from, span.to);
  const found = parsed(json);
  const isUnwanted = finder.found === null && Array.isArray(found?.value) && !finder.showsFallback;
  const isShown = isUnwanted || (finder.found !== null && (await view?.finish()));
  if (found !== null && !isShown) onPartial(JSON.parse(json));
  return found;
}

/** Callbacks, because one more promise for each chunk shows in the time that it all takes. */
function readAll(
  source: PartSource,
  take: (chunk: string, onTaken: () => void, onThrown: (error: unknown) => void) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const more = (): void => source.next(receive);

    function receive(chunk: string | null): void {
      try {
        if (chunk === null) resolve();
        else take(chunk, more, reject);
      } catch (error) {
        reject(error);
      }
    }

    more();
  });
}

/** JSON.parse has the last word. */
function parsed(json: string): FoundValue | null {
  try {
    return { value: JSON.parse(json) as unknown };
  } catch {
    return null;
  }
}
