import type { Failure } from '../../machines/contracts/failure.ts';
import type { Phase } from '../../machines/contracts/phase.ts';
import { lastName } from './chart-index.ts';
import { capitalize, formatDuration, humanize } from './format.ts';
import type { RunFold } from './run-fold.ts';
import type { Selection } from './selection.ts';
import { countStartedBy } from './sorted.ts';
import type { AttemptSpan, CallSpan, CapabilitySpan, CycleSpan, PhaseSpan } from './spans.ts';
import { MAX_GAP_MS } from './time-line.ts';

/** Activities that share a lane. Any other has its own: `weighWords` becomes `Weigh words`. */
const SHARED: Readonly<Record<string, string>> = {
  retrievePassages: 'Search',
  validateArguments: 'Tools',
  decideContinuation: 'Tools',
  recallSession: 'Session',
  appendTurn: 'Session',
  measureContext: 'Embeddings',
  compareAnswers: 'Embeddings',
  gradeAnswer: 'Grading',
  validateReply: 'Validation',
};

const laneName = (actor: string): string =>
  (Object.hasOwn(SHARED, actor) ? SHARED[actor] : null) ?? capitalize(humanize(actor));

export interface Lane {
  readonly name: string;
  /** How deep it is nested: phases are part of cycles, model calls and tools of phases. */
  readonly depth: number;
  /** Drawn on top of each other, in this order. */
  readonly strips: readonly Strip[];
}

/** Shown as attempts and capabilities instead. */
const SHOWN_OTHERWISE: ReadonlySet<string> = new Set(['readReply', 'callAhead', 'executeCapability']);

/**
 * Cycles, phases, and what is part of a phase. These lanes are always there, so that nothing moves during a run; lanes of
 * other activities are added below.
 */
export function createLanes(fold: RunFold, kind: 'run' | 'system'): { lanes(): readonly Lane[] } {
  const { spans, entries, transitions } = fold;
  const waits: Wait[] = [];
  const taken = { calls: 0, waits: 0 };
  const searches: CallSpan[] = [];
  const toolCalls: CallSpan[] = [];
  const activities = new Map([
    ['Search', searches],
    ['Tools', toolCalls],
  ]);
  const fixedLanes: readonly Lane[] = [
    {
      name: 'Cycles',
      depth: 0,
      strips: [
        cycleStrip(spans.cycles),
        markStrip(() => entries.of('decision'), 'decision'),
        markStrip(() => entries.of('delivery'), 'event'),
      ],
    },
    { name: 'Phases', depth: 1, strips: [phaseStrip(spans.phases)] },
    { name: 'Model calls', depth: 2, strips: [attemptStrip(spans.attempts), waitStrip(waits, fold)] },
    { name: 'Search', depth: 2, strips: [callStrip(searches)] },
    { name: 'Tools', depth: 2, strips: [callStrip(toolCalls), capabilityStrip(spans.capabilities)] },
  ];
  const machineLanes: Lane[] = [];
  const activityLanes: Lane[] = [];

  function takeCall(call: CallSpan): void {
    if (SHOWN_OTHERWISE.has(call.actor)) return;
    const name = laneName(call.actor);
    const known = activities.get(name);
    if (known !== undefined) return void known.push(call);
    const calls = [call];
    activities.set(name, calls);
    activityLanes.push({ name, depth: kind === 'run' ? 2 : 0, strips: [callStrip(calls)] });
  }

  function takeRetry(seq: number): void {
    for (let index = countStartedBy(spans.attempts, seq) - 1; index >= 0; index -= 1) {
      const attempt = spans.attempts[index];
      if (attempt?.backOff?.at === seq) return void waits.push({ from: seq, attempt, index });
    }
  }

  function takeNew(): void {
    for (const call of spans.calls.slice(taken.calls)) takeCall(call);
    taken.calls = spans.calls.length;
    const retries = entries.of('attempt-retry');
    for (const seq of retries.slice(taken.waits)) takeRetry(seq);
    taken.waits = retries.length;
  }

  return {
    lanes() {
      takeNew();
      if (kind === 'run') return [...fixedLanes, ...activityLanes];
      const names = transitions.machines;
      for (const name of names.slice(machineLanes.length))
        machineLanes.push({ name, depth: 0, strips: [machineStrip(fold, name)] });
      return [...machineLanes, ...activityLanes];
    },
  };
}

/** The look of a bar: the color of its phase, or that of its kind. */
export type Tone = Phase | 'synthesis' | 'cycle' | 'wait' | 'other' | 'state' | 'decision' | 'event';

/** What a bar shows; `to` is the last entry, null while in progress. */
export interface Bar {
  readonly kind: 'cycle' | 'wait' | 'event' | 'call' | Exclude<Selection['kind'], 'entry' | 'operations'>;
  readonly from: number;
  readonly to: number | null;
  /** In full, for the card. */
  readonly title: string;
  /** On the bar, if it fits. */
  readonly label: string;
  /** On the bar if the label does not fit. */
  readonly short?: string;
  readonly tone: Tone;
  /** Why it failed, in one line; null if it did not. */
  readonly failure: string | null;
  readonly isRetry?: boolean;
  /** Of a state: its id in the chart. */
  readonly stateId?: string | undefined;
  /** Of a model call. */
  readonly attempt?: AttemptSpan;
}

/** Bars of one kind, in start order. The list grows with the run. */
export interface Strip {
  readonly size: number;
  from(index: number): number;
  bar(index: number): Bar;
}

function stripOf<Item extends { readonly from: number }>(
  items: readonly Item[],
  barOf: (item: Item, index: number) => Omit<Bar, 'from'>,
): Strip {
  const from = (index: number): number => items[index]?.from ?? 0;
  return {
    get size() {
      return items.length;
    },
    from,
    bar: (index) => ({ from: from(index), ...barOf(items[index] as Item, index) }),
  };
}

const failureText = (failure: Failure | null): string | null =>
  failure === null ? null : `${failure.code}: ${failure.message}`;

const cycleStrip = (cycles: readonly CycleSpan[]): Strip =>
  stripOf(cycles, ({ cycle, to }) => {
    const title = `Cycle ${cycle}`;
    return { kind: 'cycle', to, title, label: title, short: String(cycle), tone: 'cycle', failure: null };
  });

const phaseStrip = (phases: readonly PhaseSpan[]): Strip =>
  stripOf(phases, ({ phase, to, failure }) => {
    const title = capitalize(phase);
    return { kind: 'phase', to, title, label: title, tone: phase, failure: failureText(failure) };
  });

const capabilityStrip = (capabilities: readonly CapabilitySpan[]): Strip =>
  stripOf(capabilities, ({ capability, to, error }) => ({
    kind: 'capability',
    to,
    title: `Tool ${capability}`,
    label: capability,
    tone: 'action',
    failure: error,
  }));

/** Model calls are numbered over the whole run. */
const attemptStrip = (attempts: readonly AttemptSpan[]): Strip =>
  stripOf(attempts, (attempt, index) => {
    const name = attempt.attempt > 1 ? `${attempt.task}, attempt ${attempt.attempt}` : attempt.task;
    return {
      kind: 'attempt',
      to: attempt.to,
      title: `Model call ${index + 1}: ${name}`,
      label: `${index + 1} ${name}`,
      short: String(index + 1),
      tone: attempt.task === 'synthesis' ? 'synthesis' : (attempt.phase ?? 'other'),
      failure: failureText(attempt.failure),
      isRetry: attempt.attempt > 1,
      attempt,
    };
  });

const callStrip = (calls: readonly CallSpan[]): Strip =>
  stripOf(calls, ({ actor, subject, phase, outcome, to }) => ({
    kind: actor === 'retrievePassages' ? 'retrieval' : 'call',
    to,
    title: capitalize(humanize(actor)) + (subject === '' ? '' : `: ${subject}`),
    label: subject || humanize(actor),
    tone: phase ?? 'other',
    failure: outcome === 'failed' ? 'the call failed' : null,
  }));

/** The wait after an attempt: from the retry entry to the next attempt. */
interface Wait {
  readonly from: number;
  readonly attempt: AttemptSpan;
  /** The index of that attempt. */
  readonly index: number;
}

/** How far to search for the next attempt: parallel attempts are in between. */
const NEAR = 32;

function waitStrip(waits: readonly Wait[], { spans: { attempts, phases }, timeLine }: RunFold): Strip {
  const endOf = ({ from, attempt, index }: Wait): number | null => {
    const next = attempts.slice(index + 1, index + NEAR).find(({ attemptId }) => attemptId === attempt.attemptId);
    if (next !== undefined) return next.from;
    // Without a next attempt the wait was aborted: it lasted at most until the end of its phase.
    const dueAt = timeLine.entryAt(timeLine.drawnMs(from) + Math.min(attempt.backOff?.inMs ?? 0, MAX_GAP_MS));
    const phase = phases.at(-1);
    return phase?.to === null && phase.from <= from ? null : Math.max(from, dueAt);
  };
  return stripOf(waits, (wait) => {
    const label = `wait ${formatDuration(wait.attempt.backOff?.inMs ?? 0)}`;
    return { kind: 'wait', to: endOf(wait), tone: 'wait', failure: null, title: `Waiting to retry: ${label}`, label };
  });
}

/** Decisions and events sent to the run: moments without a duration. */
function markStrip(seqs: () => readonly number[], kind: 'decision' | 'event'): Strip {
  const title = kind === 'decision' ? 'Decision' : 'Event sent to the run';
  return {
    get size() {
      return seqs().length;
    },
    from: (index) => seqs()[index] ?? 0,
    bar(index) {
      const seq = seqs()[index] ?? 0;
      return { kind, from: seq, to: seq, title, label: '', tone: kind, failure: null };
    },
  };
}

function machineStrip({ transitions }: RunFold, machine: string): Strip {
  const positions = () => transitions.positionsOf(machine);
  const from = (index: number): number => positions()[index]?.since ?? 0;
  return {
    get size() {
      return positions().length;
    },
    from,
    bar(index) {
      const targets = positions()[index]?.targets ?? [];
      const label = targets.map(lastName).join(', ') || machine;
      const to = positions()[index + 1]?.since ?? null;
      return {
        kind: 'state',
        from: from(index),
        to,
        tone: 'state',
        failure: null,
        title: label,
        label,
        stateId: targets[0],
      };
    },
  };
}
