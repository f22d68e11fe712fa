import { createActor } from 'xstate';
import { usageOf } from '../../../machines/chain/in-flight.ts';
import type { AttemptInput } from '../../../machines/contracts/attempt.ts';
import type { ChatModel } from '../../../machines/contracts/model.ts';
import type { SynthesisOutcome } from '../../../machines/contracts/synthesis.ts';
import { brokenOutcome, composedOutcome, outcomeOf } from '../../../machines/policies/synthesis/outcome.ts';
import { onAbort } from '../../internal/on-abort.ts';
import { provideAttempt } from '../attempts/provide-attempt.ts';
import { unwatched } from '../attempts/read-reply.ts';
import type { SynthesisParts } from './synthesize-options.ts';

export interface Writing {
  readonly outcome: SynthesisOutcome;
  readonly aborted: boolean;
}

/** Has the model write the answer, through the attempt machine. It never rejects; aborted, it says what was used until then. */
export function writeAnswer(
  model: ChatModel,
  input: AttemptInput,
  { ask, replyForm, clock, signal }: SynthesisParts,
): Promise<Writing> {
  return new Promise((resolve) => {
    const machine = provideAttempt({ models: [model], askFor: () => ask, replyForm, clock, observer: unwatched });
    const actor = createActor(machine, { input, clock });
    let forget = (): void => {};
    const end = (outcome: SynthesisOutcome, aborted = false): void => {
      forget();
      resolve({ outcome, aborted });
    };
    actor.subscribe({
      error: (error) => end(brokenOutcome(error)),
      complete: () => {
        const { output } = actor.getSnapshot();
        if (output !== undefined) end(outcomeOf(output));
      },
    });
    const abort = (): void => {
      end(composedOutcome('', usageOf(actor.getSnapshot())), true);
      actor.stop();
    };
    if (signal !== null) forget = onAbort(signal, abort);
    actor.start();
  });
}
