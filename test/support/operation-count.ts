import { Session } from 'node:inspector/promises';

/** Methods that copy or move the elements of an array without running any script, and how many they touch. */
const MOVES = {
  slice: (_: number, __: unknown, copy: unknown) => (copy as readonly unknown[]).length,
  splice: (length: number, start: unknown) => length - Number(start),
  unshift: (length: number) => length,
  shift: (length: number) => length,
};

/**
 * Returns the cost of work in operations, which does not depend on the machine: how often the functions and blocks of all
 * scripts ran, counted by V8, plus the array elements that were copied or moved.
 */
export async function operationsOf(work: () => unknown): Promise<number> {
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
    await session.post('Profiler.takePreciseCoverage');
    const moved = await elementsMovedBy(work);
    const { result } = await session.post('Profiler.takePreciseCoverage');
    const ranges = result.flatMap(({ functions }) => functions.flatMap((counted) => counted.ranges));
    return ranges.reduce((sum, { count }) => sum + count, moved);
  } finally {
    await session.post('Profiler.stopPreciseCoverage');
    session.disconnect();
  }
}

async function elementsMovedBy(work: () => unknown): Promise<number> {
  let moved = 0;
  const prototype = Array.prototype as unknown as Record<string, (...given: unknown[]) => unknown>;
  const originals = Object.keys(MOVES).map((name) => ({ name, original: prototype[name] as () => unknown }));
  for (const [name, count] of Object.entries(MOVES)) {
    const original = prototype[name] as (...given: unknown[]) => unknown;
    prototype[name] = function (this: unknown[], ...given) {
      const { length } = this;
      const result = original.apply(this, given);
      moved += count(length, given[0], result);
      return result;
    };
  }
  try {
    await work();
  } finally {
    for (const { name, original } of originals) prototype[name] = original;
  }
  return moved;
}
