import type { MachineOutline, StateOutline } from './machine-outline.ts';
import type { ActorSnapshot } from './messages.ts';

/** An actor of a system. `outline` and `chart` are null for one that is no machine. */
export interface SystemActor {
  readonly sessionId: string;
  readonly parentId: string | null;
  /** Its name, unlike that of any other that lives. */
  readonly name: string;
  readonly outline: MachineOutline | null;
  readonly chart: string | null;
  /** Its innermost active states; null before they are known. */
  leaves: readonly StateOutline[] | null;
  /** What it was announced with, until it is known whether its beginning follows: it is told late, so it may be ahead. */
  announced: ActorSnapshot | null;
  ended: boolean;
  /** It was never announced: messages to it came all the same. */
  readonly stray: boolean;
}

/** Those that have ended are remembered for messages that come after, until there are too many. */
export function createActorBook(limit: number) {
  const actors = new Map<string, SystemActor>();
  const living = new Set<string>();
  const names = new Set<string>();
  const ended = new Set<string>();
  return {
    get living() {
      return living.size;
    },
    get: (sessionId: string): SystemActor | undefined => actors.get(sessionId),
    freeName: (name: string, sessionId: string): string => (names.has(name) ? `${name} ${sessionId}` : name),
    /** False where there are too many. One of the same session that was never announced gives way. */
    add(actor: SystemActor): boolean {
      if (living.size >= limit && !living.has(actor.sessionId)) return false;
      names.delete(actors.get(actor.sessionId)?.name ?? actor.name);
      actors.set(actor.sessionId, actor);
      living.add(actor.sessionId);
      names.add(actor.name);
      return true;
    },
    end(actor: SystemActor): void {
      actor.ended = true;
      living.delete(actor.sessionId);
      names.delete(actor.name);
      ended.add(actor.sessionId);
      const [oldest] = ended;
      if (ended.size <= limit || oldest === undefined) return;
      ended.delete(oldest);
      actors.delete(oldest);
    },
    all: (): Iterable<SystemActor> => actors.values(),
  };
}
