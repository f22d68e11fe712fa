import { type ComparedValue, comparedValues, humanizeEvent, type Transition } from '../explain.ts';
import { capitalize, formatNumber, humanize, PHASE_NAMES } from '../format.ts';
import { guardTitle, meaningOf, valueTitle } from '../guard-words.ts';
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
    const reasons: readonly GuardReason[] = [
      ...(guard === null
        ? []
        : [
            {
              guard: guard.name,
              inputs: guard.inputs[run],
              holds: guard.holds[run],
              others: guard.inputs[1 - run] ?? {},
            },
          ]),
      ...(own?.guard ? [{ guard: own.guard, inputs: own.inputs ?? {}, holds: true, others: {} }] : []),
    ];
    // A number with its threshold explains most.
    const reason = reasons.find(({ inputs }) => thresholdIn(inputs) !== undefined) ?? reasons[0];
    // These guards repeat what the step did.
    if (reason?.guard === 'nothingToRun') return didWords(entry);
    if (reason?.guard === 'replyIsKnown') {
      const phase = PHASE_NAMES.find((name) => entry.source.split('.').includes(name)) ?? '';
      return `${reason.holds ? 'needed no model call' : 'called the model'} in ${capitalize(phase)}`;
    }
    return `${didWords(entry)} ${reason === undefined ? `after ${excerpt(humanizeEvent(entry.event), 80)}` : `because ${reasonWords(reason)}`}`;
  };
  return [sideWords(0), sideWords(1)];
}

interface GuardReason {
  readonly guard: string;
  readonly inputs: Inputs;
  readonly holds: boolean;
  /** Its inputs in the other run. */
  readonly others: Inputs;
}

/** A number that was compared with a threshold. */
const thresholdIn = (inputs: Inputs): ComparedValue | undefined =>
  comparedValues(inputs).find(
    ({ value, limit }) => typeof value === 'number' && (limit?.name === 'above' || limit?.name === 'below'),
  );

function didWords({ machine, target, source }: Transition): string {
  const [id = source] = target;
  const name = id.split('.').at(-1) ?? id;
  const phase = PHASE_NAMES.find((one) => one === name);
  if (machine === 'postChain' && name === 'synthesizing') return 'stopped';
  return machine === 'actionLoop' && name === 'concluded'
    ? 'ran no more tools'
    : machine === 'actionLoop' && name === 'validatingArguments'
      ? 'called a tool'
      : phase === undefined
        ? `went to ${excerpt(stateName(id), 60)}`
        : `continued with ${capitalize(phase)}`;
}

function reasonWords({ guard, inputs, holds, others }: GuardReason): string {
  const { name = '', value, limit } = thresholdIn(inputs) ?? {};
  if (typeof value === 'number' && limit) {
    const [shown, bound] = numberWords(value, limit.value);
    return `${valueTitle(name)} ${shown} was ${holds ? '' : 'not '}${limit.name} ${bound}`;
  }
  const telling = comparedValues(inputs).filter(
    ({ name, value, limit }) => value !== null && (limit !== null || others[name] !== value),
  );
  const shown = telling.slice(0, MAX_VALUES).map(inputWords).join('; ');
  return `“${excerpt(guardTitle(guard), 80)}” ${holds ? 'held' : 'did not hold'}${shown === '' ? '' : ` (${shown})`}`;
}

const MAX_VALUES = 3;

const inputWords = ({ name, value, limit }: ComparedValue): string =>
  `${meaningOf(name) ?? valueTitle(name)}: ${excerpt(valueWords(value), 60)}${limit === null ? '' : ` of ${valueWords(limit.value)}`}`;

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
  if (Array.isArray(value)) return value.map(valueWords).join(', ') || 'none';
  if (typeof value !== 'object') return String(value);
  const members = Object.entries(value).map(([name, inside]) => `${humanize(name)}: ${valueWords(inside)}`);
  return members.join(', ') || 'none';
}
