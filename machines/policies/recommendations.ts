import type { ConsentChoice, ConsentRequest } from '../contracts/context.ts';
import type { Decision } from '../contracts/decision.ts';

/** Returns what the operation that asks would do: summarize if there is a summary, otherwise remove. */
export const recommendedChoice = ({ summary }: ConsentRequest['items'][number]): ConsentChoice =>
  summary === '' ? 'remove' : 'summarize';

/** Returns what a user who is asked for a direction is recommended: "finish" if a rule recommends it, or else the proposed phase. */
export const recommendedDirection = (asked: {
  readonly proposal: string;
  readonly recommendation: Decision | null;
}): string => (asked.recommendation === null ? asked.proposal : 'finish');
