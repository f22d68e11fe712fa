import { type Decoded, decode, decodeMessage } from './decode.ts';
import type { SystemMessage } from './messages.ts';
import { type OpenSystem, openSystem, type ReceivedSystem } from './received-system.ts';
import { createSystemJournal, type SystemLimits } from './system-journal.ts';

export interface ReceiverOptions {
  /** Ids of its systems begin with this: no other connection may have it. */
  readonly id: string;
  /** A system is new, or its `info()` is other than it was; what its sentences count may have grown before. */
  readonly changed?: (system: ReceivedSystem) => void;
  readonly limits?: SystemLimits;
}

/** One connection of an inspector of XState: its text frames in, its systems out. */
export interface StatelyReceiver {
  /** In the order in which they began. */
  readonly systems: readonly ReceivedSystem[];
  /** A text frame. Never throws. */
  receive(frame: string): void;
  /** A message as an object, where there is no text. */
  receiveMessage(message: unknown): void;
  /** The connection has ended: so have its systems. */
  close(): void;
}

/** Of those that have ended the oldest gives way to a new one; beyond as many that have not, messages are lost. */
const MAX_SYSTEMS = 100;

export function statelyReceiver({ id, changed = () => {}, limits }: ReceiverOptions): StatelyReceiver {
  const systems = new Map<string, OpenSystem>();
  /** Of messages before the first system. */
  let malformed = 0;
  let lost = 0;
  let closed = false;

  const forgetOldest = (): boolean => {
    const [oldest] = [...systems].find(([, { journal }]) => journal.ended) ?? [];
    return oldest !== undefined && systems.delete(oldest);
  };
  const open = (rootId: string): OpenSystem | null => {
    const known = systems.get(rootId);
    if (known !== undefined) return known;
    if (systems.size >= MAX_SYSTEMS && !forgetOldest()) return null;
    const journal = createSystemJournal(rootId, limits);
    for (; malformed > 0; malformed -= 1) journal.noteMalformed();
    for (; lost > 0; lost -= 1) journal.noteLost();
    const system = openSystem(`${id}/${rootId}`, journal);
    systems.set(rootId, system);
    return system;
  };

  /** Messages by the inspector's own methods name no root, or `anonymous`: the actor's session tells then. */
  const systemOf = ({ type, sessionId, ...message }: SystemMessage): OpenSystem | null => {
    const rootId = message.rootId === 'anonymous' ? null : (message.rootId ?? null);
    const named = systems.get(rootId ?? '');
    if (named !== undefined) return named;
    const holding = (session: string | null | undefined) =>
      session ? [...systems.values()].find(({ journal }) => journal.has(session)) : undefined;
    const known = holding(sessionId);
    if (known !== undefined) return known;
    if (rootId !== null) return open(rootId);
    if (type !== '@xstate.actor') return null;
    return holding('parentId' in message ? message.parentId : null) ?? open(sessionId);
  };

  const tellOf = (system: OpenSystem): void => {
    if (system.isOther()) changed(system);
  };
  const lose = (): void => {
    if (systems.size === 0) lost += 1;
    for (const system of systems.values()) {
      system.journal.noteLost();
      tellOf(system);
    }
  };
  const misread = (): void => {
    if (systems.size === 0) malformed += 1;
    for (const system of systems.values()) {
      system.journal.noteMalformed();
      tellOf(system);
    }
  };
  const takeMessage = (message: SystemMessage, truncated: boolean): void => {
    const system = systemOf(message);
    if (system === null) lose();
    else {
      system.take(message, truncated);
      tellOf(system);
    }
  };
  const take = (decoded: Decoded): void => {
    if (closed || decoded.kind === 'unknown') return;
    if (decoded.kind === 'stopped') close();
    else if (decoded.kind === 'malformed') misread();
    else takeMessage(decoded.message, decoded.truncated);
  };
  const close = (): void => {
    if (closed) return;
    closed = true;
    for (const system of systems.values()) {
      system.close();
      tellOf(system);
    }
  };
  return {
    get systems() {
      return [...systems.values()];
    },
    receive: (frame) => take(decode(frame)),
    receiveMessage: (message) => take(decodeMessage(message)),
    close,
  };
}
