import { PostChainError } from '../../machines/contracts/error.ts';
import { unknownOption } from './unknown-option.ts';

/** Throws `invalid_option` for an unknown option, or anything but an object. For functions whose options have no schema. */
export function requireKnownOptions(name: string, options: unknown, known: string): void {
  const problem = unknownOption(name, options, known);
  if (problem !== null) throw new PostChainError('invalid_option', problem);
}
