import { onAbort } from '../internal/async.ts';
import type { Colors, Screen } from './screen.ts';

/** A terminal with a person at it. */
export interface Terminal {
  readonly input: NodeJS.ReadStream;
  readonly out: NodeJS.WriteStream;
  readonly screen: Screen;
  readonly colors: Colors;
  /** What Ctrl-C does: while a prompt is open, it comes as a key, and not as a signal. */
  readonly interrupt: () => void;
}

export interface Question<Value> {
  readonly text: string;
  /** A note stands beside a choice while it can be chosen. */
  readonly choices: readonly { readonly value: Value; readonly label: string; readonly note?: string }[];
  /** The choice that Enter takes when no other key was pressed. */
  readonly initial: Value;
  /** What Escape says, in a word or two. */
  readonly otherwise: string;
}

/** `left`: with Escape, or the input ended. `gone`: nobody waits any more for an answer. */
export type Reply<Value> =
  | { readonly kind: 'chosen'; readonly value: Value }
  | { readonly kind: 'left' }
  | { readonly kind: 'gone' };

/** Lets a person choose with the arrow keys. The prompt library is loaded when something is asked, and not before. */
export async function select<Value>(
  question: Question<Value>,
  { input, out, screen, colors, interrupt }: Terminal,
  signal: AbortSignal,
): Promise<Reply<Value>> {
  const { SelectPrompt, isCancel } = await import('@clack/core');
  if (signal.aborted) return { kind: 'gone' };
  if (input.readableEnded || input.destroyed) return { kind: 'left' };
  screen.clear();
  const stop = new AbortController();
  let open = true;
  let ending: 'left' | 'interrupted' | 'gone' = 'left';
  const end = (): void => {
    if (open) stop.abort();
  };
  const onKey = (_: string | undefined, { ctrl, name }: { ctrl?: boolean; name?: string }): void => {
    if (ctrl && name === 'c') ending = 'interrupted';
    // The library does not know the key that ends the input; it stops when all have heard it.
    if (ctrl && name === 'd') queueMicrotask(end);
  };
  const forget = onAbort(signal, () => {
    ending = 'gone';
    end();
  });
  input.on('keypress', onKey).on('end', end).on('close', end);
  try {
    const prompt = new SelectPrompt<{ value: Value }>({
      options: [...question.choices],
      initialValue: question.initial,
      input,
      output: out,
      signal: stop.signal,
      render() {
        const otherwise = ending === 'interrupted' ? 'Ctrl-C' : question.otherwise;
        return frame({ ...question, otherwise }, this.cursor, this.state, colors);
      },
    });
    const value = await prompt.prompt();
    if (!isCancel(value)) return { kind: 'chosen', value: value as Value };
  } finally {
    open = false;
    forget();
    input.off('keypress', onKey).off('end', end).off('close', end);
  }
  if (ending === 'left') return { kind: 'left' };
  if (ending === 'interrupted') interrupt();
  return { kind: 'gone' };
}

/** What stands on the terminal: the choices while it is open, and then one line. */
function frame<Value>(
  { text, choices, otherwise }: Question<Value>,
  cursor: number,
  state: string,
  colors: Colors,
): string {
  if (state === 'submit') return `  ${text} ${colors.cyan(choices[cursor]?.label ?? '')}`;
  if (state === 'cancel') return `  ${text} ${colors.dim(otherwise)}`;
  const lines = choices.map(({ label, note }, at) => {
    const noted = note === undefined ? label : `${label} (${note})`;
    return at === cursor ? colors.cyan(`  > ${noted}`) : `    ${noted}`;
  });
  const keys = colors.dim(`  up, down: move · Enter: choose · Esc: ${otherwise}`);
  return [`  ${text}`, ...lines, keys].join('\n');
}
