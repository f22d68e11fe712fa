import type { ActionState, Approval, StepCall } from '../contracts/action-state.ts';
import type {
  ApprovalAnswer,
  ArgumentsCheck,
  CapabilityCall,
  CapabilityFailure,
  CapabilityResult,
} from '../contracts/capability.ts';
import type { GuardResult } from '../contracts/decision.ts';
import type { AnswerRefusal } from '../contracts/events.ts';
import { clippedLine } from '../text/clip.ts';
import { wideDigest } from '../text/hash.ts';

/** Returns a digest of a call that does not depend on the order of the arguments, which are JSON text. */
export function digestOfText(capability: string, text: string): string {
  return wideDigest(JSON.stringify([capability, sortedJson(text)]));
}

type Arguments = { readonly capability: string; readonly arguments: Readonly<Record<string, unknown>> };

/** Returns the digest of a question: that of the call, for the run with this identity, so that no answer counts for another run. */
export const approvalDigest = (identity: string, { capability, arguments: given }: Arguments): string =>
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
  const digest = approvalDigest(identity, call);
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
    approval.digest === approvalDigest(approval.identity, call)
  );
}

export type AskedCall = StepCall & { readonly approval: Approval };

const isIn =
  (state: Approval['state']) =>
  (call: StepCall): call is AskedCall =>
    call.approval?.state === state;

export const pendingCalls = ({ step }: Pick<ActionState, 'step'>): readonly AskedCall[] => step.filter(isIn('pending'));

const editedCalls = ({ step }: ActionState): readonly AskedCall[] => step.filter(isIn('editing'));

export function approvalPending(state: ActionState): GuardResult {
  const pending = pendingCalls(state).length;
  return { holds: pending > 0, inputs: { pending } };
}

/** Whether the program decides about a call that waits. It never decides about calls that only the client can run. */
export function programApproves(state: ActionState): GuardResult {
  const { approver } = state;
  const pending = pendingCalls(state).filter(isOfProgram).length;
  return { holds: pending > 0 && approver === 'program', inputs: { pending, approver } };
}

const isOfProgram = ({ approval }: AskedCall): boolean => approval.isClientTool !== true;

export function editsPending(state: ActionState): GuardResult {
  const edited = editedCalls(state).length;
  return { holds: edited > 0, inputs: { edited } };
}

export function awaitsApproval(loop: ActionState): GuardResult {
  const { holds, inputs } = approvalPending(loop);
  return { holds: holds && !programApproves(loop).holds, inputs: { ...inputs, approver: loop.approver } };
}

/** Returns why an answer has no effect; null if it decides a pending question. */
export function approvalRefusal(state: ActionState, answer: ApprovalAnswer): AnswerRefusal | null {
  const { approval } = state.step.find((call) => call.approval?.questionId === answer.questionId) ?? {};
  if (approval === undefined) return pendingCalls(state).length === 0 ? 'no_question' : 'other_question';
  if (approval.state !== 'pending') return 'already_answered';
  if (answer.digest !== approval.digest) return 'other_digest';
  return approval.isClientTool && answer.decision === 'approve' ? 'client_tool' : null;
}

export function approvalFits(state: ActionState, answer: ApprovalAnswer): GuardResult {
  const refusal = approvalRefusal(state, answer);
  const { questionId, decision } = answer;
  return { holds: refusal === null, inputs: { questionId, decision, refusal } };
}

type Change = Pick<ActionState, 'step'>;

const mapPending = ({ step }: ActionState, decide: (call: AskedCall) => StepCall): Change => ({
  step: step.map((call) => (isIn('pending')(call) ? decide(call) : call)),
});

export function answerApproval(state: ActionState, answer: ApprovalAnswer): Change {
  return mapPending(state, (call) =>
    call.approval.questionId === answer.questionId ? decided(state, call, answer, answer.by ?? 'user') : call,
  );
}

/** Decides all calls that wait for the program, as it answered. A call without an answer is denied. */
export function answerByProgram(state: ActionState, answers: readonly ApprovalAnswer[], otherwise: string): Change {
  return mapPending(state, (call) => {
    if (!isOfProgram(call)) return call;
    const { questionId, digest } = call.approval;
    const found = answers.find((one) => one.questionId === questionId && one.digest === digest);
    const answer = found ?? { questionId, digest, decision: 'deny', reason: otherwise };
    return decided(state, call, answer, 'program');
  });
}

export function timeOutApprovals(state: ActionState): Change {
  const reason = `it was not approved within ${state.approvalMs} ms`;
  return mapPending(state, (call) => {
    const approval = { ...call.approval, state: 'timed_out', by: 'limit', reason } as const;
    return { ...call, approval, result: failedResult(state, call, 'approval_timed_out', reason, 0) };
  });
}

const MAX_REASON_CHARS = 1_000;

function decided(
  state: ActionState,
  call: AskedCall,
  { decision, arguments: edited, output = '', reason: given = '' }: ApprovalAnswer,
  by: 'user' | 'program',
): StepCall {
  const reason = clippedLine(given, MAX_REASON_CHARS);
  const approval: Approval = { ...call.approval, by, reason };
  if (decision === 'respond') {
    const result = endedResult(state, call, output);
    return { ...call, approval: { ...approval, state: 'responded' }, result };
  }
  if (decision !== 'approve') return denied(state, { ...call, approval });
  if (edited === undefined || approvalDigest(approval.identity, { ...call, arguments: edited }) === approval.digest)
    return { ...call, approval: { ...approval, state: 'approved' } };
  return { ...call, approval: { ...approval, state: 'editing', edited } };
}

function denied(state: ActionState, call: AskedCall): StepCall {
  const { by, reason } = call.approval;
  const error = `denied by the ${by}${reason === '' ? '' : `: ${reason}`}`;
  return {
    ...call,
    approval: { ...call.approval, state: 'denied' },
    result: failedResult(state, call, 'denied', error, 0),
  };
}

export function approvalRequests(state: ActionState) {
  const { sessionId, capabilityMs: timeoutMs } = state;
  const asked = pendingCalls(state).filter(isOfProgram);
  const calls = asked.map(({ capability, arguments: given, approval: { digest, questionId } }) => ({
    capability,
    arguments: given,
    digest,
    questionId,
    sessionId,
  }));
  return { calls, timeoutMs };
}

export function editsToValidate(state: ActionState): readonly CapabilityCall[] {
  return editedCalls(state).map(({ capability, approval }) => ({
    capability,
    arguments: JSON.stringify(approval.edited),
  }));
}

/**
 * Approves the calls whose edited arguments are valid: from now on, these are the arguments of the call. The user is asked again about the
 * others, with the problem; those that a program has edited are denied. Without checks, none is valid.
 */
export function applyEdits(
  state: ActionState,
  checks: readonly ArgumentsCheck[],
  otherwise: string,
): Pick<ActionState, 'step' | 'asked'> {
  let { asked } = state;
  let at = 0;
  const step = state.step.map((call): StepCall => {
    if (!isIn('editing')(call)) return call;
    const check = checks[at++];
    const { edited: _, ...approval } = call.approval;
    if (check?.ok) {
      const edited = { ...call, arguments: check.arguments };
      const digest = approvalDigest(approval.identity, edited);
      const own = { ...approval, state: 'edited', digest, original: call.arguments } as const;
      return { ...edited, approval: own };
    }
    const problem = `the edited arguments are invalid: ${check?.problem ?? otherwise}`;
    if (approval.by === 'program') return denied(state, { ...call, approval: { ...approval, reason: problem } });
    asked += 1;
    return { ...call, approval: newQuestion(state, asked, call, problem) };
  });
  return { step, asked };
}

export function failedResult(
  { sessionId }: Pick<ActionState, 'sessionId'>,
  call: Pick<StepCall, 'id' | 'capability' | 'arguments' | 'toolCall' | 'written'>,
  code: CapabilityFailure,
  error: string,
  durationMs: number,
): CapabilityResult {
  const { id, capability, arguments: given } = call;
  const base = { id, capability, arguments: given, success: false, output: '', synthesized: false, startedAtMs: null };
  return { ...base, code, error, sessionId, durationMs, ...asWritten(call) };
}

/** Returns the result of a call that ends with this output without a run. */
function endedResult(state: ActionState, call: StepCall, output: string): CapabilityResult {
  const { maxResultChars } = state;
  const problem = `the result has ${output.length} characters; the maximum is ${maxResultChars}; request less of it`;
  const failed = failedResult(state, call, 'result_too_long', problem, 0);
  return output.length > maxResultChars ? failed : { ...failed, success: true, output, code: null, error: null };
}

/** Returns the members of a result that record the call as the model wrote it. */
export const asWritten = ({ toolCall, written }: Pick<StepCall, 'toolCall' | 'written'>) => ({
  ...(toolCall !== undefined && { toolCall }),
  ...(written !== undefined && { written }),
});
