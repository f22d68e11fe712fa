import fc from 'fast-check';

/** Text of any script and length, with control characters, lone surrogates and parts of paths. */
export const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc
    .array(fc.constantFrom('\ud800', '\0', '\n', '/', '..', '%', '=', '订', '😀', 'CON', '*'), { maxLength: 8 })
    .map((parts) => parts.join('')),
  fc
    .tuple(fc.constantFrom('x', '订', '😀', '\udfff', '%'), fc.integer({ min: 0, max: 6_000 }))
    .map(([unit, count]) => unit.repeat(count)),
);

/** Such text, or another value. */
export const anyId = fc.oneof(
  { weight: 3, arbitrary: anyText },
  fc.anything(),
  fc.constantFrom<unknown>(Symbol('id'), Object.create(null), () => 'x'),
);

/** Returns the code of the error that each call throws or rejects with; `none` without one. */
export async function codesOf(calls: Readonly<Record<string, () => unknown>>): Promise<Record<string, unknown>> {
  const codes: Record<string, unknown> = {};
  for (const [name, act] of Object.entries(calls))
    codes[name] = await (async () => act())().then(
      () => 'none',
      (error) => error.code ?? error,
    );
  return codes;
}
