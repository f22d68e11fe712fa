import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition } from 'xstate';
import { invokedLogics, isMachine } from '../../xstate/states.ts';
import { nodesOf } from './chart-nodes.ts';
import { guardLabel } from './guard-label.ts';

/**
 * A state of a chart. `parent` is null for the root. `invokes` has the names of the actors that it invokes, and `invokeIds` their ids in the
 * same order, empty for those that XState generates. Empty lists of ids, actions and tags are left out.
 */
export interface ChartState {
  readonly id: string;
  readonly name: string;
  readonly parent: string | null;
  readonly type: AnyStateNode['type'];
  readonly description: string;
  readonly initial: string | null;
  readonly invokes: readonly string[];
  readonly invokeIds?: readonly string[];
  readonly entry?: readonly string[];
  readonly exit?: readonly string[];
  readonly tags?: readonly string[];
}

/** A transition as defined in the chart. `event` is empty for an eventless (`always`) transition. */
interface ChartTransition {
  readonly source: string;
  readonly target: readonly string[];
  readonly event: string;
  readonly guard: string | null;
  /** Whether it has no guard, and is taken if the guards of the transitions before it fail. */
  readonly otherwise: boolean;
  readonly actions: readonly string[];
  /** The duration of a delay that has a name and is a constant, in milliseconds. */
  readonly delayMs?: number;
}

export interface Chart {
  readonly id: string;
  readonly states: readonly ChartState[];
  readonly transitions: readonly ChartTransition[];
}

/** Returns a machine as data, for diagrams and `postchain diagram --format json`. */
export function chartOf(machine: AnyStateMachine): Chart {
  const nodes = nodesOf(machine);
  return { id: machine.id, states: nodes.map(stateOf), transitions: nodes.flatMap(transitionsFrom) };
}

const stateOf = (node: AnyStateNode): ChartState => ({
  id: node.id,
  name: node.key,
  parent: node.parent?.id ?? null,
  type: node.type,
  description: node.description ?? '',
  initial: node.initial.target[0]?.id ?? null,
  invokes: invokeLabels(node),
  ...someOf('invokeIds', explicitIds(node)),
  ...someOf('entry', actionsOf(node.entry)),
  ...someOf('exit', actionsOf(node.exit)),
  ...someOf('tags', node.tags),
});

/** Returns the list under its name, unless all its texts are empty. */
const someOf = (name: 'invokeIds' | 'entry' | 'exit' | 'tags', texts: readonly string[]): Partial<ChartState> =>
  texts.some((text) => text !== '') ? { [name]: texts } : {};

/** Without those that XState adds to start and stop the timers of a state. */
const actionsOf = (actions: readonly unknown[]): readonly string[] =>
  actions.filter((action) => !isOfTimer(Object(action) as TimerAction)).map(nameOf);

interface TimerAction {
  readonly id?: unknown;
  readonly sendId?: unknown;
}

const isOfTimer = ({ id, sendId }: TimerAction): boolean => String(id ?? sendId).startsWith('xstate.after.');

const explicitIds = ({ id: state, invoke }: AnyStateNode): readonly string[] =>
  invoke.map(({ id }, at) => (id === `${at}.${state}` ? '' : id));

function transitionsFrom(node: AnyStateNode): readonly ChartTransition[] {
  const delays = new Map(node.after.map(({ eventType, delay }) => [eventType, String(delay)]));
  return [...node.transitions.values(), node.always ?? []].flatMap((group) =>
    group.map((transition, index) => ({
      ...transitionOf(transition, index, { delays, invokes: node.invoke }),
      ...constantDelay(node, delays.get(transition.eventType)),
    })),
  );
}

function constantDelay({ machine }: AnyStateNode, name: string | undefined): { readonly delayMs?: number } {
  const delays = machine.implementations.delays as Readonly<Record<string, unknown>>;
  const delay = name !== undefined && Object.hasOwn(delays, name) ? delays[name] : undefined;
  return typeof delay === 'number' ? { delayMs: delay } : {};
}

/** The names of the actors that a state invokes; for inline logic, its id or `inline`. */
export function invokeLabels(node: AnyStateNode): readonly string[] {
  return invokedLogics(node).map((src, at) => {
    if (typeof src === 'string') return src;
    const { id = '' } = node.invoke[at] ?? {};
    if (id !== `${at}.${node.id}`) return id;
    return isMachine(src) && src.config.id !== undefined ? src.id : 'inline';
  });
}

function transitionOf(
  { source, target, eventType, guard, actions }: AnyTransitionDefinition,
  index: number,
  state: EventSources,
): ChartTransition {
  return {
    source: source.id,
    target: (target ?? []).map(({ id }) => id),
    event: eventName(eventType, state),
    guard: guard === undefined ? null : guardLabel(guard),
    otherwise: guard === undefined && index > 0,
    actions: actions.map(nameOf),
  };
}

/** The delays of a state by event type, and the actors that it invokes. */
interface EventSources {
  readonly delays: ReadonlyMap<string, string>;
  readonly invokes: readonly { readonly id: string }[];
}

const ACTOR_END = /^xstate\.(done|error)\.actor\.(.+)$/u;

/**
 * Returns the name of an event in a chart: `after` with the delay, `done` or `error` of an actor of the state, `search: done` of an actor
 * that an action has spawned, or the event type.
 */
function eventName(eventType: string, { delays, invokes }: EventSources): string {
  const delay = delays.get(eventType);
  if (delay !== undefined) return `after ${delay}`;
  const [, end, actor] = ACTOR_END.exec(eventType) ?? [];
  if (end !== undefined) return invokes.some(({ id }) => id === actor) ? end : `${actor}: ${end}`;
  return eventType.startsWith('xstate.done.') ? 'done' : eventType;
}

function nameOf(action: unknown): string {
  if (typeof action === 'string') return action;
  return (action as { type?: string }).type ?? 'inline';
}
