import type { ActorLogic, ActorSystem, ActorSystemInfo, PromiseSnapshot, Snapshot } from 'xstate';
import { PostChainError } from '../../machines/contracts/error.ts';
import { declareOutcomes } from '../internal/declared-outcomes.ts';
import type { Json } from './codec.ts';
import type { OpenApproval } from './entries.ts';
import { digestOf } from './machine-digest.ts';

/** The answer to exactly one question: that of the approval with this id and digest. */
export interface ApprovalGiven {
  readonly type: 'approval.given';
  readonly id: string;
  readonly digest: string;
  readonly decision: 'approve' | 'deny';
  /** What is approved instead of the question. */
  readonly edited?: Json;
  readonly reason?: string;
  /** Who answered. */
  readonly by?: string;
}

/** The output of an approval. */
export interface ApprovalDecision {
  readonly decision: 'approve' | 'deny';
  /** What was approved or denied: the question, as edited if it was. */
  readonly question: Json;
  readonly isEdited: boolean;
  readonly reason: string | null;
  readonly by: string | null;
}

type ApprovalSnapshot = Snapshot<ApprovalDecision> & OpenApproval;

const logic: ActorLogic<ApprovalSnapshot, ApprovalGiven, { readonly question: Json }, ActorSystem<ActorSystemInfo>> = {
  getInitialSnapshot({ sessionId }, input) {
    const { question } = Object(input) as Partial<typeof input>;
    if (question === undefined)
      throw new PostChainError('invalid_option', 'approval: expected an input with a "question"; received none.');
    const open = { question, digest: digestOf(sortedText(question)), askedAtMs: Date.now() };
    // In a fork, the part before the slash is the id of the fork.
    const id = `approval:${sessionId.replace(/^.*\//u, '')}`;
    return { status: 'active', output: undefined, error: undefined, id, ...open };
  },
  transition(snapshot, event) {
    if (!isAnswer(event, snapshot)) return snapshot;
    const { decision, edited, reason = null, by = null } = event;
    const isEdited = decision === 'approve' && edited !== undefined;
    const question = isEdited ? edited : snapshot.question;
    return { ...snapshot, status: 'done', error: undefined, output: { decision, question, isEdited, reason, by } };
  },
  getPersistedSnapshot: (snapshot) => snapshot,
  restoreSnapshot: (snapshot) => snapshot as ApprovalSnapshot,
};

/** The type of a promise actor, so that tests can replace it with one. */
type ApprovalLogic = ActorLogic<
  PromiseSnapshot<ApprovalDecision, { readonly question: Json }>,
  { type: string; [member: string]: unknown },
  { readonly question: Json },
  ActorSystem<ActorSystemInfo>
>;

/**
 * The logic of an actor that asks a person about its `question`, for example an activity and its arguments. It waits for the event
 * `approval.given` with its id and digest, which `pending.approvals` shows; no other event changes anything. A durable actor with open
 * approvals can be parked. Invoke the activity with the `question` of the output, which may be edited. Fails only without a question, with
 * `invalid_option`.
 *
 * @example
 * asking: { invoke: { src: approval, input: ({ context }) => ({ question: context.payment }), onDone: 'answered' } }
 */
export const approval = declareOutcomes(logic as object as ApprovalLogic, (input) => {
  const { question } = Object(input);
  if (question === undefined) return [{ kind: 'error', name: 'no question', error: { code: 'invalid_option' } }];
  const edited = editOf(question);
  const answer = (name: string, decision: string, asked = question) => ({
    kind: 'done' as const,
    name,
    output: { question: asked, isEdited: asked !== question, reason: null, by: null, decision },
  });
  // A question without strings, numbers and booleans cannot be edited like this.
  const isEditable = sortedText(edited) !== sortedText(question);
  const ifEdited = isEditable ? [answer('edited', 'approve', edited)] : [];
  return [answer('approved', 'approve'), ...ifEdited, answer('denied', 'deny')];
});

/** Returns a question of the same form with other values. Repeated edits alternate between two values, so that a chart that asks again has few states. */
const editOf = (question: Json): Json =>
  JSON.parse(
    JSON.stringify(question, (_, value: unknown) => {
      if (typeof value === 'string') return value === 'edited' ? 'edit' : 'edited';
      if (typeof value === 'number') return value === 1 ? 2 : 1;
      return typeof value === 'boolean' ? !value : value;
    }),
  );

/** Whether an event answers an open approval. */
export function isAnswer(
  event: { readonly type: string },
  { id, digest }: Pick<OpenApproval, 'id' | 'digest'>,
): boolean {
  const answer = event as ApprovalGiven;
  const isDecision = answer.decision === 'approve' || answer.decision === 'deny';
  const isValid = isDecision && isTextOrNone(answer.reason) && isTextOrNone(answer.by);
  return answer.type === 'approval.given' && isValid && answer.id === id && answer.digest === digest;
}

const isTextOrNone = (value: unknown): boolean => value === undefined || value === null || typeof value === 'string';

/** Arrays and objects are marked, so that no array has the text of an object. */
const sortedText = (json: Json): string =>
  JSON.stringify(json, (_, member: unknown) => {
    if (typeof member !== 'object' || member === null) return member;
    if (Array.isArray(member)) return ['[]', ...member];
    return ['{}', ...Object.entries(member).toSorted(([one], [other]) => (one < other ? -1 : 1))];
  });
