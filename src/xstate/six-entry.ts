import type { AnyEventObject, AnyMachineSnapshot, AnyStateMachine } from 'xstate';

/** An event that entering a state raises after a delay in milliseconds. */
interface RaisedDelay {
  readonly id: string;
  readonly event: AnyEventObject;
  readonly delay: number;
}

interface StateConfig {
  readonly states?: Readonly<Record<string, StateConfig>>;
  readonly [member: string]: unknown;
}

interface Node {
  readonly id: string;
  readonly entry?: (args: object, enqueue: object) => unknown;
}

type MachineClass = new (config: StateConfig, sources: object) => { getStateNodeById(id: string): Node };

const delaying = new WeakMap<AnyStateMachine, InstanceType<MachineClass>>();

/**
 * Returns the delays that entering the active states of a snapshot starts. XState 6 resolves them in the entry function of a state, together
 * with that of the program, which must not be called: a copy of the machine has nothing but its delays.
 */
export function delaysOf(machine: AnyStateMachine, { context, children }: AnyMachineSnapshot, ids: readonly string[]) {
  const { sources, config } = machine as unknown as { sources: { readonly delays: object }; config: StateConfig };
  const known = delaying.get(machine) ?? new (machine.constructor as MachineClass)(onlyDelays(config), sources);
  delaying.set(machine, known);
  const raised: RaisedDelay[] = [];
  const raise = (event: AnyEventObject, options: { readonly id: string; readonly delay: number }): void =>
    void raised.push({ ...options, event });
  const args = { context, children, event: { type: 'xstate.init' }, delays: sources.delays };
  for (const id of ids) known.getStateNodeById(id).entry?.(args, { raise });
  return raised;
}

const KEPT = ['id', 'type', 'initial', 'after', 'timeout', 'onTimeout', 'history', 'target', 'choice'];

/** Children keep only what names them: an invoked actor with a time limit has a delay, too. */
function onlyDelays({ states = {}, ...state }: StateConfig): StateConfig {
  const kept = Object.entries(state).filter(([member]) => KEPT.includes(member));
  const inner = Object.entries(states).map(([key, child]) => [key, onlyDelays(child)]);
  return { ...Object.fromEntries(kept), ...(inner.length > 0 && { states: Object.fromEntries(inner) }) };
}

interface Invoke {
  readonly id: string;
  readonly src: string;
  readonly logic: unknown;
  readonly input?: unknown;
  readonly onSnapshot?: unknown;
}

/** Returns the logic of an invoked actor, and the options of its creation. */
export function invokedActor(machine: AnyStateMachine, invoke: Invoke, self: { getSnapshot(): AnyMachineSnapshot }) {
  const { actors } = (machine as unknown as { sources: { readonly actors: Readonly<Record<string, object>> } }).sources;
  const { context } = self.getSnapshot();
  const event = { type: 'xstate.init' };
  const chosen = typeof invoke.logic === 'function' ? invoke.logic({ actors, context, event, self }) : invoke.logic;
  const input = typeof invoke.input === 'function' ? invoke.input({ self, context, event }) : invoke.input;
  const logic = (typeof chosen === 'string' ? actors[chosen] : chosen) as object;
  return { logic, options: { ...invoke, input, parent: self, syncSnapshot: invoke.onSnapshot !== undefined } };
}
