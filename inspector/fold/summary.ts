import { followsPhases } from '../../machines/contracts/phase.ts';
import { explanationOf, type FinalAnswer } from '../../machines/contracts/synthesis.ts';
import type { RunLog } from '../wire/run-log.ts';
import { answerUpTo, entryAt, runStart } from './entry-index.ts';
import { lowConfidence } from './explain.ts';
import { capitalize, formatScore, messageText, pluralize } from './format.ts';
import { decisionReason, limitWords } from './guard-words.ts';
import type { RunFold } from './run-fold.ts';
import { failedPhaseWords, isNoAnswer, reasonWords } from './run-list.ts';
import { RETRIEVAL } from './selection.ts';
import { lastUpTo } from './sorted.ts';
import { type Spans, usageOf } from './spans.ts';

/** The figures of a run up to an entry: completed cycles, started calls. The calls that a fork has copied, before `forkedAt`, count only as `reused`. `hasNoUsage`: no call has reported its tokens. The cost is null if unknown. */
export function figuresOf(log: RunLog, fold: RunFold, count: number, forkedAt = fold.timeLine.forkStart) {
  const { spans, timeLine } = fold;
  const { attempts, currency } = spans;
  const begun = attempts.filter(({ from }) => from < count);
  // A call that was in flight at the fork may be made again: the same rule as in the trace.
  const copiedTo = forkedAt === null ? -1 : (runStart(log)?.forkedFrom?.seq ?? forkedAt);
  const started = begun.filter(({ from }) => from > copiedTo);
  const copied = usageOf(begun.slice(0, begun.length - started.length), null);
  const ended = started.filter(({ usage, to }) => usage !== null && to !== null && to < count);
  const metadata = answerUpTo(log, fold, count - 1)?.answer.metadata;
  const total = forkedAt === null ? metadata : undefined;
  const used = total?.usage ?? { ...usageOf(ended, currency), modelCalls: started.length };
  return {
    ms: count === 0 ? 0 : timeLine.wallMs(count - 1) - timeLine.copiedStopMs,
    cycles: metadata?.cycles ?? completedCycles(log, fold, count),
    calls: used.modelCalls,
    reused: begun.length - started.length,
    reusedTokens: copied.inputTokens + copied.outputTokens,
    failedCalls: started.filter(({ failure }) => failure !== null).length,
    unfinishedCalls: metadata === undefined ? started.filter(({ to }) => to === null || to >= count).length : 0,
    hasNoUsage: metadata === undefined && started.length > 0 && ended.length === 0,
    tokens: used.inputTokens + used.outputTokens,
    inputTokens: used.inputTokens,
    outputTokens: used.outputTokens,
    isEstimated: used.estimated,
    cost: total?.cost ?? (currency === null || used.cost === null ? null : { amount: used.cost, currency }),
  };
}

/** How many events the actors of a system received from outside, how many of its approvals were answered, and how many events its machines ignored. */
export function eventCounts({ actors }: Pick<RunFold, 'actors'>) {
  const external = actors.flatMap(({ events }) => events.filter(({ isExternal }) => isExternal));
  const answers = external.filter(({ type }) => type === 'approval.given').length;
  const events = actors.flatMap((actor) => (actor.machine === null ? [] : actor.events));
  return {
    received: external.length - answers,
    answers,
    ignored: events.filter((event) => event.ignored !== null).length,
  };
}

/** As in the answer: a cycle is complete with Yield's reply, or with a decision of the user. */
function completedCycles(log: RunLog, { spans, entries }: RunFold, count: number): number {
  const yielded = spans.phases.findLast(
    ({ phase, failure, to }) => phase === 'yield' && failure === null && to !== null && to < count,
  );
  const decided = entryAt(log, lastUpTo(entries.of('decision'), count - 1), 'decision');
  return Math.max(yielded?.cycle ?? 0, decided?.decision.cycle ?? 0);
}

const synthesisOf = ({ attempts }: Spans) =>
  attempts.findLast(({ task, reply }) => task === 'synthesis' && reply !== null) ?? null;

/** The attempt that wrote the answer: that of the synthesis or, if there is none, the last one that is not for a value. Null if no model wrote it. */
export const answerAttempt = (spans: Spans, { metadata }: FinalAnswer) =>
  metadata.synthesis.writtenBy === 'model'
    ? (synthesisOf(spans) ?? spans.attempts.findLast(({ task }) => task !== 'value') ?? null)
    : null;

/** The id of the model that wrote the answer; null if it is unknown, or if no model did. */
export function writerOf(log: RunLog, { spans }: RunFold, answer: FinalAnswer): string | null {
  const [start, writing] = [runStart(log), answerAttempt(spans, answer)];
  if (start === null || writing === null) return null;
  return [start.product.modelId, ...start.product.fallbackModelIds][writing.model] ?? null;
}

/** Why the answer has less confidence than its writer stated, in a few words and in full; null if it does not. */
export function confidenceCap(log: RunLog, { spans }: RunFold, { confidence, metadata }: FinalAnswer) {
  const event = entryAt(log, synthesisOf(spans)?.reply, 'activity-event')?.event;
  const value = event?.type === 'reply.ended' ? event.reply.value : null;
  const { confidence: stated } = Object(value) as { readonly confidence?: unknown };
  if (metadata.synthesis.writtenBy !== 'model' || typeof stated !== 'number' || stated <= confidence) return null;
  const isNothing = metadata.reason === 'no_evidence';
  return {
    short: isNothing ? 'the answer says that nothing was found' : 'the evidence does not support the answer',
    full: `The model stated ${formatScore(stated, confidence)}. The confidence is capped at ${formatScore(confidence, stated)} (thresholds.ungroundedConfidence), because ${isNothing ? 'the answer says that nothing was found' : 'the evidence supports less of the answer than thresholds.grounding requires'}.`,
  };
}

/** Returns the failed phase that degraded an answer. */
const failedPhaseOf = ({ reasons, metadata }: FinalAnswer) =>
  reasons[0]?.code === 'incomplete_state' ? metadata.failures.at(-1) : undefined;

const CALL_REASONS: readonly string[] = ['incomplete_state', 'model_unavailable', 'synthesis_failed'];

/** The failed model call that degraded an answer; undefined if there is none. */
export function failedCallOf({ attempts }: Spans, { status, reasons, metadata }: FinalAnswer) {
  const phase = metadata.failures.at(-1)?.phase;
  const failed = attempts.filter(({ failure }) => failure !== null);
  const isCause = status === 'degraded' && CALL_REASONS.includes(reasons[0]?.code ?? '');
  return isCause ? (failed.findLast(({ task }) => task === phase) ?? failed.at(-1)) : undefined;
}

/** Why a run has no answer, with each error once: `Yield failed: connection refused. No cycle was completed.` */
export function noAnswerText({ answerText, metadata }: FinalAnswer): string {
  const why = answerText
    .replace(/^No answer was reached\. /u, '')
    .replace(/^A phase failed: (\w+)/u, (_, phase: string) => `${capitalize(phase)} failed`);
  const error = `: ${metadata.synthesis.error}`;
  const last = why.lastIndexOf(error);
  if (why.indexOf(error) === last) return messageText(why);
  const before = why.slice(0, last).replace(/ because its call failed$/u, '');
  return messageText(`${before} for the same reason${why.slice(last + error.length)}`);
}

/** How far an answer can be trusted: `Completed`, with the confidence of the answer itself and what supports it. */
export function verdictOf(log: RunLog, fold: RunFold, answer: FinalAnswer) {
  const { status, reasons, confidence, grounding, sources } = answer;
  const isNone = isNoAnswer(answer.answerText, confidence);
  const cap = confidenceCap(log, fold, answer);
  const [first] = status === 'degraded' ? reasons : [];
  const failed = failedPhaseOf(answer);
  const failedWords = failed && failedPhaseWords({ ...failed, message: failed.failure.message });
  const why = first === undefined ? '' : `: ${isNone ? 'no answer' : (failedWords ?? reasonWords(first.code))}`;
  const source = sources.length > 0 ? 'its sources' : 'the results of the run';
  const support =
    grounding === null
      ? 'not checked against sources'
      : grounding.score < grounding.threshold
        ? `not supported by ${source}`
        : grounding.unsupported.length > 0
          ? `partly unsupported: all but ${pluralize(grounding.unsupported.length, 'sentence')} supported by ${source}`
          : `supported by ${source}`;
  // Said once: the cap and the reason may name the same fact.
  const isSaid = cap !== null || first?.code === 'not_grounded' || first?.code === 'no_evidence';
  const isLow = first?.code === 'low_confidence';
  const note = cap !== null ? `, capped: ${cap.short}` : isLow ? `, ${limitWords(lowConfidence(first))}` : '';
  return {
    word: `${capitalize(status)}${why}`,
    // Support would read as praise of an answer that is unsure.
    trust: isNone ? [] : [`confidence ${formatScore(confidence)}${note}`, ...(isSaid || isLow ? [] : [support])],
    title: cap?.full,
  };
}

/** The degradation reason of each limit rule. */
const REASON_OF_RULE: Readonly<Record<string, string | undefined>> = {
  cycleLimitReached: 'cycle_limit_reached',
  budgetExhausted: 'budget_exhausted',
};

/** How a run ended, or null if it has no answer: `where` it ended and `why`, with the numbers that were compared (may be empty); the reasons why the answer is degraded, without what the verdict says; the entry that ended it. */
interface Ending {
  readonly because: string;
  readonly where: string;
  readonly why: string;
  readonly seq: number | null;
}

export function endingOf(log: RunLog, fold: RunFold, count: number): Ending | null {
  const answered = answerUpTo(log, fold, count - 1);
  if (answered === null) return null;
  const { answer, seq: end } = answered;
  const { decision } = answer.metadata;
  if (decision?.complete !== true) {
    const isFinished = fold.transitions.distinct.some(
      ({ event, target, seqs }) => event === 'run.finished' && target.length > 0 && (seqs[0] ?? count) < count,
    );
    // The text of the answer contains it.
    const because = isNoAnswer(answer.answerText, answer.confidence) ? '' : explanationOf(answer);
    const why = isFinished ? 'The user finished the run.' : '';
    if (why === '' && because === '' && answer.metadata.cycles === 0) return null;
    return { because, where: `Ended ${lastPhaseInWords(fold)}`, why, seq: null };
  }
  const { confidence, above } = decision.inputs;
  const isConfident = decision.rule === 'confidenceReached' && typeof confidence === 'number';
  const cap = confidenceCap(log, fold, answer);
  const reason = isConfident
    ? `The draft’s confidence ${formatScore(confidence)} was above ${formatScore(Number(above ?? runStart(log)?.input.thresholds.confidence))}`
    : decisionReason(decision, runStart(log)?.input.thresholds ?? null);
  const isDegraded = answer.reasons.some(({ code }) => code === REASON_OF_RULE[decision.rule]);
  const limitNote =
    REASON_OF_RULE[decision.rule] === undefined || isDegraded
      ? ''
      : ' Another rule would have completed the run, so the limit does not degrade the answer.';
  // Shown elsewhere: a limit and, in the verdict, a low confidence with its cause.
  const [first] = answer.reasons;
  const said = new Set<string | undefined>([
    REASON_OF_RULE[decision.rule],
    ...(decision.rule === 'loopDetected' ? ['loop_detected'] : []),
    ...(first?.code === 'low_confidence' ? ['low_confidence'] : []),
    ...(cap === null ? [] : ['low_confidence', 'not_grounded', 'no_evidence']),
  ]);
  return {
    because: explanationOf({ reasons: answer.reasons.filter(({ code }) => !said.has(code)) }),
    where: `Ended in cycle ${decision.cycle}`,
    why: `${reason}.${limitNote}`,
    seq: lastUpTo(fold.entries.of('decision'), end) ?? null,
  };
}

export function lastPhaseInWords({ spans }: RunFold): string {
  const phase = spans.phases.at(-1);
  return phase === undefined ? 'before its first phase' : `in ${capitalize(phase.phase)}, cycle ${phase.cycle}`;
}

export function activityOf(fold: RunFold): string {
  const { phases, calls } = fold.spans;
  const [phase, call] = [phases.at(-1), calls.findLast(({ to }) => to === null)];
  const where = phase === undefined ? 'Starting' : `${capitalize(phase.phase)}, cycle ${phase.cycle}`;
  if (call === undefined) return where;
  if (call.source === RETRIEVAL) return `${where}: searching the documents`;
  if (call.source === 'executeCapability') return `${where}: running ${call.subject}`;
  if (followsPhases(call.subject)) return `${where}: the model is writing the answer`;
  return call.subject === '' ? where : `${where}: the model is replying`;
}
