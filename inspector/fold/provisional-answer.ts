import { isPhase } from '../../machines/policies/progress.ts';
import type { PartialValue } from '../../src/chain/presentation/partial-json.ts';
import type { RunLog } from '../wire/run-log.ts';
import { replyAt } from './output.ts';
import type { RunFold } from './run-fold.ts';
import { countStartedBy } from './sorted.ts';
import type { AttemptSpan } from './spans.ts';

const NEAR_ATTEMPTS = 12;
const FIELDS: readonly string[] = ['answerText', 'answer'];

const writesAnswer = ({ task, phases, failure }: AttemptSpan): boolean =>
  failure === null && (task === 'synthesis' || task === 'yield' || phases?.includes('yield') === true);

/** The latest text of an answer that is being written, or was drafted; null if there is none. */
export function provisionalAnswer(
  log: RunLog,
  { spans }: RunFold,
  at: number,
): { readonly text: string; readonly isOpen: boolean } | null {
  const until = countStartedBy(spans.attempts, at);
  for (const span of spans.attempts.slice(Math.max(0, until - NEAR_ATTEMPTS), until).toReversed()) {
    const text = writesAnswer(span) ? answerIn(replyAt(log, span, at).value) : '';
    if (text !== '') return { text, isOpen: span.to === null };
  }
  return null;
}

/** The answer in a reply, which may have a member for each phase. */
function answerIn(value: PartialValue | null): string {
  if (value?.kind !== 'members') return '';
  for (const { name, value: inside } of value.members) {
    if (FIELDS.includes(name) && inside?.kind === 'text') return inside.text;
    const below = isPhase(name) ? answerIn(inside) : '';
    if (below !== '') return below;
  }
  return '';
}
