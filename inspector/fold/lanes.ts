import type { Failure } from '../../machines/contracts/failure.ts';
import { lastName } from './chart-index.ts';
import type { RunFold } from './run-fold.ts';
import { firstWhere } from './sorted.ts';
import type { AttemptSpan, CallSpan, CapabilitySpan, PhaseSpan } from './spans.ts';

/** A row of the timeline: what one actor did. */
export interface Lane {
  readonly name: string;
  /** Drawn one over the other, in this order. */
  readonly strips: readonly Strip[];
}

/** A model's reply is read here; the attempts show that. */
const MODEL_PORT = 'readReply';

/**
 * The first three lanes are always there, so that nothing moves during a run; lanes of other actors are added below.
 */
export function createLanes(fold: RunFold, kind: 'run' | 'system'): { lanes(): readonly Lane[] } {
  const { spans, places, transitions } = fold;
  const loops: PhaseSpan[] = [];
  const waits: Wait[] = [];
  const ports = new Map<string, CallSpan[]>();
  const taken = { phases: 0, calls: 0, waits: 0 };
  const own: readonly Lane[] = [
    { name: 'chain', strips: [phaseStrip(spans.phases)] },
    { name: 'action', strips: [loopStrip(loops), capabilityStrip(spans.capabilities)] },
    { name: 'attempts', strips: [attemptStrip(spans.attempts), waitStrip(waits, fold)] },
  ];
  const machines: Lane[] = [];
  const asked: Lane[] = [];

  function takeCall(call: CallSpan): void {
    if (call.port === MODEL_PORT) return;
    const name = laneName(call.port);
    const there = ports.get(name);
    if (there !== undefined) return void there.push(call);
    const calls = [call];
    ports.set(name, calls);
    asked.push({ name, strips: [callStrip(calls)] });
  }

  function takeRetry(seq: number): void {
    for (let place = firstWhere(spans.attempts, ({ from }) => from > seq) - 1; place >= 0; place -= 1) {
      const attempt = spans.attempts[place];
      if (attempt?.backOff?.at === seq) return void waits.push({ from: seq, attempt, place });
    }
  }

  function takeNew(): void {
    for (const phase of spans.phases.slice(taken.phases)) if (phase.phase === 'action') loops.push(phase);
    taken.phases = spans.phases.length;
    for (const call of spans.calls.slice(taken.calls)) takeCall(call);
    taken.calls = spans.calls.length;
    const retries = places.of('attempt-retry');
    for (const seq of retries.slice(taken.waits)) takeRetry(seq);
    taken.waits = retries.length;
  }

  return {
    lanes() {
      takeNew();
      if (kind === 'run') return [...own, ...asked];
      const names = transitions.machines;
      for (const name of names.slice(machines.length)) machines.push({ name, strips: [machineStrip(fold, name)] });
      return [...machines, ...asked];
    },
  };
}

/** Ports that are about one thing share a lane; any other has its own: `weighWords` is read as `weigh words`. */
const SHARED: Readonly<Record<string, string>> = {
  retrievePassages: 'retrieval',
  validateArguments: 'capability',
  executeCapability: 'capability',
  decideContinuation: 'capability',
  recallSession: 'session',
  appendTurn: 'session',
  measureContext: 'embeddings',
  compareAnswers: 'embeddings',
  validateReply: 'validation',
};

const laneName = (port: string): string => SHARED[port] ?? port.replace(/([A-Z])/gu, ' $1').toLowerCase();

/** What a bar is drawn as. A phase has its own. */
export type Tone = PhaseSpan['phase'] | 'loop' | 'attempt' | 'wait' | 'call' | 'capability' | 'state';

/** Things of one kind that last, in the order in which they begin. It grows with the run. */
export interface Strip {
  readonly size: number;
  from(place: number): number;
  /** The last entry; null while it lasts. */
  to(place: number): number | null;
  label(place: number): string;
  tone(place: number): Tone;
  /** Why it failed, in one line; null if it did not. */
  failure(place: number): string | null;
}

interface Lasting {
  readonly from: number;
  readonly to: number | null;
  readonly failure: Failure | null;
}

const textOf = (failure: Failure | null | undefined): string | null =>
  failure ? `${failure.code}: ${failure.message}` : null;

function stripOf<Item extends Lasting>(
  items: readonly Item[],
  label: (item: Item) => string,
  tone: (item: Item) => Tone,
): Strip {
  return {
    get size() {
      return items.length;
    },
    from: (place) => items[place]?.from ?? 0,
    to: (place) => items[place]?.to ?? null,
    label: (place) => {
      const item = items[place];
      return item === undefined ? '' : label(item);
    },
    tone: (place) => {
      const item = items[place];
      return item === undefined ? 'call' : tone(item);
    },
    failure: (place) => textOf(items[place]?.failure),
  };
}

const phaseStrip = (phases: readonly PhaseSpan[]): Strip =>
  stripOf(
    phases,
    ({ phase }) => phase,
    ({ phase }) => phase,
  );

const loopStrip = (phases: readonly PhaseSpan[]): Strip =>
  stripOf(
    phases,
    () => 'action loop',
    () => 'loop',
  );

const capabilityStrip = (capabilities: readonly CapabilitySpan[]): Strip =>
  stripOf(
    capabilities,
    ({ capability, index }) => `${capability} ${index + 1}`,
    () => 'capability',
  );

const attemptStrip = (attempts: readonly AttemptSpan[]): Strip =>
  stripOf(
    attempts,
    ({ task, attempt }) => `${task} ${attempt}`,
    () => 'attempt',
  );

/** A failed call is marked by its outcome. */
const callStrip = (calls: readonly CallSpan[]): Strip => ({
  ...stripOf(
    calls,
    ({ port, subject }) => subject || port,
    () => 'call',
  ),
  get size() {
    return calls.length;
  },
  failure: (place) => (calls[place]?.outcome === 'broken' ? 'it broke' : null),
});

/** The wait after an attempt: from the retry entry to the next attempt. */
interface Wait {
  readonly from: number;
  readonly attempt: AttemptSpan;
  /** The place of that attempt among all. */
  readonly place: number;
}

/** How far to search for the next attempt: parallel attempts are in between. */
const NEAR = 32;

function waitStrip(waits: readonly Wait[], { spans: { attempts, phases }, timeLine }: RunFold): Strip {
  const following = ({ attempt, place }: Wait): number | null => {
    for (let next = place + 1; next < Math.min(attempts.length, place + NEAR); next += 1)
      if (attempts[next]?.attemptId === attempt.attemptId) return attempts[next]?.from ?? null;
    return null;
  };
  const msOf = (place: number): number => waits[place]?.attempt.backOff?.inMs ?? 0;
  return {
    get size() {
      return waits.length;
    },
    from: (place) => waits[place]?.from ?? 0,
    to(place) {
      const wait = waits[place];
      if (wait === undefined) return null;
      // Without a next attempt the wait was aborted: it lasted at most until the end of its phase.
      const next = following(wait);
      if (next !== null) return next;
      const due = timeLine.entryAt(timeLine.drawnMs(wait.from) + Math.min(msOf(place), 1_000));
      const phase = phases.at(-1);
      return phase?.to === null && phase.from <= wait.from ? null : Math.max(wait.from, due);
    },
    label: (place) => `wait ${Math.round(msOf(place))} ms`,
    tone: () => 'wait',
    failure: () => null,
  };
}

/** The places of a machine, one after the other. */
function machineStrip({ transitions }: RunFold, machine: string): Strip {
  const places = () => transitions.placesOf(machine);
  return {
    get size() {
      return places().length;
    },
    from: (place) => places()[place]?.since ?? 0,
    to: (place) => places()[place + 1]?.since ?? null,
    label: (place) => (places()[place]?.targets ?? []).map(lastName).join(', ') || machine,
    tone: () => 'state',
    failure: () => null,
  };
}
