import type { AnyStateMachine } from 'xstate';
import { actionMachine } from '../../../machines/action/action.machine.ts';
import { attemptMachine } from '../../../machines/attempt/attempt.machine.ts';
import { chainMachine } from '../../../machines/chain/chain.machine.ts';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { withChanges } from '../../engine/recording/state-changes.ts';
import { initialLeaves, withAncestors } from './active-states.ts';
import { decodeDefinition } from './decode.ts';
import { type MachineOutline, machineOutline, type StateOutline } from './machine-outline.ts';

/** The version of the package whose messages these are. */
const VERSION = '0.7.2';

/** A message as `@statelyai/inspect` sends it. */
export interface StatelyMessage {
  readonly type: '@xstate.actor' | '@xstate.event' | '@xstate.snapshot';
  readonly _version: string;
  /** Milliseconds from 1970, as text. */
  readonly createdAt: string;
  readonly id: null;
  readonly rootId: string;
  readonly sessionId: string;
  readonly [member: string]: unknown;
}

type Event = { readonly type: string; readonly [member: string]: unknown };
type Entry<Type> = Extract<JournalEntry, { readonly type: Type }>;
const INIT: Event = { type: 'xstate.init' };
const STOP: Event = { type: 'xstate.stop' };

/**
 * The journal of a chain's run as the messages of an inspector: gives for each entry, in order, what it says in that protocol. Every
 * transition is a snapshot of its own; the context of the chart is that of the newest `state` or `keyframe` before, and empty where the
 * journal has none; attempts and the action loop have no context in it.
 */
export function journalMessages() {
  let told: StatelyMessage[] = [];
  let rootId = '';
  let startedMs = 0;
  let atMs = 0;
  let sessions = 0;
  let root: ReportedActor | null = null;
  let loop: ReportedActor | null = null;
  let attempt: ReportedActor | null = null;
  /** The event that is being told, and the actors that were told to have it. */
  let stimulus: Event = INIT;
  let reached = new Set<string>();
  let answer: unknown;

  const tell = (type: StatelyMessage['type'], sessionId: string, members: Readonly<Record<string, unknown>>): void => {
    const createdAt = String(Math.round(startedMs + atMs));
    told.push({ type, _version: VERSION, createdAt, id: null, rootId, sessionId, ...members });
  };
  const snapshotOf = ({ leaf, context }: ReportedActor, status: string, output?: unknown) => ({
    status,
    value: stateValue(leaf),
    context,
    children: {},
    historyValue: {},
    tags: [],
    ...(output !== undefined && { output }),
  });
  const tellSnapshot = (actor: ReportedActor, event: Event, status = 'active', output?: unknown): void =>
    tell('@xstate.snapshot', actor.sessionId, { event, snapshot: snapshotOf(actor, status, output) });
  /** An event is told once, though it takes a machine several steps. */
  const tellEvent = (actor: ReportedActor, event: Event, sourceId?: string): void => {
    const key = `${actor.sessionId} ${event.type}`;
    if (reached.has(key)) return;
    reached.add(key);
    tell('@xstate.event', actor.sessionId, { event, ...(sourceId !== undefined && { sourceId }) });
  };

  const begin = (actor: ReportedActor): ReportedActor => {
    const { name, parentId, machine, sessionId } = actor;
    const definition = machineDefinition(machine);
    const snapshot = snapshotOf(actor, 'active');
    tell('@xstate.actor', sessionId, { name, definition, ...(parentId !== null && { parentId }), snapshot });
    tellEvent(actor, INIT, parentId ?? undefined);
    tellSnapshot(actor, INIT);
    return actor;
  };
  const beginChild = (parent: ReportedActor, src: 'action' | 'attempt', attemptId: string | null): ReportedActor => {
    const machine = src === 'action' ? actionMachine : attemptMachine;
    const outline = outlineOf(machine);
    const place = hostOf(parent, src);
    sessions += 1;
    return begin({
      sessionId: `${rootId}:${sessions}`,
      parentId: parent.sessionId,
      name: place?.id ?? invokeIdOf(parent, src) ?? src,
      src,
      machine,
      outline,
      attemptId,
      leaf: firstLeaf(outline),
      context: {},
      host: place?.host ?? null,
    });
  };
  const stop = (actor: ReportedActor | null): null => {
    if (actor !== null) tellSnapshot(actor, STOP, 'stopped');
    return null;
  };

  /** A child whose parent has left the state that it ran in was stopped, unless it had ended. */
  const stopLeft = (parent: ReportedActor): void => {
    const staysWith = (child: ReportedActor): boolean => {
      if (child.parentId !== parent.sessionId) return true;
      child.host ??= hostOf(parent, child.src ?? '')?.host ?? null;
      return child.host !== null && isOn(parent, child.host);
    };
    if (attempt !== null && !staysWith(attempt)) attempt = stop(attempt);
    if (loop === null || staysWith(loop)) return;
    if (attempt?.parentId === loop.sessionId) attempt = stop(attempt);
    loop = stop(loop);
  };

  const actorOf = ({ machine, event }: Entry<'transition'>): ReportedActor | null => {
    if (root === null || machine === chainMachine.id) return root;
    if (machine === actionMachine.id) {
      if (loop !== null && event === INIT.type && !isOn(loop, firstLeaf(loop.outline))) loop = stop(loop);
      loop ??= beginChild(root, 'action', null);
      return loop;
    }
    if (machine !== attemptMachine.id) return null;
    attempt ??= beginChild(loop ?? root, 'attempt', null);
    return attempt;
  };

  const takeTransition = (entry: Entry<'transition'>): void => {
    const actor = actorOf(entry);
    if (actor === null || entry.target.length === 0) return;
    const event = entry.event === stimulus.type ? stimulus : { type: entry.event };
    tellEvent(actor, event);
    actor.leaf = leafAfter(actor, entry.target);
    stopLeft(actor);
    // A run is done when its journal says so, which is when its answer is there.
    const isDone = actor !== root && actor.leaf.type === 'final' && actor.leaf.parent === actor.outline.root;
    tellSnapshot(actor, event, isDone ? 'done' : 'active');
    if (isDone && actor === attempt) attempt = null;
    if (isDone && actor === loop) loop = null;
  };

  const takeAttempt = ({ attemptId }: Entry<'attempt-start'>): void => {
    if (root === null || attempt?.attemptId === attemptId) return;
    attempt = stop(attempt);
    attempt = beginChild(loop ?? root, 'attempt', attemptId);
  };

  const takeStart = (start: Entry<'run-start'>): void => {
    rootId = start.runId;
    startedMs = Date.parse(start.startedAt);
    const outline = outlineOf(chainMachine);
    const none = { parentId: null, src: null, attemptId: null, host: null, context: {} };
    const { id: name } = chainMachine;
    root = begin({ ...none, sessionId: rootId, name, machine: chainMachine, outline, leaf: firstLeaf(outline) });
  };

  /** What came from outside begins a step: its event goes to the machine that it is for. */
  const takeStimulus = (actor: ReportedActor | null, event: Event | null): void => {
    reached = new Set();
    stimulus = event ?? { type: '' };
    if (actor !== null && event !== null) tellEvent(actor, event);
  };

  /** The parts of a reply come to the attempt; what else comes of calls is told by the transitions that it leads to. */
  const takeCall = ({ event }: Entry<'call-event'>): void =>
    takeStimulus(attempt, event.type.startsWith('reply.') ? event : null);

  const takeContext = (context: unknown): void => {
    if (root === null) return;
    root.context = context;
    tellSnapshot(root, stimulus);
  };

  const end = (event: Event, status: string, output?: unknown): void => {
    attempt = stop(attempt);
    loop = stop(loop);
    if (root !== null) tellSnapshot(root, event, status, output);
    root = null;
  };
  const take = (entry: JournalEntry): void => {
    if (entry.type === 'run-start') takeStart(entry);
    else if (entry.type === 'delivery') takeStimulus(root, entry.event);
    else if (entry.type === 'call-event') takeCall(entry);
    else if (entry.type === 'timer') takeStimulus(null, null);
    else if (entry.type === 'attempt-start') takeAttempt(entry);
    else if (entry.type === 'transition') takeTransition(entry);
    else if (entry.type === 'keyframe') takeContext(entry.state);
    else if (entry.type === 'state') takeContext(withChanges(root?.context, entry.changes));
    else if (entry.type === 'answer') answer = entry.answer;
    else if (entry.type === 'run-stopped') end(STOP, 'stopped');
    else if (entry.type === 'run-end') end(stimulus, 'done', answer);
  };
  return (entry: JournalEntry): readonly StatelyMessage[] => {
    told = [];
    atMs = entry.atMs;
    take(entry);
    return told;
  };
}

/** A machine of a run as it stands: its charts have one active state at a time. */
interface ReportedActor {
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

function outlineOf(machine: AnyStateMachine): MachineOutline {
  const known = outlines.get(machine);
  if (known !== undefined) return known;
  const outline = machineOutline(decodeDefinition(machineDefinition(machine))?.definition ?? {});
  outlines.set(machine, outline);
  return outline;
}

const firstLeaf = ({ root }: MachineOutline): StateOutline => initialLeaves(root)[0] ?? root;

/** Where a transition leads; the state itself where its targets are not known. */
function leafAfter({ outline, leaf }: ReportedActor, [target]: readonly string[]): StateOutline {
  const state = outline.states.get(target ?? '');
  return state === undefined ? leaf : (initialLeaves(state)[0] ?? leaf);
}

/** The state value of XState: `{ outer: 'inner' }`. */
function stateValue(leaf: StateOutline): unknown {
  let value: unknown = {};
  for (let state = leaf; state.parent !== null; state = state.parent)
    value = state === leaf ? state.key : { [state.key]: value };
  return value;
}

/** The active state that invokes actors of this name, and the name that its actor has. */
function hostOf({ leaf }: ReportedActor, src: string): { readonly host: StateOutline; readonly id: string } | null {
  for (const host of withAncestors([leaf]))
    for (const invoke of host.invokes) if (invoke.src === src) return { host, id: invoke.id };
  return null;
}

/** The name of an actor that begins before its parent is told to be there. */
function invokeIdOf({ outline }: ReportedActor, src: string): string | null {
  for (const { invokes } of outline.states.values())
    for (const invoke of invokes) if (invoke.src === src) return invoke.id;
  return null;
}

const isOn = ({ leaf }: ReportedActor, state: StateOutline): boolean => withAncestors([leaf]).has(state);

const texts = new WeakMap<AnyStateMachine, string>();

/** A machine's configuration as the package writes it: a function is an object of its name. Nothing is sorted, and nothing cut. */
export function machineDefinition(machine: AnyStateMachine): string {
  const known = texts.get(machine);
  if (known !== undefined) return known;
  const text = JSON.stringify(machine.config, (_, value) =>
    typeof value === 'function' ? { type: value.name } : value,
  );
  texts.set(machine, text);
  return text;
}
