import type { ContinuationReply } from '../../../machines/contracts/continuation.ts';
import type { Task } from '../../../machines/contracts/phase.ts';
import { type PhaseInput, phaseInputSchema } from '../../../machines/contracts/phases/input.ts';
import { summaryInputSchema } from '../../../machines/contracts/summary.ts';
import { synthesisInputSchema } from '../../../machines/contracts/synthesis-input.ts';
import { replyAction } from './reply-action.ts';
import { replyExperience } from './reply-experience.ts';
import { replyIntention } from './reply-intention.ts';
import { replyObservation } from './reply-observation.ts';
import { replySummary } from './reply-summary.ts';
import { replySynthesis } from './reply-synthesis.ts';
import { replyUnderstanding } from './reply-understanding.ts';
import { replyYield } from './reply-yield.ts';

/** It asks for no capability, so it has nothing to go on with. */
const DONE: ContinuationReply = { done: true, finalOutput: null, next: null };

/** The reply to a task, fit for its schema. Throws if the input is not the task's own. */
export function extractiveReply(task: Task, input: unknown): object {
  if (task === 'synthesis') return replySynthesis(synthesisInputSchema.parse(input));
  if (task === 'continuation') return DONE;
  if (task === 'summary') return replySummary(summaryInputSchema.parse(input));
  const phaseInput = phaseInputSchema.parse(input);
  if (phaseInput.phase !== task) throw new TypeError(`got the input of ${phaseInput.phase} for the task ${task}`);
  return replyTo(phaseInput);
}

function replyTo(input: PhaseInput): object {
  switch (input.phase) {
    case 'action':
      return replyAction(input);
    case 'experience':
      return replyExperience(input);
    case 'intention':
      return replyIntention(input);
    case 'observation':
      return replyObservation(input);
    case 'understanding':
      return replyUnderstanding(input);
    case 'yield':
      return replyYield(input);
    default: {
      const never: never = input;
      return never;
    }
  }
}
