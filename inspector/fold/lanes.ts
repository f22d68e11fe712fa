import type { Failure } from '../../machines/contracts/failure.ts';
import { lastName } from './chart-index.ts';
import type { RunFold } from './run-fold.ts';
import { firstIndexWhere } from './sorted.ts';
import type { AttemptSpan, CallSpan, CapabilitySpan, PhaseSpan } from './spans.ts';
import { MAX_GAP_MS } from './time-line.ts';

/** A row of the timeline: the activity of one actor. */
export interface Lane {
  readonly name: string;
  /** Drawn on top of each other, in this order. */
  readonly strips: readonly Strip[];
}

/** Reads a model's reply; shown as an attempt instead. */
const MODEL_ACTOR = 'readReply';

/**
 * The first three lanes are always there, so that nothing moves during a run; lanes of other actors are added below.
 */
export function createLanes(fold: RunFold, kind: 'run' | 'system'): { lanes(): readonly Lane[] } {
  const { spans, entries, transitions } = fold;
  const loops: PhaseSpan[] = [];
  const waits: Wait[] = [];
  const ports = new Map<string, CallSpan[]>();
  const taken = { phases: 0, calls: 0, waits: 0 };
  const fixedLanes: readonly Lane[] = [
    { name: 'chain', strips: [phaseStrip(spans.phases)] },
    { name: 'action', strips: [loopStrip(loops), capabilityStrip(spans.capabilities)] },
    { name: 'attempts', strips: [attemptStrip(spans.attempts), waitStrip(waits, fold)] },
  ];
  const machineLanes: Lane[] = [];
  const callLanes: Lane[] = [];

  function takeCall(call: CallSpan): void {
    if (call.actor === MODEL_ACTOR) return;
    const name = laneName(call.actor);
    const cached = ports.get(name);
    if (cached !== undefined) return void cached.push(call);
    const calls = [call];
    ports.set(name, calls);
    callLanes.push({ name, strips: [callStrip(calls)] });
  }

  function takeRetry(seq: number): void {
    for (let index = firstIndexWhere(spans.attempts, ({ from }) => from > seq) - 1; index >= 0; index -= 1) {
      const attempt = spans.attempts[index];
      if (attempt?.backOff?.at === seq) return void waits.push({ from: seq, attempt, index });
    }
  }

  function takeNew(): void {
    for (const phase of spans.phases.slice(taken.phases)) if (phase.phase === 'action') loops.push(phase);
    taken.phases = spans.phases.length;
    for (const call of spans.calls.slice(taken.calls)) takeCall(call);
    taken.calls = spans.calls.length;
    const retries = entries.of('attempt-retry');
    for (const seq of retries.slice(taken.waits)) takeRetry(seq);
    taken.waits = retries.length;
  }

  return {
    lanes() {
      takeNew();
      if (kind === 'run') return [...fixedLanes, ...callLanes];
      const names = transitions.machines;
      for (const name of names.slice(machineLanes.length))
        machineLanes.push({ name, strips: [machineStrip(fold, name)] });
      return [...machineLanes, ...callLanes];
    },
  };
}

/** Activities that share a lane. Any other has its own lane: `weighWords` becomes `weigh words`. */
const SHARED: Readonly<Record<string, string>> = {
  retrievePassages: 'retrieval',
  validateArguments: 'capability',
  executeCapability: 'capability',
  decideContinuation: 'capability',
  recallSession: 'session',
  appendTurn: 'session',
  measureContext: 'embeddings',
  compareAnswers: 'embeddings',
  gradeAnswer: 'grading',
  validateReply: 'validation',
};

const laneName = (actor: string): string => SHARED[actor] ?? actor.replace(/([A-Z])/gu, ' $1').toLowerCase();

/** The look of a bar. */
export type Tone = PhaseSpan['phase'] | 'loop' | 'attempt' | 'wait' | 'call' | 'capability' | 'state';

/** What a bar shows; `to` is the last entry, null while in progress. */
export interface Bar {
  readonly from: number;
  readonly to: number | null;
  readonly label: string;
  readonly tone: Tone;
  /** Why it failed, in one line; null if it did not. */
  readonly failure: string | null;
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

const phaseStrip = (phases: readonly PhaseSpan[]): Strip =>
  stripOf(phases, ({ phase, to, failure }) => ({ to, label: phase, tone: phase, failure: failureText(failure) }));

const loopStrip = (phases: readonly PhaseSpan[]): Strip =>
  stripOf(phases, ({ to, failure }) => ({ to, label: 'action loop', tone: 'loop', failure: failureText(failure) }));

const capabilityStrip = (capabilities: readonly CapabilitySpan[]): Strip =>
  stripOf(capabilities, ({ capability, index, to, failure }) => ({
    to,
    label: `${capability} ${index + 1}`,
    tone: 'capability',
    failure: failureText(failure),
  }));

const attemptStrip = (attempts: readonly AttemptSpan[]): Strip =>
  stripOf(attempts, ({ task, attempt, to, failure }) => ({
    to,
    label: `${task} ${attempt}`,
    tone: 'attempt',
    failure: failureText(failure),
  }));

const callStrip = (calls: readonly CallSpan[]): Strip =>
  stripOf(calls, ({ actor, subject, outcome, to }) => ({
    to,
    label: subject || actor,
    tone: 'call',
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
  return stripOf(waits, (wait) => ({
    to: endOf(wait),
    tone: 'wait',
    failure: null,
    label: `wait ${Math.round(wait.attempt.backOff?.inMs ?? 0)} ms`,
  }));
}

/** The successive states of a machine. */
function machineStrip({ transitions }: RunFold, machine: string): Strip {
  const positions = () => transitions.positionsOf(machine);
  const from = (index: number): number => positions()[index]?.since ?? 0;
  return {
    get size() {
      return positions().length;
    },
    from,
    bar: (index) => ({
      from: from(index),
      to: positions()[index + 1]?.since ?? null,
      tone: 'state',
      failure: null,
      label: (positions()[index]?.targets ?? []).map(lastName).join(', ') || machine,
    }),
  };
}
