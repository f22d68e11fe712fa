import { appendFileSync } from 'node:fs';
import { afterAll, afterEach, beforeEach, vi } from 'vitest';
import {
  type ActorOptions,
  type AnyActorLogic,
  type AnyActorRef,
  type AnyStateMachine,
  createActor as createPlain,
  SimulatedClock,
} from 'xstate';
import { isMachine } from '../../src/xstate/states.ts';
import { type Scenario, verdictOn } from './verdicts.ts';

// Node 20 does not have it, and many tests use it.
if (!('withResolvers' in Promise))
  Object.assign(Promise, {
    withResolvers() {
      let settle: readonly unknown[] = [];
      const promise = new Promise((...functions) => {
        settle = functions;
      });
      return { promise, resolve: settle[0], reject: settle[1] };
    },
  });

const scenarios: Scenario[] = [];
let test = '';

beforeEach(({ task }) => {
  test = `${task.file.name.split('/').at(-1)} > ${task.name}`;
});
afterEach(() => void vi.useRealTimers());
afterAll(async () => {
  vi.restoreAllMocks();
  // Many tests of errors leave rejections behind.
  process.on('unhandledRejection', () => {});
  for (const name of ['log', 'warn', 'error'] as const) vi.spyOn(console, name).mockImplementation(() => {});
  for (const scenario of scenarios) {
    const verdict = await verdictOn(scenario);
    appendFileSync(process.env['XSTATE_VERDICTS'] as string, `${JSON.stringify({ test: scenario.test, verdict })}\n`);
  }
});

/** Creates an actor as XState does; records root machines, and the events that they and their children receive from outside. */
export function createActor(logic: AnyActorLogic, options: ActorOptions<AnyActorLogic> & { parent?: unknown } = {}) {
  if (!isMachine(logic) || options.snapshot !== undefined || options.parent !== undefined)
    return createPlain(logic, options);
  const scenario: Scenario = { test, machine: logic as AnyStateMachine, options, events: [] };
  scenarios.push(scenario);
  const known = new Set<AnyActorRef>();
  let isStarting = false;
  const { clock } = options;
  let atMs = 0;
  const isBusy = (ref: AnyActorRef): boolean => Object(ref).mailbox?._current != null;
  const actor = createPlain(logic, {
    ...options,
    inspect(event) {
      const own = options.inspect;
      if (typeof own === 'function') own(event);
      else own?.next?.(event);
      known.add(event.actorRef as AnyActorRef);
      if (event.type !== '@xstate.event' || event.sourceRef !== undefined || isStarting) return;
      if (String(event.event.type).startsWith('xstate.') || [...known].some(isBusy)) return;
      try {
        const nowMs = clock instanceof SimulatedClock ? clock.now() : 0;
        const path = pathOf(event.actorRef as AnyActorRef);
        scenario.events.push({ afterMs: nowMs - atMs, path, event: structuredClone(event.event) });
        atMs = nowMs;
      } catch {
        // An event with an actor or a function, which a durable machine rejects.
      }
    },
  });
  const start = actor.start.bind(actor);
  actor.start = () => {
    isStarting = true;
    try {
      return start();
    } finally {
      isStarting = false;
    }
  };
  return actor;
}

/** The ids of an actor below the root. */
function pathOf(ref: AnyActorRef): readonly string[] {
  const parent = ref._parent;
  return parent === undefined ? [] : [...pathOf(parent), ref.id];
}
