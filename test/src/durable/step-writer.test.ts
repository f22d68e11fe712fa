import { describe, expect, it } from 'vitest';
import { PostChainError } from '../../../machines/contracts/error.ts';
import type { DurableEntry, DurableEvent, Keyframe } from '../../../src/durable/entries.ts';
import { StepWriter, type StepWriterOptions } from '../../../src/durable/step-writer.ts';
import { anError } from '../../support/errors.ts';

const timer = (number: number): DurableEvent => ({ type: 'timer', timer: number });

/** A step writer on a journal that may take time or fail. */
function setUp(
  options: Partial<StepWriterOptions> & { readonly keyframeEvery?: number } = {},
  write = (_: readonly DurableEntry[]): void | Promise<void> => {},
  entries: readonly DurableEntry[] = [],
) {
  const written: (readonly DurableEntry[])[] = [];
  const events: string[] = [];
  const journal = {
    failure: null,
    isFenced: false,
    keyframeEvery: options.keyframeEvery,
    write(batch: readonly DurableEntry[]) {
      written.push(batch);
      return write(batch);
    },
    close: () => void events.push('closed'),
  };
  const logger = (text: unknown): void => void events.push(String(text));
  const all = { id: 'a', keepsKeyframes: true, logger, ...options };
  const writer = new StepWriter(entries, journal, all, () => void events.push('failed'));
  return { writer, written, events };
}

describe('a step writer', () => {
  it('writes the entries of a step together, with numbers that continue those of the journal', () => {
    const { writer, written } = setUp({}, undefined, [{ seq: 6, atMs: 1, type: 'stopped' }]);
    writer.append(timer(0), 3);
    writer.append(timer(1), 3);
    expect(written).toEqual([]);
    expect(writer.write()).toBeUndefined();
    expect(writer.write()).toBeUndefined();
    expect(written).toEqual([
      [
        { seq: 7, atMs: 3, type: 'timer', timer: 0 },
        { seq: 8, atMs: 3, type: 'timer', timer: 1 },
      ],
    ]);
    expect(writer.entries).toHaveLength(3);
  });

  it('writes one batch at a time', async () => {
    const ends: (() => void)[] = [];
    const { writer, written } = setUp({}, () => new Promise<void>((resolve) => ends.push(resolve)));
    writer.append(timer(0), 0);
    const first = writer.write();
    writer.append(timer(1), 0);
    const second = writer.write();
    expect(written).toHaveLength(1);
    ends[0]?.();
    await first;
    expect(written).toHaveLength(2);
    ends[1]?.();
    await second;
    expect(written.flat().map(({ seq }) => seq)).toEqual([0, 1]);
  });

  it.each([
    ['journal_fenced', new PostChainError('journal_fenced', 'taken over')],
    ['journal_failed', new Error('disk full')],
  ])('fails once with %s and writes nothing more, also not when it closes', async (code, error) => {
    const { writer, written, events } = setUp({}, () => {
      throw error;
    });
    writer.append(timer(0), 0);
    writer.write();
    expect(writer.failure).toMatchObject({ code, message: `actor a: ${error.message}` });
    expect(events).toEqual(['failed']);
    await writer.close();
    expect([written.length, events]).toEqual([1, ['failed', 'closed']]);
  });

  it('drops the entries of a step whose codec threw', () => {
    const { writer, written, events } = setUp();
    writer.append(timer(0), 0);
    writer.write();
    writer.append(timer(1), 0);
    writer.dropStep(new Error('no such value'));
    writer.write();
    expect(written).toHaveLength(1);
    expect(writer.entries).toHaveLength(1);
    expect(writer.failure).toMatchObject(anError('internal', 'no such value'));
    expect(events).toEqual(['failed']);
  });

  it('stores the remaining entries when it closes', async () => {
    const { writer, written, events } = setUp();
    writer.append(timer(0), 0);
    await writer.close();
    expect([written.length, events]).toEqual([1, ['closed']]);
  });

  it('reports each entry to its observer, and what the observer throws to the logger', () => {
    const seen: number[] = [];
    const onEntry = ({ seq }: DurableEntry): void => {
      seen.push(seq);
      throw new Error('a bug');
    };
    const { writer, events } = setUp({ onEntry });
    writer.append(timer(0), 0);
    expect([seen, events]).toEqual([[0], ['actor a: "onEntry" threw:']]);
  });

  it('adds a keyframe after a number of entries, if the actor is at rest, and later after a large one', () => {
    const state = { filler: 'x'.repeat(288) } as unknown as Keyframe;
    const { writer, written } = setUp({ keyframeEvery: 2 });
    const add = (isAtRest = true): boolean => {
      const before = writer.entries.length;
      writer.append(timer(0), 0);
      writer.addKeyframeIfDue({ isAtRest, keyframe: () => state }, 4);
      return writer.entries.length > before + 1;
    };
    expect([add(), add(false), add()]).toEqual([false, false, true]);
    expect(written.at(-1)?.at(-1)).toEqual({ seq: 3, atMs: 4, type: 'keyframe', state });
    // Its 301 characters count as three entries.
    expect([add(), add(), add(), add(), add(), add()]).toEqual([false, false, false, false, false, true]);
  });

  it('adds no keyframe for an actor that another build of the machine started', () => {
    const { writer, written } = setUp({ keyframeEvery: 1, keepsKeyframes: false });
    for (let entry = 0; entry < 9; entry += 1) writer.append(timer(0), 0);
    writer.addKeyframeIfDue({ isAtRest: true, keyframe: () => ({}) as Keyframe }, 0);
    expect(written).toEqual([]);
  });
});
