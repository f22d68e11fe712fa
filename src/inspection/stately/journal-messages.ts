import type { AnyStateMachine } from 'xstate';
import { actionMachine } from '../../../machines/action/action.machine.ts';
import { attemptMachine } from '../../../machines/attempt/attempt.machine.ts';
import { chainMachine } from '../../../machines/chain/chain.machine.ts';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { initialLeaves, withAncestors } from './infer-transition.ts';
import { type MachineOutline, machineOutline, type StateOutline } from './machine-outline.ts';
import { decodeDefinition } from './messages.ts';

/** The version of `@statelyai/inspect` that the messages follow. */
const PROTOCOL_VERSION = '0.7.2';

/** A message as `@statelyai/inspect` sends it. */
export interface StatelyMessage {
  readonly type: '@xstate.actor' | '@xstate.event' | '@xstate.snapshot';
  readonly _version: string;
  /** Milliseconds since the epoch, as text. */
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
 * Returns a function that translates the journal of a run, entry by entry, to inspector messages. Each transition becomes a snapshot.
 * `stateAfter` returns the state of the chart after an entry, if it has changed there; attempts and the action loop have no context.
 */
export function journalMessages(stateAfter: (seq: number) => unknown) {
  let messages: StatelyMessage[] = [];
  let rootId = '';
  let startedMs = 0;
  let atMs = 0;
  let sessions = 0;
  let root: ReportedActor | null = null;
  let loop: ReportedActor | null = null;
  let attempt: ReportedActor | null = null;
  /** The event of the current step, and the actors that it was sent to. */
  let currentEvent: Event = INIT;
  let receivers = new Set<string>();
  let answer: unknown;

  const send = (type: StatelyMessage['type'], sessionId: string, members: Readonly<Record<string, unknown>>): void => {
    const createdAt = String(Math.round(startedMs + atMs));
    messages.push({ type, _version: PROTOCOL_VERSION, createdAt, id: null, rootId, sessionId, ...members });
  };
  const snapshotOf = ({ outline, leaves, context }: ReportedActor, status: string, output?: unknown) => ({
    status,
    value: stateValue(outline.root, withAncestors(leaves)),
    context,
    children: {},
    historyValue: {},
    tags: [],
    ...(output !== undefined && { output }),
  });
  const sendSnapshot = (actor: ReportedActor, event: Event, status = 'active', output?: unknown): void =>
    send('@xstate.snapshot', actor.sessionId, { event, snapshot: snapshotOf(actor, status, output) });
  /** Sends an event once, even if it takes a machine several steps. */
  const sendEvent = (actor: ReportedActor, event: Event, sourceId?: string): void => {
    const key = `${actor.sessionId} ${event.type}`;
    if (receivers.has(key)) return;
    receivers.add(key);
    send('@xstate.event', actor.sessionId, { event, ...(sourceId !== undefined && { sourceId }) });
  };

  const startActor = (actor: ReportedActor): ReportedActor => {
    const { name, parentId, machine, sessionId } = actor;
    const definition = machineDefinition(machine);
    const snapshot = snapshotOf(actor, 'active');
    send('@xstate.actor', sessionId, { name, definition, ...(parentId !== null && { parentId }), snapshot });
    sendEvent(actor, INIT, parentId ?? undefined);
    sendSnapshot(actor, INIT);
    return actor;
  };
  const startChild = (parent: ReportedActor, src: 'action' | 'attempt', attemptId: string | null): ReportedActor => {
    const machine = src === 'action' ? actionMachine : attemptMachine;
    const outline = outlineOf(machine);
    const invocation = hostOf(parent, src);
    sessions += 1;
    return startActor({
      sessionId: `${rootId}:${sessions}`,
      parentId: parent.sessionId,
      name: invocation?.id ?? invokeIdOf(parent, src) ?? src,
      src,
      machine,
      outline,
      attemptId,
      leaves: initialLeaves(outline.root),
      context: {},
      host: invocation?.host ?? null,
    });
  };
  const stop = (actor: ReportedActor | null): null => {
    if (actor !== null) sendSnapshot(actor, STOP, 'stopped');
    return null;
  };

  /** Stops children whose parent has left the state that invoked them. */
  const stopOrphans = (parent: ReportedActor): void => {
    const isHosted = (child: ReportedActor): boolean => {
      if (child.parentId !== parent.sessionId) return true;
      child.host ??= hostOf(parent, child.src ?? '')?.host ?? null;
      return child.host !== null && isOn(parent, child.host);
    };
    if (attempt !== null && !isHosted(attempt)) attempt = stop(attempt);
    if (loop === null || isHosted(loop)) return;
    if (attempt?.parentId === loop.sessionId) attempt = stop(attempt);
    loop = stop(loop);
  };

  const actorOf = ({ machine, event }: Entry<'transition'>): ReportedActor | null => {
    if (root === null || machine === chainMachine.id) return root;
    if (machine === actionMachine.id) {
      if (loop !== null && event === INIT.type && !isOn(loop, firstLeaf(loop.outline))) loop = stop(loop);
      loop ??= startChild(root, 'action', null);
      return loop;
    }
    if (machine !== attemptMachine.id) return null;
    attempt ??= startChild(loop ?? root, 'attempt', null);
    return attempt;
  };

  const onTransition = (entry: Entry<'transition'>): void => {
    const actor = actorOf(entry);
    if (actor === null || entry.target.length === 0) return;
    const event = entry.event === currentEvent.type ? currentEvent : { type: entry.event };
    sendEvent(actor, event);
    actor.leaves = leavesAfter(actor, entry.target);
    stopOrphans(actor);
    // The root is done at `run-end`, when the answer exists.
    const isDone =
      actor !== root && actor.leaves.some(({ type, parent }) => type === 'final' && parent === actor.outline.root);
    sendSnapshot(actor, event, isDone ? 'done' : 'active');
    if (isDone && actor === attempt) attempt = null;
    if (isDone && actor === loop) loop = null;
  };

  const onAttemptStart = ({ attemptId }: Entry<'attempt-start'>): void => {
    if (root === null || attempt?.attemptId === attemptId) return;
    attempt = stop(attempt);
    attempt = startChild(loop ?? root, 'attempt', attemptId);
  };

  const onRunStart = (start: Entry<'run-start'>): void => {
    rootId = start.runId;
    startedMs = Date.parse(start.startedAt);
    const outline = outlineOf(chainMachine);
    const noParent = { parentId: null, src: null, attemptId: null, host: null, context: {} };
    const { id: name } = chainMachine;
    root = startActor({
      ...noParent,
      sessionId: rootId,
      name,
      machine: chainMachine,
      outline,
      leaves: initialLeaves(outline.root),
    });
  };

  /** Starts a step: sends an external event to the machine that receives it. */
  const startStep = (actor: ReportedActor | null, event: Event | null): void => {
    receivers = new Set();
    currentEvent = event ?? { type: '' };
    if (actor !== null && event !== null) sendEvent(actor, event);
  };

  /** Reply events go to the attempt. Other call events show in the transitions they cause. */
  const onCallEvent = ({ event }: Entry<'call-event'>): void =>
    startStep(attempt, event.type.startsWith('reply.') ? event : null);

  const onContext = (context: unknown): void => {
    if (root === null) return;
    root.context = context;
    sendSnapshot(root, currentEvent);
  };

  const end = (event: Event, status: string, output?: unknown): void => {
    attempt = stop(attempt);
    loop = stop(loop);
    if (root !== null) sendSnapshot(root, event, status, output);
    root = null;
  };
  const take = (entry: JournalEntry): void => {
    if (entry.type === 'run-start') onRunStart(entry);
    else if (entry.type === 'delivery') startStep(root, entry.event);
    else if (entry.type === 'call-event') onCallEvent(entry);
    else if (entry.type === 'timer') startStep(null, null);
    else if (entry.type === 'attempt-start') onAttemptStart(entry);
    else if (entry.type === 'transition') onTransition(entry);
    else if (entry.type === 'answer') answer = entry.answer;
    else if (entry.type === 'run-stopped') end(STOP, 'stopped');
    else if (entry.type === 'run-end') end(currentEvent, 'done', answer);
  };
  return (entry: JournalEntry): readonly StatelyMessage[] => {
    messages = [];
    atMs = entry.atMs;
    take(entry);
    const state = stateAfter(entry.seq);
    if (state !== undefined) onContext(state);
    return messages;
  };
}

/** A machine of a run in its current state. */
interface ReportedActor {
  readonly sessionId: string;
  readonly parentId: string | null;
  readonly name: string;
  /** The `src` with which its parent invokes it. */
  readonly src: string | null;
  readonly machine: AnyStateMachine;
  readonly outline: MachineOutline;
  readonly attemptId: string | null;
  /** The innermost active states: one for each region of a parallel state. */
  leaves: readonly StateOutline[];
  context: unknown;
  /** The parent's state that invokes it; null before the parent's transition is recorded. */
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

/** Returns the innermost active states after a transition; the current ones if its target is unknown. Other parallel regions do not change. */
function leavesAfter({ outline, leaves }: ReportedActor, [target]: readonly string[]): readonly StateOutline[] {
  const state = outline.states.get(target ?? '');
  if (state === undefined) return leaves;
  const around = withAncestors([state]);
  const isInOtherRegion = (leaf: StateOutline): boolean => {
    let common: StateOutline | null = leaf;
    while (common !== null && !around.has(common)) common = common.parent;
    return common?.type === 'parallel' && common !== state;
  };
  return [...leaves.filter(isInOtherRegion), ...initialLeaves(state)];
}

/** Returns XState's state value: `{ outer: 'inner' }`, with all regions of a parallel state. */
function stateValue(state: StateOutline, active: ReadonlySet<StateOutline>): unknown {
  const inner = [...state.children.values()].filter((child) => active.has(child));
  const [only] = inner;
  if (only === undefined) return {};
  if (state.type !== 'parallel' && only.children.size === 0) return only.key;
  return Object.fromEntries(inner.map((child) => [child.key, stateValue(child, active)]));
}

/** Returns the active state that invokes this `src`, and the id of the invocation. */
function hostOf({ leaves }: ReportedActor, src: string): { readonly host: StateOutline; readonly id: string } | null {
  for (const host of withAncestors(leaves))
    for (const invoke of host.invokes) if (invoke.src === src) return { host, id: invoke.id };
  return null;
}

/** Returns the invocation id of an actor that starts before its parent's transition is recorded. */
function invokeIdOf({ outline }: ReportedActor, src: string): string | null {
  for (const { invokes } of outline.states.values())
    for (const invoke of invokes) if (invoke.src === src) return invoke.id;
  return null;
}

const isOn = ({ leaves }: ReportedActor, state: StateOutline): boolean => withAncestors(leaves).has(state);

const definitions = new WeakMap<AnyStateMachine, string>();

/** Returns a machine's configuration as the package writes it (a function is an object with its name), but unsorted and untruncated. */
export function machineDefinition(machine: AnyStateMachine): string {
  const known = definitions.get(machine);
  if (known !== undefined) return known;
  const text = JSON.stringify(machine.config, (_, value) =>
    typeof value === 'function' ? { type: value.name } : value,
  );
  definitions.set(machine, text);
  return text;
}
