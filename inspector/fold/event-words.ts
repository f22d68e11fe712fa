import { grouped } from './number-words.ts';
import { lastName } from './state-tree.ts';

const KINDS: readonly (readonly [prefix: string, says: (rest: string) => string])[] = [
  ['xstate.done.actor.', (rest) => `${actorIn(rest)} was done`],
  ['xstate.error.actor.', (rest) => `${actorIn(rest)} broke`],
  ['xstate.done.state.', (rest) => `${lastName(rest)} came to its end`],
  ['xstate.snapshot.', (rest) => `news of ${actorIn(rest)}`],
  ['xstate.after.', (rest) => `after ${delayIn(rest)}`],
];

const WHOLE: Readonly<Record<string, string>> = {
  '': 'at once',
  'xstate.init': 'the start',
  'xstate.stop': 'it was stopped',
};

/** The type of an event in words: `xstate.done.actor.0.intention` is "intention was done". One that a person named stays as it is. */
export function eventInWords(type: string): string {
  const whole = Object.hasOwn(WHOLE, type) ? WHOLE[type] : undefined;
  if (whole !== undefined) return whole;
  const kind = KINDS.find(([prefix]) => type.startsWith(prefix));
  return kind === undefined ? type : kind[1](type.slice(kind[0].length));
}

/** An actor without a name of its own is called by its place and the state that it runs in: `0.postChain.cycling.yield.assessing`. */
const actorIn = (id: string): string => (/^\d+\./u.test(id) ? lastName(id) : id);

function delayIn(rest: string): string {
  const delay = rest.split('.', 1)[0] ?? rest;
  return /^\d+$/u.test(delay) ? `${grouped(Number(delay))} ms` : delay;
}
