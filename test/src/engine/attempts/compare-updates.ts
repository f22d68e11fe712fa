import { isDeepStrictEqual } from 'node:util';
import type { Observed } from './play-schedule.ts';
import { hear, itemsHeard } from './reference-call.ts';
import type { Expected } from './reference-model.ts';
import type { Schedule } from './schedule.ts';

/** How much of a reply came before these is not told by what it says. */
const CUT = ['total_deadline', 'too_long', 'prompt_too_long'];

/** In words, what a reader saw that is against the rules of updates [A7] [A8]. */
export function updateDifferences(schedule: Schedule, expected: Expected, observed: Observed): string[] {
  const { type } = schedule.reader;
  const { attempts, end } = expected;
  const { updates, endings } = observed.read;
  const found: string[] = [];
  if (type === 'value') return found;
  const failed = attempts.flatMap(({ failure, waitMs }, index) =>
    failure === null ? [] : [{ at: index + 1, failure, waitMs }],
  );
  const finished = (attempt: number): number => expected.attempts[attempt - 1]?.endedAtMs ?? expected.endedAtMs;

  let [attempt, index, lastPartial] = [1, 0, undefined as unknown];
  let given: unknown[] = [];
  let isOver = false;
  for (const { update, atMs } of updates) {
    if (isOver) found.push(`${update.type} after the end`);
    if (type === 'late' && attempt < update.attempt && index === 0) attempt = update.attempt;
    if (update.attempt !== attempt) found.push(`${update.type} of attempt ${update.attempt}, wanted ${attempt}`);
    index += 1;
    if (update.type === 'partial') {
      lastPartial = update.value;
      // Whether one who comes after a cancel still sees what had arrived is nobody's rule.
      const mayLag = (type === 'slow' || type === 'late') && !failed.some(({ at }) => at === attempt);
      if (!mayLag && atMs > finished(attempt) + 1e-6) found.push('a partial after its attempt');
    } else if (update.type === 'reset') {
      const wanted = failed.find(({ at }) => at === update.attempt);
      const isSame = wanted?.failure.code === update.failure.code && wanted.failure.stage === update.failure.stage;
      if (!isSame) found.push(`reset ${update.attempt} for ${update.failure.code}, wanted ${wanted?.failure.code}`);
      if (!isClose(update.retryInMs, wanted?.waitMs))
        found.push(`reset ${update.attempt} waits ${update.retryInMs}, wanted ${wanted?.waitMs}`);
      const plan = schedule.calls[attempt - 1];
      if (type === 'elements' && plan !== undefined && !CUT.includes(update.failure.code)) {
        const whole = itemsHeard(plan, hear(plan, schedule.limits)).length;
        if (given.length !== whole) found.push(`${given.length} elements of attempt ${attempt}, wanted ${whole}`);
      }
      [attempt, given, lastPartial] = [attempt + 1, [], undefined];
    } else if (update.type === 'element') {
      if (update.index !== given.length) found.push(`element ${update.index}, wanted ${given.length}`);
      if (!isDeepStrictEqual(update.value, schedule.calls[attempt - 1]?.said.items[update.index]))
        found.push(`element ${update.index} of attempt ${attempt}: ${JSON.stringify(update.value)}`);
      given.push(update.value);
    } else {
      isOver = true;
      if (end.type !== 'value') found.push('a value where there is none');
      else {
        if (!isDeepStrictEqual(update.value, end.value)) found.push(`value ${JSON.stringify(update.value)}`);
        const isShown = type !== 'late' || lastPartial !== undefined;
        if (isShown && !isDeepStrictEqual(lastPartial, end.json))
          found.push(`the last partial is ${JSON.stringify(lastPartial)}, wanted ${JSON.stringify(end.json)}`);
      }
    }
  }

  const resets = updates.filter(({ update }) => update.type === 'reset').length;
  if (type !== 'late' && type !== 'leaves' && resets !== failed.length)
    found.push(`${resets} resets, wanted ${failed.length}`);
  if (type === 'elements' && end.type === 'value' && !isDeepStrictEqual(given, end.value))
    found.push(`elements ${JSON.stringify(given)}, wanted ${JSON.stringify(end.value)}`);
  if (type !== 'elements' && end.type === 'value' && !isOver) found.push('no value');
  const hasLeft = type === 'leaves' && updates.at(-1)?.update.type === 'reset';
  if (!hasLeft && endings.length !== 1) found.push(`${endings.length} endings`);
  if (!hasLeft && endings[0]?.error !== observed.error)
    found.push(`ended with ${endings[0]?.error}, wanted ${observed.error}`);
  return found;
}

function isClose(is: number | null, wanted: number | null | undefined): boolean {
  if (is === null || wanted === null || wanted === undefined) return is === wanted;
  return Math.abs(is - wanted) < 1e-6;
}
