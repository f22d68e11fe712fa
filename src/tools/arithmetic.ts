import type { BigNumber } from 'mathjs';

/**
 * A function of numbers. It returns NaN for a result that is not a real number, and Infinity for one that is too large. It throws an
 * error, whose message is shown to the model, for arguments that it does not accept.
 */
export interface Operation {
  /** The minimum and maximum number of arguments. */
  readonly least: number;
  readonly most: number;
  readonly of: (...numbers: readonly BigNumber[]) => BigNumber;
}

const MAX_ANGLE = '1e20';
const MAX_FACTORIAL = 500;
const MAX_DECIMALS = 50;
/** Rounding errors in an angle affect the later decimals. Cutting them makes sin(pi) zero. */
const ANGLE_DECIMALS = 40;

const unary = (of: (number: BigNumber) => BigNumber): Operation => ({
  least: 1,
  most: 1,
  of: (first) => of(first as BigNumber),
});
const binary = (of: (left: BigNumber, right: BigNumber) => BigNumber): Operation => ({
  least: 2,
  most: 2,
  of: (left, right) => of(left as BigNumber, right as BigNumber),
});

/** Operators by their names in mathjs. */
export const OPERATORS: ReadonlyMap<string, Operation> = new Map(
  Object.entries({
    unaryMinus: unary((number) => number.neg()),
    unaryPlus: unary((number) => number),
    factorial: unary(factorial),
    add: binary((left, right) => left.plus(right)),
    subtract: binary((left, right) => left.minus(right)),
    multiply: binary((left, right) => left.times(right)),
    divide: binary(quotient),
    mod: binary(remainder),
    pow: binary(power),
  }),
);

/** Functions by the names used in an expression. */
export const FUNCTIONS: ReadonlyMap<string, Operation> = new Map(
  Object.entries({
    abs: unary((number) => number.abs()),
    sign: unary((number) => number.div(number.isZero() ? 1 : number.abs())),
    sqrt: unary((number) => number.sqrt()),
    cbrt: unary((number) => number.cbrt()),
    exp: unary((number) => number.exp()),
    ln: unary((number) => number.ln()),
    log10: unary((number) => number.log(10)),
    log2: unary((number) => number.log(2)),
    log: binary((number, base) => number.log(base)),
    pow: binary(power),
    mod: binary(remainder),
    factorial: unary(factorial),
    floor: unary((number) => number.floor()),
    ceil: unary((number) => number.ceil()),
    trunc: unary((number) => number.trunc()),
    round: { least: 1, most: 2, of: (number, decimals) => round(number as BigNumber, decimals) },
    min: { least: 1, most: 100, of: (...numbers) => numbers.reduce((left, right) => (right.lt(left) ? right : left)) },
    max: { least: 1, most: 100, of: (...numbers) => numbers.reduce((left, right) => (right.gt(left) ? right : left)) },
    sin: unary((number) => angle(number).sin().toDecimalPlaces(ANGLE_DECIMALS)),
    cos: unary((number) => angle(number).cos().toDecimalPlaces(ANGLE_DECIMALS)),
    tan: unary((number) =>
      quotient(angle(number).sin().toDecimalPlaces(ANGLE_DECIMALS), number.cos().toDecimalPlaces(ANGLE_DECIMALS)),
    ),
    asin: unary((number) => number.asin()),
    acos: unary((number) => number.acos()),
    atan: unary((number) => number.atan()),
  }),
);

function quotient(left: BigNumber, right: BigNumber): BigNumber {
  if (right.isZero()) throw new Error('division by zero');
  return left.div(right);
}

/** Larger numbers are already rounded, so their remainder would be meaningless. */
function remainder(left: BigNumber, right: BigNumber): BigNumber {
  if (right.isZero()) throw new Error('mod by zero');
  if (left.abs().gte('1e64') || right.abs().gte('1e64'))
    throw new Error('mod takes numbers below 1e64, because larger numbers are rounded');
  return left.mod(right);
}

function power(base: BigNumber, exponent: BigNumber): BigNumber {
  if (base.isZero() && exponent.isNegative() && !exponent.isZero()) throw new Error('division by zero');
  return base.pow(exponent);
}

function factorial(number: BigNumber): BigNumber {
  if (!number.isInteger() || number.isNegative() || number.gt(MAX_FACTORIAL))
    throw new Error(`a factorial takes an integer from 0 to ${MAX_FACTORIAL}`);
  let product = number.isZero() ? number.plus(1) : number;
  for (let factor = number.toNumber() - 1; factor > 1; factor -= 1) product = product.times(factor);
  return product;
}

function round(number: BigNumber, decimals: BigNumber | undefined): BigNumber {
  if (decimals === undefined) return number.toDecimalPlaces(0);
  if (!decimals.isInteger() || decimals.lt(0) || decimals.gt(MAX_DECIMALS))
    throw new Error(`round takes a number and the decimals to keep, an integer from 0 to ${MAX_DECIMALS}`);
  return number.toDecimalPlaces(decimals.toNumber());
}

function angle(number: BigNumber): BigNumber {
  if (number.abs().gt(MAX_ANGLE)) throw new Error(`an angle is at most ${MAX_ANGLE} radians`);
  return number;
}
