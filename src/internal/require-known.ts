import { PostChainError } from '../../machines/contracts/error.ts';
import { describeValue } from './describe-value.ts';

/** Options for other parts of this package, which errors do not list. */
const INTERNAL: readonly string[] = ['onEntry', 'mayPark', 'properties'];

/**
 * Throws `invalid_option` for an unknown option, or anything but an object. For functions whose options have no schema. `known` lists the
 * names, separated by spaces. JavaScript does not report misspelled options.
 */
export function requireKnownOptions(name: string, options: unknown, known: string): void {
  const names = known.split(' ');
  const listed = names.filter((option) => !INTERNAL.includes(option)).join(', ');
  if (typeof options !== 'object' || options === null)
    throw invalid(`options of ${name}: expected an object with ${listed}; received ${describeValue(options)}.`);
  const unknown = Object.keys(options).find((key) => !names.includes(key));
  if (unknown !== undefined) throw invalid(`options of ${name}: expected only ${listed}; received ${unknown}.`);
}

const invalid = (message: string): PostChainError => new PostChainError('invalid_option', message);
