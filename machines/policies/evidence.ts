import type { ChainState } from '../contracts/chain-state.ts';
import type { Assessment } from '../contracts/decision.ts';
import type { Thresholds } from '../contracts/limits.ts';
import type { Message } from '../contracts/message.ts';
import type { YieldReply } from '../contracts/phase-io.ts';
import { isNoAnswer } from '../heuristics/answer-fit/no-answer.ts';
import { requestKind } from '../heuristics/answer-fit/request-kind.ts';
import { claimedCompletion } from '../heuristics/claimed-completion/claimed-completion.ts';
import { groundingOf } from '../heuristics/grounding/grounding.ts';
import { unsupportedEntities } from '../heuristics/grounding/unsupported-entities.ts';
import { type DialogueTurn, SATISFIED, userSatisfaction } from '../heuristics/satisfaction/satisfaction.ts';
import { sufficiencyOf } from '../heuristics/sufficiency/sufficiency.ts';
import { FAILED } from './phase-output.ts';

type Asked = Pick<ChainState, 'request' | 'hasDocuments'>;
type Bounds = { readonly thresholds: Pick<Thresholds, 'grounding' | 'ungroundedConfidence'> };
type Held = Pick<Assessment, 'confidence' | 'informationSufficiency' | 'taskComplete' | 'evidence'>;

/**
 * What a model says of its answer, held against what was gathered [Y1]. Its confidence counts only where the answer stands there; that
 * the task is done is believed where `claimedCompletion` bears it out, or where the user says so; information sufficiency is the
 * mean of the model's number and the policy's. Where there is nothing to search and nothing was gathered, the model's word counts.
 */
export function holdAgainstEvidence(state: ChainState, messages: readonly Message[], reply: YieldReply): Held {
  const gathered = gatheredIn(messages);
  const held = isHeld(state, gathered);
  const { answer, rationale, taskComplete: claims } = reply;
  const grounding = groundingIn(state, messages, answer);
  const sufficiency = state.hasDocuments ? sufficiencyOf(state.request, gathered).score : null;
  const claim = held ? claimedCompletion({ request: state.request, answer, claims, gathered, rationale }) : null;
  const satisfaction = userSatisfaction(dialogueIn(messages)).score;
  return {
    confidence: isNoAnswer(answer)
      ? Math.min(reply.confidence, state.thresholds.ungroundedConfidence)
      : groundedConfidence(state, reply.confidence, grounding),
    informationSufficiency:
      sufficiency === null ? reply.informationSufficiency : (reply.informationSufficiency + sufficiency) / 2,
    taskComplete: (claim?.complete ?? claims) || satisfaction >= SATISFIED,
    evidence: {
      modelConfidence: reply.confidence,
      grounding,
      modelSufficiency: reply.informationSufficiency,
      sufficiency,
      claimsCompletion: claims,
      claim: claim?.score ?? null,
      satisfaction,
    },
  };
}

/**
 * How far a text stands in what was gathered, 0..1: half as far where a name or a number of it stands nowhere, whatever else does. Null
 * where there is nothing to hold it against, or in it, or it was to be made up. Where the documents were searched and gave nothing,
 * nothing stands anywhere.
 */
export function groundingIn(asked: Asked, messages: readonly Message[], text: string): number | null {
  const gathered = gatheredIn(messages);
  const kind = requestKind(asked.request);
  if (!isHeld(asked, gathered) || kind === 'writing') return null;
  const { support, unsupported } = groundingOf(text, gathered.length === 0 ? NOTHING : gathered, asked.request);
  if (support === null) return null;
  return unsupportedEntities(text, unsupported, kind).length > 0 ? support / 2 : support;
}

/** A confidence as far as the grounding lets it count. */
export function groundedConfidence({ thresholds }: Bounds, confidence: number, grounding: number | null): number {
  const isGrounded = grounding === null || grounding >= thresholds.grounding;
  return isGrounded ? confidence : Math.min(confidence, thresholds.ungroundedConfidence);
}

const NOTHING = [{ id: 'nothing', content: 'nothing' }];

const gatheredIn = (messages: readonly Message[]): readonly Message[] =>
  messages.filter(({ role, tags }) => role === 'search' && !tags.includes(FAILED));

const isHeld = ({ hasDocuments }: Pick<Asked, 'hasDocuments'>, gathered: readonly Message[]): boolean =>
  hasDocuments || gathered.length > 0;

/** What user and assistant said to each other, the request last: no phase's own notes. */
function dialogueIn(messages: readonly Message[]): readonly DialogueTurn[] {
  return messages.flatMap(({ role, phase, content }) =>
    role === 'search' || phase !== null ? [] : [{ role, content }],
  );
}
