import type { RunFold } from './run-fold.ts';
import { firstWhere } from './sorted.ts';
import type { CallSpan, PhaseSpan } from './spans.ts';
import {
  attemptStrip,
  callStrip,
  capabilityStrip,
  loopStrip,
  machineStrip,
  phaseStrip,
  type Strip,
  type Wait,
  waitStrip,
} from './strips.ts';

/** A row of the timeline: what one actor did. */
export interface Lane {
  readonly name: string;
  /** Drawn one over the other, in this order. */
  readonly strips: readonly Strip[];
}

/** A model's reply is read here; the attempts show that. */
const MODEL_PORT = 'readReply';

/** The first three stand where they are from the beginning, so that nothing moves while a run goes on; ports come below as they are asked. */
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
