import type {
  BigNumber,
  ConstantNode,
  FunctionNode,
  MathNode,
  OperatorNode,
  ParenthesisNode,
  SymbolNode,
} from 'mathjs';
import { z } from 'zod';
import { type Capability, defineCapability } from '../capability.ts';
import { quoted } from '../quoted.ts';
import { FUNCTIONS, OPERATORS, type Operation } from './operations.ts';

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

/** Numbers go up to 10 to this power, and down to its inverse. */
const MAX_EXPONENT = 9_999;

const UNKNOWN_PART = 'only numbers, operators, functions and parentheses are reckoned';

/**
 * The number that a syntax tree stands for. Only what is listed here is reckoned: numbers, the operators and functions by name,
 * three constants. Whatever else the parser knows (assignments, functions of its own, units, lists, texts) is refused, unseen.
 */
function evaluate(node: MathNode, { numberOf }: Pick<Arithmetic, 'numberOf'>): BigNumber {
  const reckoned = (part: MathNode): BigNumber => {
    switch (part.type) {
      case 'ConstantNode':
        return literal((part as ConstantNode).value);
      case 'ParenthesisNode':
        return reckoned((part as ParenthesisNode).content);
      case 'SymbolNode':
        return constant((part as SymbolNode).name);
      case 'OperatorNode':
        return operator(part as OperatorNode);
      case 'FunctionNode':
        return called(part as FunctionNode);
      default:
        throw new Error(UNKNOWN_PART);
    }
  };

  function literal(value: unknown): BigNumber {
    if (typeof (value as Partial<BigNumber> | null | undefined)?.isNaN !== 'function')
      throw new Error('only decimal numbers are reckoned');
    return bounded(numberOf(value as BigNumber), 'a number');
  }

  function constant(name: string): BigNumber {
    switch (name) {
      case 'pi':
        return numberOf(-1).acos();
      case 'tau':
        return numberOf(-1).acos().times(2);
      case 'e':
        return numberOf(1).exp();
      default:
        throw new Error(`there is no constant ${quoted(name)}; there are pi, tau and e`);
    }
  }

  function operator({ op, fn, args, implicit }: OperatorNode): BigNumber {
    if (implicit) throw new Error('an operator is missing between two values: write * for a product');
    const operation = OPERATORS.get(fn);
    if (operation === undefined)
      throw new Error(
        `the operator ${quoted(op)} is not known ${/[<>=]/u.test(op) ? 'but between two whole expressions' : 'here'}`,
      );
    return applied(operation, op, args);
  }

  function called({ fn, args }: FunctionNode): BigNumber {
    const { type, name = '' } = fn as MathNode & { readonly name?: string };
    if (type !== 'SymbolNode') throw new Error(UNKNOWN_PART);
    const operation = FUNCTIONS.get(name);
    if (operation === undefined)
      throw new Error(`there is no function ${quoted(name)}; there are ${[...FUNCTIONS.keys()].join(', ')}`);
    return applied(operation, name, args);
  }

  function applied(operation: Operation, name: string, args: readonly MathNode[]): BigNumber {
    const { least, most } = operation;
    if (args.length < least || args.length > most)
      throw new Error(`${name} takes ${least === most ? least : `${least} to ${most}`} numbers; got ${args.length}`);
    return bounded(operation.of(...args.map(reckoned)), `the result of ${name}`);
  }

  function bounded(number: BigNumber, what: string): BigNumber {
    if (number.isNaN()) throw new Error(`${what} is no real number`);
    if (!number.isFinite() || number.e > MAX_EXPONENT)
      throw new Error(`${what} is too large: numbers go up to 1e${MAX_EXPONENT}`);
    return number.e < -MAX_EXPONENT ? numberOf(0) : number;
  }

  return reckoned(node);
}

const MAX_CHARS = 1_000;
/** The parser goes into parentheses by recursion. */
const MAX_NESTING = 50;

/** What people and models write for what the parser reads. */
const SPELLINGS: readonly (readonly [RegExp, string])[] = [
  [/\*\*/gu, '^'],
  [/[×·⋅]/gu, '*'],
  [/÷/gu, '/'],
  [/[−–]/gu, '-'],
  [/π/gu, 'pi'],
  [/\s+/gu, ' '],
];

/**
 * An expression as the parser takes it: bounded in length and depth, and with no character in it that arithmetic does without, so
 * that most of what the parser knows cannot be said.
 */
function readable(given: string): string {
  if (given.length > MAX_CHARS)
    throw new Error(`the expression has ${given.length} characters; at most ${MAX_CHARS} are read`);
  const expression = SPELLINGS.reduce((text, [written, read]) => text.replaceAll(written, read), given).trim();
  if (expression === '') throw new Error('the expression is empty');
  const [foreign] = expression.match(/[^\w .+\-*/^(),!<>=]/u) ?? [];
  if (foreign !== undefined) throw new Error(foreignText(foreign));
  if (hasGroupedDigits(expression))
    throw new Error('a comma stands within a number; write 1234 for 1,234, and ", " between two numbers');
  if (nestingOf(expression) > MAX_NESTING) throw new Error(`parentheses are nested in more than ${MAX_NESTING} levels`);
  return expression;
}

function foreignText(character: string): string {
  return character === '%'
    ? 'the character "%" is not known here; write / 100 for percent, and mod(a, b) for a remainder'
    : `the character ${quoted(character)} is not known here; numbers, + - * / ^ ! ( ) and functions are`;
}

/** Whether commas may stand for thousands, so that 1,000 would be read as two numbers. */
function hasGroupedDigits(expression: string): boolean {
  const grouped = /\d,\d{3}(?!\d)/u.test(expression);
  return grouped && (/\d,0\d\d/u.test(expression) || /, /u.test(expression) || !expression.includes('('));
}

function nestingOf(expression: string): number {
  let [open, deepest] = [0, 0];
  for (const character of expression) {
    open += character === '(' ? 1 : character === ')' ? -1 : 0;
    deepest = Math.max(deepest, open);
  }
  return deepest;
}

/** Reads expressions into syntax trees, and makes the numbers that are reckoned with. */
interface Arithmetic {
  readonly parse: (expression: string) => MathNode;
  /** Rounded as every result is: the algorithms of longer numbers do not all end. */
  readonly numberOf: (value: string | number | BigNumber) => BigNumber;
}

/** Significant digits that the result of every step is rounded to. */
const PRECISION = 64;

let loaded: Promise<Arithmetic> | undefined;

/**
 * mathjs, loaded when it is first asked for. Its build in a single file is there in a fifth of the time that its thousand modules
 * take, and takes a quarter of their memory.
 */
function loadArithmetic(): Promise<Arithmetic> {
  loaded ??= load();
  return loaded;
}

async function load(): Promise<Arithmetic> {
  // @ts-expect-error: the single file has no types of its own
  const { default: math }: { default: SingleFile } = await import('mathjs/lib/browser/math.js');
  const { parse, BigNumber: Big } = math.create({ number: 'BigNumber', precision: PRECISION });
  // The remainder has the sign of the divisor.
  const Decimal = Big.clone({ defaults: true, precision: PRECISION, toExpPos: 32, toExpNeg: -10, modulo: 3 });
  return { parse, numberOf: (value) => new Decimal(value).toSignificantDigits(PRECISION) };
}

/** As much of the single file as is used: an instance with all of mathjs, which makes others of another configuration. */
interface SingleFile {
  create(config: { readonly number: 'BigNumber'; readonly precision: number }): {
    readonly parse: Arithmetic['parse'];
    readonly BigNumber: BigNumberClass;
  };
}

interface BigNumberClass {
  new (value: string | number | BigNumber): BigNumber;
  clone(config: Readonly<Record<string, number | boolean>>): BigNumberClass;
}
