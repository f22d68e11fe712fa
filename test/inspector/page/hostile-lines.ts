import fc from 'fast-check';

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

const deep = (levels: number): Json => {
  let made: Json = [];
  for (let level = 0; level < levels; level += 1) made = level % 2 === 0 ? [made] : { inside: made };
  return made;
};

/** What stands in a journal where something else should. */
const anythingElse: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom<Json>(null, true, false, '', [], {}, 0, -1, 0.5, -0, 1e308, -1e308, 2 ** 53, 1e21),
  fc.constantFrom<Json>('__proto__', 'constructor', 'toString', 'action', 'run-end', '\u202e\u0000', 'é'.repeat(5_000)),
  fc.constantFrom<Json>([null], [[]], [{}], { length: 1e9 }, { toString: 1 }, { length: -1, 0: 'x' }),
  fc.integer({ min: 1, max: 400 }).map(deep),
  fc.array(fc.constantFrom<Json>(null, 1, 'x', {}, []), { maxLength: 6 }),
  fc.dictionary(
    fc.constantFrom('type', 'id', 'path', 'messages', '__proto__', 'x'),
    fc.constantFrom<Json>(null, 1, 'y', {}, []),
  ) as fc.Arbitrary<Json>,
);

/** One change of one value: where it is, by numbers that lead there from the root, and what becomes of it. */
const aChange = fc.record({
  line: fc.nat(),
  way: fc.array(fc.nat(), { minLength: 1, maxLength: 7 }),
  how: fc.oneof(
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('other' as const), value: anythingElse }) },
    { weight: 2, arbitrary: fc.constant({ kind: 'dropped' as const }) },
    { weight: 1, arbitrary: fc.constant({ kind: 'twice' as const }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('like' as const), line: fc.nat() }) },
  ),
});

export const changesOfLines = fc.array(aChange, { minLength: 1, maxLength: 6 });
export type ChangesOfLines = typeof changesOfLines extends fc.Arbitrary<infer Value> ? Value : never;

/** The lines with these changes: still a list of entries in order, but hardly a journal. */
export function changedLines(lines: readonly string[], changes: ChangesOfLines): readonly string[] {
  const made = lines.map((line) => JSON.parse(line) as Json);
  for (const { line, way, how } of changes) {
    const index = line % made.length;
    if (how.kind === 'like') {
      // An entry of another kind in its place: a state change where none fits, an end in the middle.
      const other = made[how.line % made.length];
      const [own, taken] = [made[index], structuredClone(other)];
      if (isObject(own) && isObject(taken)) made[index] = { ...taken, seq: own['seq'] ?? 0, atMs: own['atMs'] ?? 0 };
    } else change(made[index] ?? null, way, how);
  }
  return made.map((entry) => JSON.stringify(entry));
}

/** The same of any value. */
export function changedValue<Value>(value: Value, changes: ChangesOfLines): Value {
  const made = structuredClone(value) as Json;
  for (const { way, how } of changes) if (how.kind !== 'like') change(made, way, how);
  return made as Value;
}

const isObject = (value: Json | undefined): value is { [name: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function change(
  root: Json,
  way: readonly number[],
  how: Exclude<ChangesOfLines[number]['how'], { kind: 'like' }>,
): void {
  let at = root;
  for (const [step, number] of way.entries()) {
    if (typeof at !== 'object' || at === null) return;
    // Where an entry stands is known to be checked; all else is not.
    const names = Object.keys(at).filter((name) => step > 0 || (name !== 'seq' && name !== 'atMs'));
    const name = names[number % Math.max(1, names.length)];
    if (name === undefined) return;
    const holder = at as { [name: string]: Json };
    const inside = holder[name] as Json;
    const isLast = step === way.length - 1 || typeof inside !== 'object' || inside === null;
    if (!isLast) {
      at = inside;
      continue;
    }
    if (how.kind === 'dropped') delete holder[name];
    else holder[name] = how.kind === 'twice' ? [inside, inside] : structuredClone(how.value);
    return;
  }
}
