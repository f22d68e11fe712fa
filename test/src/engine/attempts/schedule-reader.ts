import type { StructuredOutput } from '../../../../src/engine/attempts/output-handle.ts';
import type { ElementUpdate, StructuredUpdate } from '../../../../src/engine/attempts/updates.ts';
import type { World } from './counting-clock.ts';
import type { ReaderPlan } from './schedule.ts';

export interface ReadSoFar {
  /** What came; of partials, as they were when they came. */
  readonly updates: SeenUpdate[];
  /** How often it ended, and whether with an error. */
  readonly endings: { readonly error: unknown }[];
  isOver: boolean;
}

interface SeenUpdate {
  readonly atMs: number;
  readonly update: StructuredUpdate | ElementUpdate;
}

/** Reads as the plan says, and keeps what came. */
export function startReading(
  output: StructuredOutput<unknown, unknown>,
  { type, ms }: ReaderPlan,
  world: World,
): ReadSoFar {
  const so: ReadSoFar = { updates: [], endings: [], isOver: false };
  const keep = (update: StructuredUpdate | ElementUpdate): void => {
    const value = 'value' in update && update.type === 'partial' ? structuredClone(update.value) : undefined;
    so.updates.push({ atMs: world.now(), update: value === undefined ? update : ({ ...update, value } as never) });
  };

  async function each(updates: AsyncIterable<StructuredUpdate | ElementUpdate>): Promise<void> {
    const reading = updates[Symbol.asyncIterator]();
    try {
      for (;;) {
        const step = await reading.next();
        if (step.done) break;
        keep(step.value);
        if (type === 'leaves' && step.value.type === 'reset') {
          await reading.return?.();
          return;
        }
        if (type === 'slow') await world.wait(ms);
      }
      so.endings.push({ error: undefined });
    } catch (error) {
      so.endings.push({ error });
    }
    const after = await reading.next();
    if (!after.done) throw new Error('an update after the end');
  }

  async function stepwise(): Promise<void> {
    try {
      while (await output.hasNext()) keep(await output.next());
      so.endings.push({ error: undefined });
    } catch (error) {
      so.endings.push({ error });
    }
    if (await output.hasNext()) throw new Error('an update after the end');
  }

  async function all(): Promise<void> {
    if (type === 'value') return;
    if (type === 'late') await world.wait(ms);
    if (type === 'steps') await stepwise();
    else await each(type === 'elements' ? (output.elements as AsyncIterable<ElementUpdate>) : output);
  }

  all()
    .catch((error: unknown) => so.endings.push({ error }, { error }))
    .finally(() => {
      so.isOver = true;
    });
  return so;
}
