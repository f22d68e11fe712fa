import type { WebSocket } from 'ws';
import type { RunList } from './runs.ts';
import type { SocketPlace } from './sockets.ts';
import type { ReceivedSystem } from './stately/received-system.ts';
import { statelyReceiver } from './stately/receiver.ts';

/** A definition of a machine comes in one message. */
const MAX_MESSAGE_BYTES = 8_388_608;
const MAX_PROGRAMS = 32;
/** Systems that have ended stay to be looked at, so many of them. */
const MAX_OVER = 32;

/** Where programs of XState tell what happens in them, in the protocol of Stately's inspector: their systems join the list of runs. */
export function statelyPlace(runs: RunList): SocketPlace {
  const over: (() => void)[] = [];
  let programs = 0;

  function accept(socket: WebSocket): void {
    const known = new WeakSet<ReceivedSystem>();
    const living = new Map<ReceivedSystem, () => void>();
    programs += 1;

    function changed(system: ReceivedSystem): void {
      if (known.has(system)) runs.changed();
      else {
        const { info, charts, follow } = system;
        known.add(system);
        living.set(system, runs.add({ info, charts, follow }));
      }
      const remove = living.get(system);
      if (remove === undefined || system.info().live) return;
      living.delete(system);
      if (over.push(remove) > MAX_OVER) over.shift()?.();
    }

    const receiver = statelyReceiver({ id: `program-${programs}`, changed });
    socket.on('message', (data) => receiver.receive(String(data)));
    socket.on('close', receiver.close);
  }

  return { maxMessageBytes: MAX_MESSAGE_BYTES, maxSockets: MAX_PROGRAMS, allows: isLocal, accept };
}

/** A page of this machine, on whatever port it is developed, and programs that are no browsers: they all know the token. */
function isLocal(origin: string | undefined): boolean {
  return origin === undefined || /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/u.test(origin);
}
