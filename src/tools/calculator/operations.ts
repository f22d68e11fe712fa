import type { BigNumber } from 'mathjs';

type Number64 = BigNumber;

/**
 * Something to reckon with numbers; what is no real number comes out as NaN, what is too large as infinite. What cannot be reckoned
 * throws: the message is the sentence that the model is told.
 */
export interface Operation {
  /** How many numbers it takes. */
  readonly least: number;
  readonly most: number;
  readonly of: (...numbers: readonly Number64[]) => Number64;
}

const MAX_ANGLE = '1e20';
const MAX_FACTORIAL = 500;
const MAX_DECIMALS = 50;
/** An error of rounding in an angle shows in the digits behind: they are cut, so that sin(pi) is 0. */
const ANGLE_DECIMALS = 40;

const one = (of: (number: Number64) => Number64): Operation => ({
  least: 1,
  most: 1,
  of: (first) => of(first as Number64),
});
const two = (of: (left: Number64, right: Number64) => Number64): Operation => ({
  least: 2,
  most: 2,
  of: (left, right) => of(left as Number64, right as Number64),
});

/** Operators by the names that mathjs has for them. */
export const OPERATORS: ReadonlyMap<string, Operation> = new Map(
  Object.entries({
    unaryMinus: one((number) => number.neg()),
    unaryPlus: one((number) => number),
    factorial: one(factorial),
    add: two((left, right) => left.plus(right)),
    subtract: two((left, right) => left.minus(right)),
    multiply: two((left, right) => left.times(right)),
    divide: two(quotient),
    mod: two(remainder),
    pow: two(power),
  }),
);

/** Functions by the names that they are called by. */
export const FUNCTIONS: ReadonlyMap<string, Operation> = new Map(
  Object.entries({
    abs: one((number) => number.abs()),
    sign: one((number) => number.div(number.isZero() ? 1 : number.abs())),
    sqrt: one((number) => number.sqrt()),
    cbrt: one((number) => number.cbrt()),
    exp: one((number) => number.exp()),
    ln: one((number) => number.ln()),
    log10: one((number) => number.log(10)),
    log2: one((number) => number.log(2)),
    log: two((number, base) => number.log(base)),
    pow: two(power),
    mod: two(remainder),
    factorial: one(factorial),
    floor: one((number) => number.floor()),
    ceil: one((number) => number.ceil()),
    trunc: one((number) => number.trunc()),
    round: { least: 1, most: 2, of: (number, decimals) => rounded(number as Number64, decimals) },
    min: { least: 1, most: 100, of: (...numbers) => numbers.reduce((left, right) => (right.lt(left) ? right : left)) },
    max: { least: 1, most: 100, of: (...numbers) => numbers.reduce((left, right) => (right.gt(left) ? right : left)) },
    sin: one((number) => angle(number).sin().toDecimalPlaces(ANGLE_DECIMALS)),
    cos: one((number) => angle(number).cos().toDecimalPlaces(ANGLE_DECIMALS)),
    tan: one((number) =>
      quotient(angle(number).sin().toDecimalPlaces(ANGLE_DECIMALS), number.cos().toDecimalPlaces(ANGLE_DECIMALS)),
    ),
    asin: one((number) => number.asin()),
    acos: one((number) => number.acos()),
    atan: one((number) => number.atan()),
  }),
);

function quotient(left: Number64, right: Number64): Number64 {
  if (right.isZero()) throw new Error('division by zero');
  return left.div(right);
}

/** Numbers that were rounded already have no remainder to speak of. */
function remainder(left: Number64, right: Number64): Number64 {
  if (right.isZero()) throw new Error('mod by zero');
  if (left.abs().gte('1e64') || right.abs().gte('1e64'))
    throw new Error('mod takes numbers below 1e64, as larger ones are rounded');
  return left.mod(right);
}

function power(base: Number64, exponent: Number64): Number64 {
  if (base.isZero() && exponent.isNegative() && !exponent.isZero()) throw new Error('division by zero');
  return base.pow(exponent);
}

function factorial(number: Number64): Number64 {
  if (!number.isInteger() || number.isNegative() || number.gt(MAX_FACTORIAL))
    throw new Error(`factorials are of whole numbers from 0 to ${MAX_FACTORIAL}`);
  let product = number.isZero() ? number.plus(1) : number;
  for (let factor = number.toNumber() - 1; factor > 1; factor -= 1) product = product.times(factor);
  return product;
}

function rounded(number: Number64, decimals: Number64 | undefined): Number64 {
  if (decimals === undefined) return number.toDecimalPlaces(0);
  if (!decimals.isInteger() || decimals.lt(0) || decimals.gt(MAX_DECIMALS))
    throw new Error(`round takes a number and how many decimals it keeps, from 0 to ${MAX_DECIMALS}`);
  return number.toDecimalPlaces(decimals.toNumber());
}

function angle(number: Number64): Number64 {
  if (number.abs().gt(MAX_ANGLE)) throw new Error(`angles go up to ${MAX_ANGLE} radians`);
  return number;
}
