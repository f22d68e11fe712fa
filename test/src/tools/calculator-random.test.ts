import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { calculator } from '../../../src/tools/calculator.ts';

const context = {
  signal: new AbortController().signal,
  now: () => 0,
  sessionId: null,
  idempotencyKey: 'run-1.s1.action.1',
};
const { execute } = calculator();
const calculate = async (expression: string): Promise<string> => String(await execute({ expression }, context));

/** An expression, and its value in JavaScript. */
interface Sum {
  readonly text: string;
  readonly value: number;
}

type Join = (left: Sum, right: Sum) => Sum;
const infix = (sign: string, value: (left: number, right: number) => number): Join => {
  return (left, right) => ({ text: `(${left.text} ${sign} ${right.text})`, value: value(left.value, right.value) });
};
const call = (name: string, value: (left: number, right: number) => number): Join => {
  return (left, right) => ({ text: `${name}(${left.text}, ${right.text})`, value: value(left.value, right.value) });
};

/** Nested expressions, with a unary sign here and there. */
const trees = (leaf: fc.Arbitrary<Sum>, joins: readonly Join[], sign: -1 | 1): fc.Arbitrary<Sum> =>
  fc.letrec<{ sum: Sum }>((tie) => ({
    sum: fc.oneof(
      { depthSize: 'small', maxDepth: 5 },
      leaf,
      tie('sum').map(({ text, value }) => ({ text: `${sign < 0 ? '-' : '+'}${text}`, value: sign * value })),
      fc.tuple(fc.constantFrom(...joins), tie('sum'), tie('sum')).map(([join, left, right]) => join(left, right)),
    ),
  })).sum;

const whole = fc.integer({ min: 0, max: 9 }).map((value) => ({ text: String(value), value }));
const decimal = fc.integer({ min: 1, max: 99_999 }).map((cents) => ({ text: String(cents / 100), value: cents / 100 }));

describe('the calculator, with random expressions', () => {
  it('[R10] computes integers exactly as JavaScript does', async () => {
    const joins = [
      infix('+', (left, right) => left + right),
      infix('-', (left, right) => left - right),
      infix('*', (left, right) => left * right),
      call('min', Math.min),
      call('max', Math.max),
    ];
    await fc.assert(
      fc.asyncProperty(trees(whole, joins, -1), async ({ text, value }) => {
        fc.pre(Number.isSafeInteger(value) && text.length <= 1_000);
        expect(await calculate(text)).toBe(String(value === 0 ? 0 : value));
      }),
      { numRuns: 500 },
    );
  });

  it('[R10] computes decimals within the rounding error of JavaScript', async () => {
    const joins: Join[] = [
      infix('+', (left, right) => left + right),
      infix('*', (left, right) => left * right),
      infix('/', (left, right) => left / right),
      (left, right) => ({ text: `sqrt(${left.text} * ${right.text})`, value: Math.sqrt(left.value * right.value) }),
      (left, right) => ({
        text: `(ln(1 + ${left.text}) + ${right.text})`,
        value: Math.log1p(left.value) + right.value,
      }),
      (left, right) => ({
        text: `(atan(${left.text}) + ${right.text} ^ 2)`,
        value: Math.atan(left.value) + right.value ** 2,
      }),
    ];
    await fc.assert(
      fc.asyncProperty(trees(decimal, joins, 1), async ({ text, value }) => {
        fc.pre(value > 1e-200 && value < 1e200 && text.length <= 1_000);
        expect(Math.abs(Number(await calculate(text)) / value - 1)).toBeLessThan(1e-9);
      }),
      { numRuns: 300 },
    );
  });

  it('[R10] applies the usual operator precedence', async () => {
    const tail = fc.tuple(fc.constantFrom('+', '-', '*', '**'), fc.integer({ min: 1, max: 3 }));
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 9 }), fc.array(tail, { maxLength: 6 }), async (first, rest) => {
        const text = `${first}${rest.map(([sign, number]) => ` ${sign} ${number}`).join('')}`;
        const value = flat(first, rest);
        fc.pre(Number.isSafeInteger(value));
        expect(await calculate(text)).toBe(String(value));
      }),
      { numRuns: 300 },
    );
  });

  it('[R7] returns a number, true, false or an explanation for any input', async () => {
    const tokens = fc.constantFrom(
      ...['1', '2.5', '1e9999', '1e-9999', '(', ')', '+', '-', '*', '/', '^', '!', ',', ' ', '.', '=', '<', 'e', 'pi'],
      ...['sin(', 'atan(', 'exp(', 'ln(', 'log(', 'mod(', 'pow(', 'tan(', 'acos(', '0.1', '99999999999999999999'],
    );
    await fc.assert(
      fc.asyncProperty(fc.array(tokens, { maxLength: 12 }), async (parts) => {
        const result = await calculate(parts.join('')).catch((error: Error) => error.message);
        expect(result).toMatch(/^(-?\d[\d.]*(e[+-]\d+)?|true|false|[a-z][^\p{C}]+)$/u);
      }),
      { numRuns: 1_000 },
    );
  });
});

/** Reference implementation: powers from the right, then products, then sums. */
function flat(first: number, rest: readonly (readonly [string, number])[]): number {
  const at = (signs: readonly string[], fromEnd: boolean): number => {
    const places = rest.flatMap(([sign], place) => (signs.includes(sign) ? [place] : []));
    return (fromEnd ? places.at(-1) : places[0]) ?? -1;
  };
  const sum = at(['+', '-'], true);
  const place = sum >= 0 ? sum : at(['*'], true) >= 0 ? at(['*'], true) : at(['**'], false);
  const [sign, number] = rest[place] ?? ['', 0];
  if (sign === '') return first;
  const left = flat(first, rest.slice(0, place));
  const right = flat(number, rest.slice(place + 1));
  if (sign === '+') return left + right;
  if (sign === '-') return left - right;
  return sign === '*' ? left * right : left ** right;
}
