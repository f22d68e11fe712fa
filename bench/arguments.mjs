import { parseArgs } from 'node:util';

/**
 * @typedef {object} Arguments
 * @property {boolean} json Print one JSON object to stdout instead of the table.
 * @property {boolean} check Exit with code 1 if a limit is exceeded.
 * @property {readonly string[]} only The benchmarks to run.
 * @property {number} [parked] How many waiting actors `scale` stores; 0 to leave that part out.
 */

/**
 * Parses the command line. Throws a TypeError with a one-line message for invalid arguments.
 *
 * @param {readonly string[]} args
 * @param {readonly string[]} names All benchmarks.
 * @returns {Arguments}
 */
export function readArguments(args, names) {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { json: { type: 'boolean' }, check: { type: 'boolean' }, parked: { type: 'string' } },
  });
  const [word, ...chosen] = positionals;
  if (word !== undefined && word !== 'only')
    throw new TypeError(`expected only NAME, --json, --check or --parked N; received "${word}"`);
  if (word === 'only' && chosen.length === 0)
    throw new TypeError(`"only" needs a name: expected one of ${names.join(', ')}`);
  const unknown = chosen.find((name) => !names.includes(name));
  if (unknown !== undefined) throw new TypeError(`unknown benchmark "${unknown}"; expected one of ${names.join(', ')}`);
  if (values.parked !== undefined && !/^\d+0$|^0$/u.test(values.parked))
    throw new TypeError(`--parked: expected a multiple of 10; received "${values.parked}"`);
  return {
    ...(values.parked !== undefined && { parked: Number(values.parked) }),
    json: values.json ?? false,
    check: values.check ?? false,
    only: chosen.length === 0 ? names : names.filter((name) => chosen.includes(name)),
  };
}
