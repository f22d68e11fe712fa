import type { ChainEvent } from '../../../../machines/contracts/events.ts';
import type { Clock } from '../../../../src/engine/clock.ts';
import type { Host, Outcome, Pending } from '../../../../src/integrations/restate/host.ts';

/** What a process asked for: the same, in the same order, on each. */
interface Command {
  readonly name: string;
  readonly isStep: boolean;
}

/** What is awaited, known by the number of its command. */
interface Awaited extends Pending {
  readonly command: number;
}

/**
 * A cluster in memory, as far as a run sees of one: it keeps what was asked and what came, in order, and gives each process that plays
 * the run the same outcomes in the same order. What a process asks for otherwise than the one before it throws.
 */
export function createFakeCluster(clock: Clock) {
  const commands: Command[] = [];
  const log: { readonly command: number; readonly json: string }[] = [];
  const promises: { command: number | null; json: string | null }[] = [];
  let wake = (): void => {};
  const begun: string[] = [];

  function keep(command: number, outcome: Outcome): void {
    log.push({ command, json: JSON.stringify(outcome) });
    wake();
  }

  function promiseOf(number: number) {
    promises[number] ??= { command: null, json: null };
    return promises[number];
  }

  return {
    commands: commands as readonly Command[],
    log: log as readonly { readonly command: number; readonly json: string }[],
    /** The steps that were begun, those of killed processes included. */
    begun: begun as readonly string[],
    send(event: ChainEvent, id = `event ${promises.filter(({ json }) => json !== null).length}`): void {
      const number = promises.findIndex(({ json }) => json === null);
      const promise = promiseOf(number < 0 ? promises.length : number);
      promise.json = JSON.stringify({ type: 'sent', id, event, atMs: clock.now() } satisfies Outcome);
      if (promise.command !== null) keep(promise.command, JSON.parse(promise.json));
    },
    /** A new process. After so many outcomes it is killed, in the middle of the steps that it has begun by then. */
    connect(lives = Number.POSITIVE_INFINITY) {
      const steps = new Map<number, () => Promise<Outcome>>();
      const ready = new Set<number>();
      let asked = 0;
      let read = 0;
      let alive = true;
      let isInterrupted = false;

      const ask = (name: string, isStep: boolean): { command: number; isNew: boolean } => {
        const command = asked;
        asked += 1;
        const known = commands[command];
        if (known === undefined) commands.push({ name, isStep });
        else if (known.name !== name) throw new Error(`asked ${command} for ${name}, and ${known.name} before`);
        return { command, isNew: known === undefined };
      };
      const awaited = (command: number): Awaited => ({ command }) as Awaited;
      const never = new Promise<never>(() => {});

      const beginSteps = (pending: readonly Awaited[]): void => {
        for (const { command } of pending) {
          const act = steps.get(command);
          if (act === undefined || log.some((kept) => kept.command === command)) continue;
          steps.delete(command);
          begun.push(commands[command]?.name ?? '');
          act().then((outcome) => alive && keep(command, outcome));
        }
      };

      const host: Host = {
        step(name, act) {
          const { command } = ask(name, true);
          steps.set(command, act);
          return awaited(command);
        },
        sleep(ms) {
          if (!Number.isInteger(ms) || ms < 0) throw new Error(`a sleep of ${ms} ms`);
          const { command, isNew } = ask('sleep', false);
          if (isNew) clock.setTimeout(() => keep(command, { type: 'slept' }), ms);
          return awaited(command);
        },
        sent(number) {
          const { command } = ask(`sent ${number}`, false);
          const promise = promiseOf(number);
          if (promise.command === null && promise.json !== null) keep(command, JSON.parse(promise.json));
          promise.command = command;
          return awaited(command);
        },
        async first(given) {
          const pending = given as readonly Awaited[];
          for (; alive; ) {
            if (isInterrupted) {
              isInterrupted = false;
              return { type: 'interrupted' };
            }
            const first = pending.find(({ command }) => ready.has(command));
            if (first !== undefined) {
              lives -= 1;
              return JSON.parse(log.find(({ command }) => command === first.command)?.json ?? 'null') as Outcome;
            }
            const next = log[read];
            if (next !== undefined) {
              read += 1;
              ready.add(next.command);
              continue;
            }
            beginSteps(pending);
            if (lives <= 0) break;
            await new Promise<void>((resolve) => {
              wake = resolve;
            });
          }
          alive = false;
          return never;
        },
      };
      return {
        host,
        interrupt() {
          isInterrupted = true;
          wake();
        },
        get isAlive() {
          return alive;
        },
      };
    },
  };
}
