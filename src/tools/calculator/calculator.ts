import type { BigNumber, MathNode, OperatorNode } from 'mathjs';
import { z } from 'zod';
import { type Capability, defineCapability } from '../capability.ts';
import { evaluate } from './evaluate.ts';
import { readable } from './expression.ts';
import { type Arithmetic, loadArithmetic, PRECISION } from './mathjs.ts';
import { FUNCTIONS } from './operations.ts';

/** Digits of a result that is no whole number; the rest of those reckoned with take up what rounding did. */
const SHOWN_DIGITS = 32;

const COMPARISONS: ReadonlyMap<string, (order: number) => boolean> = new Map([
  ['smaller', (order) => order < 0],
  ['smallerEq', (order) => order <= 0],
  ['larger', (order) => order > 0],
  ['largerEq', (order) => order >= 0],
  ['equal', (order) => order === 0],
  ['unequal', (order) => order !== 0],
]);

const args = z.object({
  expression: z
    .string()
    .describe(
      `Say (2 + 3) * 4 ^ 0.5, or 0.1 + 0.2 == 0.3. Operators + - * / ^ ! and one comparison; constants pi, tau, e; angles in radians; functions ${[...FUNCTIONS.keys()].join(', ')}. log(x, base) wants a base.`,
    ),
});

/**
 * Reckons an arithmetic expression with 64 significant digits; whole numbers below 1e64 are exact, others are shown in 32. The
 * expression is parsed by mathjs and never run as code: only numbers and the operators and functions listed are reckoned. Its length,
 * depth and numbers (1e-9999 to 1e9999) are bounded. What has no number as its result fails with a sentence that says why.
 */
export function calculator(): Capability {
  return defineCapability({
    name: 'calculator',
    description:
      'Calculates an arithmetic expression with 64 digits; use it for every calculation and comparison of numbers.',
    arguments: args,
    execute: async ({ expression }) => {
      const read = readable(expression);
      return resultOf(read, await loadArithmetic());
    },
  });
}

function resultOf(expression: string, arithmetic: Arithmetic): string {
  const root = parsed(expression, arithmetic);
  const { fn, args: sides } = root as OperatorNode;
  const compare = root.type === 'OperatorNode' ? COMPARISONS.get(fn) : undefined;
  const [left, right] = sides ?? [];
  if (compare === undefined || left === undefined || right === undefined) return numberText(evaluate(root, arithmetic));
  return String(compare(orderOf(evaluate(left, arithmetic), evaluate(right, arithmetic))));
}

function parsed(expression: string, { parse }: Arithmetic): MathNode {
  try {
    return parse(expression);
  } catch (cause) {
    const why = cause instanceof SyntaxError ? cause.message : 'it is nested too deeply';
    throw new Error(`the expression cannot be read: ${why}`, { cause });
  }
}

/** Below 0 where the left is smaller; what differs in the last digits alone is equal: they come of rounding. */
function orderOf(left: BigNumber, right: BigNumber): number {
  const larger = left.abs().gt(right.abs()) ? left.abs() : right.abs();
  return left
    .minus(right)
    .abs()
    .lte(larger.times(`1e${4 - PRECISION}`))
    ? 0
    : left.cmp(right);
}

function numberText(number: BigNumber): string {
  if (number.isZero()) return '0';
  if (number.isInteger() && number.e < PRECISION) return number.toFixed();
  return number.toSignificantDigits(SHOWN_DIGITS).toString();
}
