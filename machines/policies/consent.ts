import type { ChainState } from '../contracts/chain-state.ts';
import {
  type ConsentChoice,
  type ConsentGiver,
  type ConsentRequest,
  type ContextOperation,
  consentChoiceSchema,
  type Override,
} from '../contracts/context.ts';
import type { GuardResult } from '../contracts/decision.ts';
import type { Message } from '../contracts/message.ts';
import { memoize } from '../text/memoize.ts';
import { extractSummary, preview } from '../text/summary.ts';
import {
  append,
  applyOperations,
  asksConsent,
  contextOf,
  isLoss,
  KEPT_BY_DEFAULT,
  KEPT_BY_USER,
  REQUEST,
  undo,
} from './context.ts';
import { attachmentLabels } from './message-parts.ts';
import { estimatedMeasures } from './understanding.ts';

/** One question for all operations that affect user content; null if there are none. */
export function consentRequest(
  operations: readonly ContextOperation[],
  messages: readonly Message[],
): ConsentRequest | null {
  const asking = operations.filter(asksConsent);
  if (asking.length === 0) return null;
  const byId = new Map(messages.map((message) => [message.id, message]));
  const items = asking.map((operation) => {
    const { content = '', role = 'user', attachments = [] } = byId.get(operation.target) ?? {};
    return {
      operationId: operation.id,
      messageId: operation.target,
      role,
      preview: `${preview(content)}${attachments.length === 0 ? '' : ` ${attachmentLabels(attachments)}`}`,
      chars: content.length,
      summary: operation.operation === 'TRANSFORM' ? operation.data.content : '',
      reason: operation.reason,
    };
  });
  return { items };
}

type Planned = Pick<ChainState, 'evaluation' | 'consent'>;

const operationsAsking = ({ evaluation }: Planned): number => (evaluation?.operations ?? []).filter(asksConsent).length;

export function consentNeeded(state: Planned): GuardResult {
  const messages = operationsAsking(state);
  return { holds: messages > 0, inputs: { messages } };
}

/** Whether an option decides about the operations that need consent, so that no one is asked. */
export function consentDecided(state: Planned): GuardResult {
  const messages = operationsAsking(state);
  return { holds: messages > 0 && state.consent !== 'ask', inputs: { messages, consent: state.consent } };
}

/** Whether the user has overruled every operation that needed consent, so that no question is left. */
export function consentSettled(state: Planned): GuardResult {
  const messages = operationsAsking(state);
  return { holds: messages === 0, inputs: { messages } };
}

/** Reads a choice. Anything but a clear "summarize" or "remove" keeps the message, so a typing error loses nothing. */
export function readChoice(given: unknown): ConsentChoice {
  return knownChoice(given) ?? 'keep';
}

function knownChoice(given: unknown): ConsentChoice | undefined {
  const word = typeof given === 'string' ? given.trim().toLowerCase() : '';
  return consentChoiceSchema.safeParse(word === 'summarise' ? 'summarize' : word).data;
}

const KEPT_BY: Record<ConsentGiver, string> = {
  user: 'kept by the user',
  option: 'kept by an option',
  default: 'kept because there was no one to ask',
  'time-out': 'kept because no one answered in time',
};

/**
 * Applies the user's decision: `choice` to every operation that needs consent, and `items` to single messages by id,
 * whether or not they need it. Kept messages are tagged so that no one is asked again in this run; tag and reason record
 * who decided, or that the reply was not understood.
 */
export function resolveConsent(
  operations: readonly ContextOperation[],
  choice: unknown,
  items: Readonly<Record<string, unknown>> = {},
  by: ConsentGiver = 'user',
): readonly ContextOperation[] {
  return operations.map((operation): ContextOperation => {
    const { id, target, metadata } = operation;
    const itemChoice = Object.hasOwn(items ?? {}, target) ? items[target] : undefined;
    if (itemChoice === undefined && !asksConsent(operation)) return operation;
    // Other operations lose no content, so there is nothing to override.
    if (!isLoss(operation)) return operation;
    const given = knownChoice(itemChoice === undefined ? choice : itemChoice);
    const decided = given ?? 'keep';
    // A message without a planned summary cannot be summarized: it is kept.
    const consent = decided === 'summarize' && operation.operation !== 'TRANSFORM' ? 'keep' : decided;
    const resolved = { ...metadata, requiresConsent: false, consent };
    if (consent === 'summarize') return { ...operation, metadata: resolved };
    if (consent === 'remove') {
      const why =
        by === 'option'
          ? { code: operation.code, reason: `${operation.reason}; an option removes it` }
          : { code: 'user_consent' as const, reason: 'the user agreed to remove it' };
      return { operation: 'PRUNE', id, target, data: {}, ...why, metadata: resolved };
    }
    const isUnderstood = given !== undefined;
    const kept = isUnderstood ? KEPT_BY[by] : 'kept because the reply was not understood';
    return {
      operation: 'TAG',
      id,
      target,
      data: { tags: [isUnderstood && by === 'user' ? KEPT_BY_USER : KEPT_BY_DEFAULT] },
      code: isUnderstood && by === 'user' ? 'user_consent' : 'no_consent',
      reason: consent === decided ? kept : 'kept because no summary of it was planned',
      metadata: resolved,
    };
  });
}

/** The result of an override: the changes of the state, or why there are none. */
export interface Overruled {
  readonly messageId: string;
  readonly undone: readonly string[];
  readonly problem: string | null;
  readonly changes: Partial<ChainState>;
}

/** Prefix of the ids of the user's operations. */
const OVERRIDE = 'user';
/** The most decisions that wait for the next phase: bounds the work of each. */
const MAX_WAITING = 1_000;

export const isOverride = ({ id }: ContextOperation): boolean => id.startsWith(OVERRIDE);

/** The turn that a session stores is made with the answer, so it would lack any later decision. */
const TOO_LATE = 'the run already has its answer, which is being stored in the session';

const unchanged = (messageId: string, problem: string): Overruled => ({ messageId, undone: [], problem, changes: {} });

/** Messages with these tags can be kept, but neither summarized nor removed. */
const FIXED_TAGS: readonly string[] = [REQUEST, 'pinned', 'critical'];

/**
 * Applies the user's decision about one message, at any time of a run. Whatever was planned to shorten or remove it is
 * dropped, and what was applied is undone: the message is back as it was. Then the choice becomes an operation of the
 * user, which the next phase already sees.
 */
export function overrule(state: ChainState, { messageId, choice }: Override): Overruled {
  const unchangedBecause = (problem: string): Overruled => unchanged(messageId, problem);
  if (state.answer !== null) return unchangedBecause(TOO_LATE);
  const losses = [...everyOperation(state)].filter((one) => isLoss(one) && one.target === messageId);
  const { changes, undone } = without(state, losses);
  const message = visibleMessage({ ...state, ...changes }, messageId);
  if (state.envelope.operations.filter(isOverride).length >= MAX_WAITING)
    return unchangedBecause(
      `${MAX_WAITING} decisions already wait for the next phase; repeat this one after it starts`,
    );
  if (message === undefined) return unchangedBecause('the context has no message with this id');
  const fixed = FIXED_TAGS.find((tag) => message.tags.includes(tag));
  if (choice !== 'keep' && fixed !== undefined)
    return unchangedBecause(`the message must stay as it is, because it is tagged "${fixed}"`);
  const common = {
    id: `${OVERRIDE}${state.overrides + 1}`,
    target: messageId,
    code: 'user_consent' as const,
    reason: REASONS[choice],
    metadata: { consent: choice },
  };
  const envelope = changes.envelope ?? state.envelope;
  const accept = (operation: ContextOperation): Overruled => ({
    messageId,
    undone,
    problem: null,
    changes: {
      ...changes,
      ...(isLoss(operation) || changesContent(state, changes) ? unmeasured({ ...state, ...changes }) : {}),
      overrides: state.overrides + 1,
      envelope: { ...envelope, operations: [...envelope.operations, operation] },
    },
  });
  if (choice === 'keep') return accept({ operation: 'TAG', ...common, data: { tags: [KEPT_BY_USER] } });
  if (choice === 'remove') return accept({ operation: 'PRUNE', ...common, data: {} });
  const { userSummaryChars, assistantSummaryChars } = state.thresholds;
  const maxChars = message.role === 'user' ? userSummaryChars : assistantSummaryChars;
  if (message.content.length <= maxChars) return unchangedBecause(`the message has at most ${maxChars} characters`);
  const planned = losses.findLast((one) => one.operation === 'TRANSFORM');
  const content = planned?.data.content ?? extractSummary(message.content, maxChars, state.request);
  const data = { transformation: 'summarize', content, maxChars, originalChars: message.content.length } as const;
  return accept({ operation: 'TRANSFORM', ...common, data });
}

const REASONS: Readonly<Record<ConsentChoice, string>> = {
  keep: 'the user asked to keep it',
  summarize: 'the user asked to summarize it',
  remove: 'the user asked to remove it',
};

/** Undoes one operation of the run, whether it is planned or applied. The others keep their effect. */
export function undoOperation(state: ChainState, operationId: string): Overruled {
  if (state.answer !== null) return unchanged('', TOO_LATE);
  const operation = [...everyOperation(state)].find(({ id }) => id === operationId);
  if (operation === undefined) return unchanged('', `no operation "${operationId}" can be undone`);
  const { changes, undone } = without(state, [operation]);
  const also = changesContent(state, changes) ? unmeasured({ ...state, ...changes }) : {};
  return { messageId: operation.target, undone, problem: null, changes: { ...changes, ...also } };
}

/** Applies the user's decisions that still wait for a phase when the run ends, so that its history is complete. */
export function applyOverrides(state: ChainState): Partial<ChainState> {
  const { envelope, history, messages } = state;
  const applied = envelope.operations.filter(isOverride);
  if (applied.length === 0) return {};
  return {
    applied,
    messages: applyOperations(messages, applied),
    history: append(history, applied),
    envelope: { ...envelope, operations: envelope.operations.filter((operation) => !isOverride(operation)) },
  };
}

/** The operations of the run that still count: applied, passed to the next phase, or planned. */
function* everyOperation({ history, envelope, evaluation }: ChainState): Generator<ContextOperation> {
  const undone = new Set(history.undone);
  for (const operation of history.operations) if (!undone.has(operation.id)) yield operation;
  yield* envelope.operations;
  yield* evaluation?.operations ?? [];
}

/** Returns the state's changes without some operations, and the ids of those that were already applied. */
function without(
  state: ChainState,
  operations: readonly ContextOperation[],
): { readonly changes: Partial<ChainState>; readonly undone: readonly string[] } {
  const ids = new Set(operations.map(({ id }) => id));
  const others = (all: readonly ContextOperation[]) => all.filter(({ id }) => !ids.has(id));
  const undone = state.history.operations.filter(({ id }) => ids.has(id)).map(({ id }) => id);
  const history = undone.reduce(undo, state.history);
  const messages = undone.length === 0 ? state.messages : contextOf(history);
  const operationsLeft = others(state.envelope.operations);
  const isUnchanged = operationsLeft.length === state.envelope.operations.length;
  const envelope = isUnchanged ? state.envelope : { ...state.envelope, operations: operationsLeft };
  const { evaluation } = state;
  return {
    undone,
    changes: {
      history,
      messages,
      envelope,
      evaluation: evaluation && { ...evaluation, operations: others(evaluation.operations) },
    },
  };
}

/** Whether other messages are visible after the changes; operations that are only planned have no effect yet. */
const changesContent = (state: ChainState, { envelope, history }: Partial<ChainState>): boolean =>
  (envelope ?? state.envelope) !== state.envelope || (history ?? state.history) !== state.history;

/** Drops the measures, which belong to the messages as they were: the tokens are estimated when they are needed. */
const unmeasured = ({ evaluation }: ChainState): Partial<ChainState> => ({
  measures: null,
  evaluation: evaluation && { ...evaluation, measures: estimatedMeasures([]) },
});

const byId = memoize(
  (messages: readonly Message[]) => new Map(messages.toReversed().map((message) => [message.id, message])),
);

/** Returns the message as the next phase sees it. Reads only the operations on it, so that many overrides stay linear. */
function visibleMessage({ messages, envelope }: ChainState, messageId: string): Message | undefined {
  const base = byId(messages).get(messageId);
  const changes = envelope.operations.filter(({ target }) => target === messageId);
  return applyOperations(base === undefined ? [] : [base], changes)[0];
}
