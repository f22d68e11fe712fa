import { type ComparedValue, comparedValues, humanizeEvent, type Transition } from '../explain.ts';
import { capitalize, formatNumber, humanize, humanizeGuard, PHASE_NAMES } from '../format.ts';
import { meaningOf } from '../guard-words.ts';
import { excerpt, stateName } from '../text.ts';
import type { Pair } from './align.ts';
import type { Parting } from './comparison.ts';

type Inputs = Parameters<typeof comparedValues>[0];

/** Why each of two runs went its own way at their parting: "stopped because confidence 0.84 was above 0.80". */
export function causeWords({ entries, guard }: Parting): Pair<string> {
  const sideWords = (run: 0 | 1): string => {
    const entry = entries[run];
    if (entry === null) return 'took no more steps';
    const own = entry.candidates.find(({ result }) => result === 'taken');
    const reason =
      guard !== null && isTelling(guard.inputs)
        ? reasonWords(guard.name, guard.inputs[run], guard.holds[run], guard.inputs[1 - run])
        : own?.guard
          ? reasonWords(own.guard, own.inputs ?? {}, true)
          : '';
    return `${didWords(entry)} ${reason === '' ? `after ${humanizeEvent(entry.event)}` : `because ${reason}`}`;
  };
  return [sideWords(0), sideWords(1)];
}

/** Whether the compared numbers explain the results: otherwise the guard that a run took explains more. */
const isTelling = (inputs: Pair<Inputs>): boolean =>
  inputs.some((each) => comparedValues(each).some(({ limit }) => limit !== null)) ||
  JSON.stringify(inputs[0]) !== JSON.stringify(inputs[1]);

function didWords({ machine, target, source }: Transition): string {
  const [id = source] = target;
  const name = id.split('.').at(-1) ?? id;
  const phase = PHASE_NAMES.find((one) => one === name);
  if (machine === 'postChain' && name === 'synthesizing') return 'stopped';
  return phase === undefined ? `went to ${excerpt(stateName(id), 60)}` : `continued with ${capitalize(phase)}`;
}

function reasonWords(guard: string, inputs: Inputs, holds: boolean, others: Inputs = {}): string {
  const compared = comparedValues(inputs);
  for (const { name, value, limit } of compared)
    if (typeof value === 'number' && (limit?.name === 'above' || limit?.name === 'below')) {
      const [shown, bound] = numberWords(value, limit.value);
      return `${humanize(name)} ${shown} was ${holds ? '' : 'not '}${limit.name} ${bound}`;
    }
  const telling = compared.filter(({ name, value, limit }) => limit !== null || others[name] !== value);
  const shown = telling.slice(0, MAX_VALUES).map(inputWords).join('; ');
  return `“${excerpt(humanizeGuard(guard), 80)}” ${holds ? 'held' : 'did not hold'}${shown === '' ? '' : ` (${shown})`}`;
}

const MAX_VALUES = 3;

const inputWords = ({ name, value, limit }: ComparedValue): string =>
  `${meaningOf(name) ?? humanize(name)}: ${excerpt(valueWords(value), 60)}${limit === null ? '' : ` of ${valueWords(limit.value)}`}`;

/** Two numbers with the fewest decimals, at least two, that tell them apart. */
function numberWords(value: number, limit: number): Pair<string> {
  if (Number.isInteger(value) && Number.isInteger(limit)) return [formatNumber(value), formatNumber(limit)];
  const decimals = [2, 3, 4, 6].find((each) => value === limit || value.toFixed(each) !== limit.toFixed(each)) ?? 6;
  return [value.toFixed(decimals), limit.toFixed(decimals)];
}

/** A recorded value, with numbers as people write them. */
export function valueWords(value: unknown): string {
  if (value === undefined || value === null) return '–';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number') return Number.isInteger(value) ? formatNumber(value) : numberWords(value, value)[0];
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '–');
}
