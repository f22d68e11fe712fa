import type { TokenUsage } from '../../machines/contracts/usage.ts';
import { actorEntryNote, actorEntryTitle, entryTitle } from '../../src/chain/presentation/entry-words.ts';
import type { DurableEvent } from '../../src/durable/entries.ts';
import type { InspectedRun, RunCharts } from '../../src/inspection/wire.ts';
import type { RunLog } from '../wire/run-log.ts';
import { type ActorEntry, endReportedBy } from './actor-entries.ts';
import { earlyCallWords, earlyWords, phaseOf, searchPhase } from './call-index.ts';
import { answerUpTo } from './entry-index.ts';
import { humanizeEvent } from './explain.ts';
import { capitalize, formatDuration, humanize, pluralize } from './format.ts';
import type { RunFold } from './run-fold.ts';
import type { StatusWords } from './run-list.ts';
import type { Selection } from './selection.ts';
import { firstIndexWhere, lastStartedBy } from './sorted.ts';
import { type AttemptSpan, type PhaseSpan, usageOf } from './spans.ts';
import { hasFailed, type StepCalls, stepCalls, timesOf, toolUses } from './step.ts';
import { isIgnored, selectedCall, selectedEffect } from './system-step.ts';
import { actorName, effectWords, eventWords, lateText } from './system-words.ts';
import { excerpt, stateName } from './text.ts';
import { taskWords } from './trace-items.ts';
import { waitingAt } from './user-events.ts';

interface StepView {
  readonly run: Pick<InspectedRun, 'kind' | 'live' | 'status'>;
  readonly log: RunLog;
  readonly fold: RunFold;
  readonly charts?: RunCharts | null;
  readonly at: number;
  readonly selection: Selection;
  /** Since the latest entry, while time passes. */
  readonly sinceMs?: number;
}

interface StepTitle {
  /** `Experience, cycle 2`. */
  readonly name: string;
  /** `call 3`, `0.8 s`, `1,302 tokens`. */
  readonly facts: readonly string[];
  readonly status: { readonly word: string; readonly tone: StatusWords['tone'] } | null;
}

/**
 * Whether a run or system has stopped: whatever has no end then was stopped with it. A durable actor that waits or was interrupted still counts
 * as running, because it keeps its state while no process holds it.
 */
export const isOver = ({ kind, live, status }: StepView['run']): boolean =>
  !live &&
  status !== 'running' &&
  !(kind === 'system' && (status === 'waiting' || status === 'interrupted' || status === 'queued'));

function openStatus({ run, log, fold, at }: StepView, isCut: boolean): StepTitle['status'] {
  if (isCut) return { word: 'not finished at this point', tone: 'plain' };
  if (run.status === 'waiting' || waitingAt(log, fold, at) !== null) return { word: 'waiting', tone: 'asks' };
  return isOver(run) ? { word: 'stopped', tone: 'warn' } : { word: 'running', tone: 'plain' };
}

const STATUS = {
  valid: { word: 'valid', tone: 'ok' },
  done: { word: 'finished', tone: 'ok' },
  discarded: { word: 'failed', tone: 'bad' },
  error: { word: 'failed', tone: 'bad' },
  aborted: { word: 'stopped', tone: 'warn' },
  stopped: { word: 'stopped', tone: 'warn' },
} as const;

export function stepTitle(view: StepView): StepTitle {
  const { log, fold, at, selection } = view;
  const { kind, from, to, stateId } = selection;
  const { spans, timeLine } = fold;
  const until = Math.max(from, Math.min(to, at));
  const duration = formatDuration(timeLine.wallMs(until) - timeLine.wallMs(from));
  const calls = stepCalls(fold, selection, at);
  const call = kind === 'attempt' && calls !== null ? calls.selected.span : null;
  const earlyCall = call === null ? '' : earlyCallWords(spans, call);
  const phase =
    (call !== null && phaseOf(spans, call)) ||
    (kind === 'retrieval' ? searchPhase(spans, from) : lastStartedBy(spans.phases, earlyCall === '' ? to : from));
  const early = kind === 'retrieval' && phase !== undefined && from < phase.from ? earlyWords(spans, from) : earlyCall;
  const where =
    phase !== undefined && (phase.to === null || phase.to >= from)
      ? [`${capitalize(phase.phase)}, cycle ${phase.cycle}`, early].filter(Boolean)
      : [];
  switch (kind) {
    case 'phase':
      return {
        name: where[0] ?? 'Phase',
        facts: [
          ...callFacts(view, calls, phase?.from ?? from),
          // The trace has the time of a phase in progress.
          ...(phase?.to == null && !isOver(view.run) ? [] : [duration]),
          ...tokenFacts(view, calls, phase?.from ?? from),
        ],
        status: phaseStatus(view, phase),
      };
    case 'attempt': {
      if (calls === null) return { name: 'Model call', facts: where, status: null };
      const { span, status } = calls.selected;
      const tries = span.attempt > 1 ? [`attempt ${span.attempt}`] : [];
      const usage = calls.selected.usage;
      const tokens = usage === null ? [] : [tokenWords(usage)];
      const name = `Call ${span.number}: ${capitalize(excerpt(span.phases?.join(', ') ?? taskWords(span.task), 60))}`;
      // The trace has the time of a call in progress.
      const isOpen = status === 'running';
      const time = isOpen && (span.to !== null || !isOver(view.run)) ? [] : [duration];
      return {
        name,
        facts: [...tries, ...where, ...time, ...tokens],
        status: isOpen ? openStatus(view, span.to !== null && span.to > at) : STATUS[status],
      };
    }
    case 'decision': {
      const entry = log.entry(from);
      const decision = entry.type === 'decision' ? entry.decision : null;
      const next = decision?.nextPhase == null ? 'the answer' : capitalize(decision.nextPhase);
      return { name: `Decision after cycle ${decision?.cycle ?? 1}`, facts: [`next: ${next}`], status: null };
    }
    case 'capability':
    case 'retrieval': {
      const use = toolUses(log, fold, selection, at).find((one) => one.kind === kind);
      const name = use?.kind === 'capability' ? `Tool ${excerpt(use.name, 60)}` : 'Document search';
      if (use === undefined) return { name, facts: where, status: null };
      const facts = [...where, ...timesOf(use)];
      if (use.ms !== null)
        return { name, facts, status: hasFailed(use) ? { word: 'failed', tone: 'bad' } : { word: 'done', tone: 'ok' } };
      return { name, facts, status: use.isOver ? { word: 'no result', tone: 'warn' } : openStatus(view, to > at) };
    }
    case 'operations':
      return { name: 'Changes of the context', facts: where, status: null };
    case 'state':
      return {
        name: `State ${excerpt(stateName(stateId ?? ''), 80)}`,
        facts: [visitText(view, selection)],
        status: null,
      };
    default: {
      if (view.run.kind === 'system' && log.count > 0) return systemTitle(view);
      const answer = answerUpTo(log, fold, at);
      if (answer !== null && to >= answer.seq) {
        const { status } = answer.answer;
        const tone = status === 'completed' ? 'ok' : status === 'degraded' ? 'warn' : 'plain';
        return {
          name: 'The answer',
          facts: calls === null ? [] : [duration, ...tokenFacts(view, calls, from)],
          status: { word: status, tone },
        };
      }
      const facts = to > from ? [...where, duration] : where;
      return { name: log.count === 0 ? 'Nothing recorded' : entryName(view), facts, status: null };
    }
  }
}

/** How long a state was active: up to the entry that left it. `12 min so far` if none has. */
export function visitText(
  { run, log, fold, sinceMs = 0 }: Pick<StepView, 'run' | 'log' | 'fold' | 'sinceMs'>,
  { from, to }: Selection,
): string {
  const isOpen = to >= log.count - 1;
  const ms = fold.timeLine.passedMs(from, Math.min(to + 1, log.count - 1)) + (isOpen ? sinceMs : 0);
  return `${formatDuration(ms)}${isOpen && !isOver(run) ? ' so far' : ''}`;
}

function phaseStatus(view: StepView, phase: PhaseSpan | undefined): StepTitle['status'] {
  const { log, fold, at, selection } = view;
  if (phase?.to == null || phase.to > at) return openStatus(view, phase?.to != null);
  if (phase.failure?.stage === 'aborted' || log.entry(selection.to).type !== 'phase-end')
    return { word: 'stopped', tone: 'warn' };
  if (phase.failure !== null) return { word: 'failed', tone: 'bad' };
  const failed = toolUses(log, fold, selection, at).filter(hasFailed).length;
  return failed === 0 ? { word: 'done', tone: 'ok' } : { word: `done, ${failed} of its tools failed`, tone: 'warn' };
}

/** The calls of the step's own, not one before it that its result is from. */
const ownCalls = (calls: StepCalls | null, { fold }: StepView, from: number): StepCalls['all'] => {
  const [only] = calls?.all ?? [];
  const isBorrowed = calls?.all.length === 1 && only?.span.to != null && only.span.to < from;
  return calls === null || (isBorrowed && !startsEarly(fold, from, only.span)) ? [] : calls.all;
};

/** Whether a call before a phase is its own and started early: the phase names no other. */
const startsEarly = ({ spans }: RunFold, from: number, { attemptId }: AttemptSpan): boolean => {
  const phase = spans.phases[firstIndexWhere(spans.phases, (one) => one.from >= from)];
  return phase !== undefined && attemptId.startsWith(`s${phase.step}.`);
};

const MAX_NUMBERS = 8;

function callFacts(view: StepView, calls: StepCalls | null, from: number): readonly string[] {
  const own = ownCalls(calls, view, from);
  const [first, last] = [own[0], own.at(-1)];
  if (first === undefined || last === undefined)
    return calls === null ? ['no model call'] : [`result from call ${calls.selected.span.number}`];
  if (own.length > MAX_NUMBERS) return [`${own.length} calls from ${first.span.number} to ${last.span.number}`];
  return [`${first === last ? 'call' : 'calls'} ${own.map(({ span }) => span.number).join(', ')}`];
}

/** The tokens of a failed call are only those of its prompt. */
const tokenWords = ({ inputTokens, outputTokens }: TokenUsage): string =>
  pluralize(inputTokens + outputTokens, outputTokens === 0 ? 'prompt token' : 'token');

function tokenFacts(view: StepView, calls: StepCalls | null, from: number): readonly string[] {
  const spans = ownCalls(calls, view, from).flatMap(({ span, usage }) => (usage === null ? [] : [span]));
  if (spans.length === 0) return [];
  return [tokenWords(usageOf(spans, view.fold.spans.currency))];
}

/** An entry of an actor of any machine: an event and what it caused, or a call. */
function systemTitle(view: StepView): StepTitle {
  const { log, fold, at, selection } = view;
  const entry = log.entry(selection.from) as unknown as ActorEntry;
  const call = selectedCall(fold, selection);
  if (call !== undefined) {
    const end = call.end !== null && call.end.seq <= Math.max(at, selection.to) ? call.end : null;
    const ms = fold.timeLine.wallMs(end?.seq ?? at) - fold.timeLine.wallMs(selection.from);
    const name = `${call.child === null ? 'Call' : 'Child process'} ${excerpt(actorName(view, call.path), 80)}`;
    return {
      name,
      facts: end === null && (call.end !== null || !isOver(view.run)) ? [] : [formatDuration(ms)],
      status: end === null ? openStatus(view, call.end !== null) : STATUS[end.status],
    };
  }
  const effect = selectedEffect(fold, selection);
  if (effect !== null) {
    const name = effectWords({ log, fold, charts: view.charts ?? null }, effect.machine, selection.from);
    return { name, facts: [], status: effect.thrown && STATUS.error };
  }
  const title = actorEntryTitle(entry as unknown as DurableEvent);
  if (entry.type === 'delivery') {
    const to = entry.actor === '' ? [] : [`to ${actorName(view, entry.actor)}`];
    const from =
      entry.sender === null || endReportedBy(entry.actor, entry.event.type) !== null
        ? []
        : [`from ${actorName(view, entry.sender)}`];
    const name = excerpt(eventWords(view, entry.actor, entry.event.type), 80);
    const late = lateText(fold, entry.actor, entry.event.type, entry.seq);
    return {
      name,
      facts: [...to, ...from, ...(late === '' ? [] : [late])],
      status: isIgnored(fold, entry.seq) ? { word: 'ignored', tone: 'warn' } : null,
    };
  }
  if (entry.type === 'transition' || entry.type === 'ignored') {
    const name = excerpt(eventWords(view, entry.actor, entry.event), 80);
    // A machine raises the end of a state itself, usually without a transition for it.
    const isUnhandled = entry.type === 'ignored' && !entry.event.startsWith('xstate.done.state.');
    return {
      name,
      facts: entry.actor === '' ? [] : [`in ${actorName(view, entry.actor)}`],
      status: isUnhandled ? { word: 'ignored', tone: 'warn' } : null,
    };
  }
  // The panel has nothing else.
  const isNoted = /^(?:retried|quarantined|released)$/u.test(entry.type);
  const note = isNoted ? [excerpt(actorEntryNote(entry as DurableEvent), 200)] : [];
  const words = title ?? capitalize(humanize(entry.type.replaceAll('-', ' ')));
  return { name: excerpt(words, 80), facts: note, status: null };
}

/** An entry without a step of its own, in words. An event is named by what was sent. */
function entryName({ log, selection }: StepView): string {
  const entry = log.entry(selection.from);
  const title = entryTitle(entry);
  if (title !== null) return excerpt(title, 80);
  if (entry.type === 'delivery') return `Event: ${excerpt(humanizeEvent(entry.event.type), 80)}`;
  if (entry.type === 'transition') {
    const [source, ...targets] = [entry.source, ...entry.target].map((id) => excerpt(stateName(id), 60));
    return targets.length === 0 ? `${source} stays` : `${source} to ${targets.join(', ')}`;
  }
  if (entry.type === 'ignored') return `Ignored event: ${excerpt(humanizeEvent(entry.event), 80)}`;
  return capitalize(humanize(entry.type.replaceAll('-', ' ')));
}
