import type { AttemptsExhausted } from '../../../../src/engine/attempts/attempts-exhausted.ts';
import type { StructuredOutput } from '../../../../src/engine/attempts/output-handle.ts';
import type { StructuredUpdate } from '../../../../src/engine/attempts/updates.ts';
import { settle } from '../../../../src/testing/settle.ts';
import type { CountingClock } from './counting-clock.ts';

/** How a structured output went, watched to its end. */
export interface Played<Output> {
  readonly value?: Output;
  readonly error?: AttemptsExhausted;
  readonly endedAtMs: number;
  /** Each update but the partials, and when it came. */
  readonly told: readonly { readonly atMs: number; readonly update: StructuredUpdate }[];
}

/** Moves the clock from timer to timer until there is a value, or none. */
export async function play<Input, Output>(
  output: StructuredOutput<Input, Output>,
  clock: CountingClock,
): Promise<Played<Output>> {
  let played: Played<Output> | null = null;
  const told: { atMs: number; update: StructuredUpdate }[] = [];
  output.value.then(
    (value) => {
      played = { value, endedAtMs: clock.now(), told };
    },
    (error: AttemptsExhausted) => {
      played = { error, endedAtMs: clock.now(), told };
    },
  );
  void (async () => {
    for await (const update of output) if (update.type !== 'partial') told.push({ atMs: clock.now(), update });
  })().catch(() => {});
  for (let steps = 0; steps < 10_000; steps += 1) {
    await settle(1);
    if (played !== null) return played;
    const { nextAt } = clock;
    if (nextAt === null) throw new Error(`nothing will happen any more, at ${clock.now()} ms`);
    clock.set(nextAt);
  }
  throw new Error('it does not end');
}

/** The waits that were told, in order; null is the end. */
export function waitsOf({ told }: Pick<Played<unknown>, 'told'>): (number | null)[] {
  return told.flatMap(({ update }) => (update.type === 'reset' ? [update.retryInMs] : []));
}
