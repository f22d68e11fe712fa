import type { ActionState, Approval, StepCall } from '../contracts/action-state.ts';
import { wideDigest } from '../text/hash.ts';

/** Returns a digest of a call that does not depend on the order of the arguments, which are JSON text. */
export function digestOfText(capability: string, text: string): string {
  return wideDigest(JSON.stringify([capability, sortedJson(text)]));
}

type Arguments = { readonly capability: string; readonly arguments: Readonly<Record<string, unknown>> };

/** Returns the digest of a question: that of the call, for the run with this identity, so that no answer counts for another run. */
export const digestOf = (identity: string, { capability, arguments: given }: Arguments): string =>
  wideDigest(JSON.stringify([identity, digestOfText(capability, JSON.stringify(given))]));

const LONG_NUMBER = /\d{16}/;

/**
 * Returns JSON with its members sorted, and arrays apart from objects, or the text itself if it is not JSON or contains numbers that would
 * lose digits.
 */
function sortedJson(text: string): string {
  if (LONG_NUMBER.test(text)) return text;
  try {
    return JSON.stringify(text.trim() === '' ? {} : JSON.parse(text), (_, member: unknown) => {
      if (typeof member !== 'object' || member === null) return member;
      if (Array.isArray(member)) return ['[]', ...member];
      return ['{}', ...Object.entries(member).toSorted(([one], [other]) => (one < other ? -1 : 1))];
    });
  } catch {
    return text;
  }
}

/** Returns a new question about a call. `problem` is what was wrong with the last answer. */
export function newQuestion(
  { id, identity, input: { capabilities } }: Pick<ActionState, 'id' | 'identity' | 'input'>,
  number: number,
  call: Arguments,
  problem = '',
): Approval {
  const questionId = `${id}.approval${number}`;
  const isClientTool = capabilities.some(({ name, client = false }) => client && name === call.capability);
  const digest = digestOf(identity, call);
  return {
    questionId,
    identity,
    digest,
    state: 'pending',
    by: null,
    reason: problem,
    ...(isClientTool && { isClientTool }),
  };
}

/** Whether a call needs no approval, or is approved with exactly its present arguments. */
export function isApproved(call: StepCall): boolean {
  const { approval } = call;
  if (approval === undefined) return true;
  return (
    (approval.state === 'approved' || approval.state === 'edited') &&
    approval.digest === digestOf(approval.identity, call)
  );
}
