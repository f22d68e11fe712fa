/** Executes `act` now or, if the event loop has been busy for a while, in a later turn. Keeps the order. `act` must not throw. */
export type TakeTurn = (act: () => void) => void;

export interface TurnOptions {
  /** Returns a time in milliseconds that never goes back. */
  readonly now: () => number;
  /** Calls `act` in the next turn of the event loop, after due timers and pending input. */
  readonly defer: (act: () => void) => void;
  /** How long acts may keep the event loop busy, in milliseconds. */
  readonly budgetMs: number;
}

/**
 * Returns a function that shares the event loop between the runs of a process. Without it, thousands of replies that arrive together
 * are processed one after another before the next timer may fire, and deadlines pass unnoticed.
 *
 * Acts are executed at once until `budgetMs` is used up. The rest wait in a queue, and each turn of the event loop executes one of them
 * and its promise callbacks.
 */
export function createTurns({ now, defer, budgetMs }: TurnOptions): TakeTurn {
  const waiting = [] as (() => void)[];
  /** When the current turn began; null if nothing was executed in it. */
  let begunAtMs: number | null = null;

  function onTurn(): void {
    const act = waiting.shift();
    begunAtMs = null;
    if (act !== undefined) execute(act);
  }

  function execute(act: () => void): void {
    if (begunAtMs === null) {
      begunAtMs = now();
      defer(onTurn);
    }
    act();
  }

  return (act) => {
    const isFree = waiting.length === 0 && (begunAtMs === null || now() - begunAtMs < budgetMs);
    if (isFree) execute(act);
    else waiting.push(act);
  };
}
