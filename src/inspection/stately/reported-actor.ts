import type { AnyStateMachine } from 'xstate';
import { initialLeaves, withAncestors } from './active-states.ts';
import { decodeDefinition } from './decode.ts';
import { machineDefinition } from './machine-definition.ts';
import { type MachineOutline, machineOutline, type StateOutline } from './machine-outline.ts';

/** A machine of a run as it stands: its charts have one active state at a time. */
export interface ReportedActor {
  readonly sessionId: string;
  readonly parentId: string | null;
  readonly name: string;
  /** The name by which its parent invokes it. */
  readonly src: string | null;
  readonly machine: AnyStateMachine;
  readonly outline: MachineOutline;
  readonly attemptId: string | null;
  leaf: StateOutline;
  context: unknown;
  /** The state of its parent that it runs in; null before the parent is told to be there. */
  host: StateOutline | null;
}

const outlines = new WeakMap<AnyStateMachine, MachineOutline>();

export function outlineOf(machine: AnyStateMachine): MachineOutline {
  const known = outlines.get(machine);
  if (known !== undefined) return known;
  const outline = machineOutline(decodeDefinition(machineDefinition(machine))?.definition ?? {});
  outlines.set(machine, outline);
  return outline;
}

export const firstLeaf = ({ root }: MachineOutline): StateOutline => initialLeaves(root)[0] ?? root;

/** Where a transition leads; the state itself where its targets are not known. */
export function leafAfter({ outline, leaf }: ReportedActor, [target]: readonly string[]): StateOutline {
  const state = outline.states.get(target ?? '');
  return state === undefined ? leaf : (initialLeaves(state)[0] ?? leaf);
}

/** The state value of XState: `{ outer: 'inner' }`. */
export function stateValue(leaf: StateOutline): unknown {
  let value: unknown = {};
  for (let state = leaf; state.parent !== null; state = state.parent)
    value = state === leaf ? state.key : { [state.key]: value };
  return value;
}

/** The active state that invokes actors of this name, and the name that its actor has. */
export function hostOf(
  { leaf }: ReportedActor,
  src: string,
): { readonly host: StateOutline; readonly id: string } | null {
  for (const host of withAncestors([leaf]))
    for (const invoke of host.invokes) if (invoke.src === src) return { host, id: invoke.id };
  return null;
}

/** The name of an actor that begins before its parent is told to be there. */
export function invokeIdOf({ outline }: ReportedActor, src: string): string | null {
  for (const { invokes } of outline.states.values())
    for (const invoke of invokes) if (invoke.src === src) return invoke.id;
  return null;
}

export const isOn = ({ leaf }: ReportedActor, state: StateOutline): boolean => withAncestors([leaf]).has(state);
