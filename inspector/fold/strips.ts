import type { Failure } from '../../machines/contracts/failure.ts';
import type { RunFold } from './run-fold.ts';
import type { AttemptSpan, CallSpan, CapabilitySpan, PhaseSpan } from './spans.ts';
import { lastName } from './state-tree.ts';

/** What a bar is drawn as. A phase has its own. */
export type Tone = PhaseSpan['phase'] | 'loop' | 'attempt' | 'wait' | 'call' | 'capability' | 'state';

/** Things of one kind that last, in the order in which they begin. It grows with the run. */
export interface Strip {
  readonly size: number;
  from(place: number): number;
  /** The entry at which it ends; null while it goes on. */
  to(place: number): number | null;
  label(place: number): string;
  tone(place: number): Tone;
  /** Why it failed, in one line; null where it did not. */
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

export const phaseStrip = (phases: readonly PhaseSpan[]): Strip =>
  stripOf(
    phases,
    ({ phase }) => phase,
    ({ phase }) => phase,
  );

export const loopStrip = (phases: readonly PhaseSpan[]): Strip =>
  stripOf(
    phases,
    () => 'action loop',
    () => 'loop',
  );

export const capabilityStrip = (capabilities: readonly CapabilitySpan[]): Strip =>
  stripOf(
    capabilities,
    ({ capability, index }) => `${capability} ${index + 1}`,
    () => 'capability',
  );

export const attemptStrip = (attempts: readonly AttemptSpan[]): Strip =>
  stripOf(
    attempts,
    ({ task, attempt }) => `${task} ${attempt}`,
    () => 'attempt',
  );

/** A call that broke says so by its outcome. */
export const callStrip = (calls: readonly CallSpan[]): Strip => ({
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

/** The wait after an attempt: from the entry that says so to the attempt that follows. */
export interface Wait {
  readonly from: number;
  readonly attempt: AttemptSpan;
  /** The place of that attempt among all. */
  readonly place: number;
}

/** How far to look for what follows: attempts that go on at the same time stand between. */
const NEAR = 32;

export function waitStrip(waits: readonly Wait[], { spans: { attempts, phases }, timeLine }: RunFold): Strip {
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
      // Where none follows, the wait was broken off: it lasted no longer than its phase, or than it was to be.
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
export function machineStrip({ transitions }: RunFold, machine: string): Strip {
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
