import type { AttemptEvent, Reply } from '../../../machines/contracts/attempt.ts';
import type { FailureStage } from '../../../machines/contracts/failure.ts';
import type { FinishReason } from '../../../machines/contracts/model.ts';
import { candidatesOf, layersOf, type RepairCandidate, valuesIn } from '../../internal/repair-candidates.ts';
import type { PromptSpec } from '../request.ts';
import { withoutThought } from '../streaming/thought.ts';

const REPAIRABLE: ReadonlySet<FailureStage> = new Set(['schema', 'refinement']);

/** Whether a reply may contain a value in another form: it is not JSON, or not what the schema accepts. A valid reply costs nothing. */
export function mayBeRepaired(event: AttemptEvent): boolean {
  if (event.type !== 'reply.ended') return false;
  const { reply, validation } = event;
  if (reply.failure !== null) return reply.failure.code === 'no_json';
  return reply.prose ? reply.text.includes('{') : validation?.ok === false && REPAIRABLE.has(validation.failure.stage);
}

/** The model ended its reply itself. A reply with an unknown reason may have been cut. */
const ENDED: ReadonlySet<FinishReason | null> = new Set(['stop', 'tool-calls']);

/**
 * Yields the values that a reply may stand for: what is in the value that was found, calls of tools in its text, and each value in its
 * text, with what is in that. The text of a reply that was cut is not searched.
 */
export async function* repairCandidates(
  { text, value, failure, prose }: Reply,
  reason: FinishReason | null,
  { fromToolCalls, callsInText }: Pick<PromptSpec, 'fromToolCalls' | 'callsInText'>,
  toolNames: readonly string[],
): AsyncGenerator<RepairCandidate, void> {
  if (failure === null && !prose) yield* layersOf({ value, repairs: [] });
  if (reason === 'length') return;
  const found: RepairCandidate[] = [];
  for await (const one of valuesIn(withoutThought(text), ENDED.has(reason))) found.push(one);
  const calls = callsInText?.(
    text,
    found.map((one) => one.value),
    toolNames,
  );
  if (calls?.length) yield { value: fromToolCalls?.(calls, ''), repairs: ['tool-call'] };
  for (const one of found) yield* candidatesOf(one);
}
