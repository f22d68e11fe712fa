import type { WebSocket } from 'ws';
import { parseJson } from '../../internal/json-text.ts';
import { plainJson } from '../../internal/plain-json.ts';
import type { RunList } from '../runs.ts';
import type { SocketEndpoint } from '../sockets.ts';
import { type SystemMessage, systemMessageSchema } from './messages.ts';
import { type Inspect, observeForInspector } from './observe-for-inspector.ts';
import { type ObservedSystem, observedSystem } from './system-log.ts';

/** How many systems of one program may run at the same time, and how many ended ones stay in the list. */
const MAX_SYSTEMS = 100;
const MAX_ENDED = 32;

/** `close` ends the systems that are still running. */
function systemsOf(runs: RunList, program: string) {
  const running = new Map<string, ObservedSystem>();
  const ended: (() => void)[] = [];

  function open(rootId: string): ObservedSystem | undefined {
    if (running.size >= MAX_SYSTEMS) return undefined;
    const runId = `${program}/${rootId}`;
    const system = observedSystem(runId, rootId, () => {
      runs.changed(runId);
      if (system.info().live || !running.delete(rootId)) return;
      if (ended.push(remove) > MAX_ENDED) ended.shift()?.();
    });
    running.set(rootId, system);
    const remove = runs.add(system);
    return system;
  }

  return {
    take(message: SystemMessage): void {
      const known = running.get(message.system);
      // Only a machine or an actor starts a system: late messages of an ended one are dropped.
      const starts = message.type === 'machine' || message.type === 'actor';
      const system = known ?? (starts ? open(message.system) : undefined);
      system?.take(message);
    },
    close(): void {
      for (const system of running.values()) system.close();
    },
  };
}

export const inspectHere = (runs: RunList): Inspect => observeForInspector(systemsOf(runs, 'actors').take);

/** One message may hold a machine's whole chart, or a context. */
const MAX_MESSAGE_BYTES = 8_388_608;
const MAX_PROGRAMS = 32;
/** Limits the recursion over a message, whose contexts are at most 50 levels deep. */
const MAX_DEPTH = 60;
const NO_LIMIT = Number.POSITIVE_INFINITY;
/** RFC 6455, section 7.4.1. */
const POLICY_VIOLATION = 1008;

/** For programs that use `inspectTo`. An invalid message closes the connection. */
export function systemsEndpoint(runs: RunList): SocketEndpoint {
  let programs = 0;

  function accept(socket: WebSocket): void {
    programs += 1;
    const systems = systemsOf(runs, `program-${programs}`);
    socket.on('message', (data, isBinary) => {
      const json = isBinary ? null : parseJson(String(data));
      const read = systemMessageSchema.safeParse(
        plainJson(json, { depth: MAX_DEPTH, values: NO_LIMIT, chars: NO_LIMIT }),
      );
      if (read.success) systems.take(read.data);
      else socket.close(POLICY_VIOLATION, 'Invalid message.');
    });
    socket.on('close', systems.close);
  }

  return { maxMessageBytes: MAX_MESSAGE_BYTES, maxSockets: MAX_PROGRAMS, allows: isLocal, accept };
}

/** Accepts local pages on any port, and programs that are not browsers. All of them need the token. */
function isLocal(origin: string | undefined): boolean {
  return origin === undefined || /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/u.test(origin);
}
