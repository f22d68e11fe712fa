import type {
  BigNumber,
  ConstantNode,
  FunctionNode,
  MathNode,
  OperatorNode,
  ParenthesisNode,
  SymbolNode,
} from 'mathjs';
import { quoted } from '../quoted.ts';
import type { Arithmetic } from './mathjs.ts';
import { FUNCTIONS, OPERATORS, type Operation } from './operations.ts';

/** Numbers go up to 10 to this power, and down to its inverse. */
const MAX_EXPONENT = 9_999;

const UNKNOWN_PART = 'only numbers, operators, functions and parentheses are reckoned';

/**
 * The number that a syntax tree stands for. Only what is listed here is reckoned: numbers, the operators and functions by name,
 * three constants. Whatever else the parser knows (assignments, functions of its own, units, lists, texts) is refused, unseen.
 */
export function evaluate(node: MathNode, { numberOf }: Pick<Arithmetic, 'numberOf'>): BigNumber {
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
