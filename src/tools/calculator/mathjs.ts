import type { BigNumber, MathNode } from 'mathjs';

/** Reads expressions into syntax trees, and makes the numbers that are reckoned with. */
export interface Arithmetic {
  readonly parse: (expression: string) => MathNode;
  /** Rounded as every result is: the algorithms of longer numbers do not all end. */
  readonly numberOf: (value: string | number | BigNumber) => BigNumber;
}

/** Significant digits that the result of every step is rounded to. */
export const PRECISION = 64;

let loaded: Promise<Arithmetic> | undefined;

/**
 * mathjs, loaded when it is first asked for. Its build in a single file is there in a fifth of the time that its thousand modules
 * take, and takes a quarter of their memory.
 */
export function loadArithmetic(): Promise<Arithmetic> {
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
