import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Child, startChild } from './child.ts';
import { freePort } from './free-port.ts';
import { builtServices } from './places.ts';

/** A line of what the models of all service processes wrote down. */
interface CallLine {
  readonly pid: number;
  readonly what: 'begun' | 'ended' | 'aborted';
  readonly run: string;
  readonly task: string;
}

/** Where the service processes of a test meet: what their models did, and what they are to wait for. */
export interface Meeting {
  readonly folder: string;
  calls(run: string): readonly CallLine[];
  /** From here on each call of the task waits until it is let go. */
  hold(task: string): void;
  letGo(task: string): void;
  end(): Promise<void>;
}

export async function createMeeting(): Promise<Meeting> {
  const folder = await mkdtemp(join(tmpdir(), 'postchain-service-'));
  const log = join(folder, 'calls.log');
  return {
    folder,
    calls: (run) =>
      (existsSync(log) ? readFileSync(log, 'utf8').trimEnd().split('\n') : [])
        .map((line) => JSON.parse(line) as CallLine)
        .filter((line) => line.run === run),
    hold: (task) => writeFileSync(join(folder, `hold-${task}`), ''),
    letGo: (task) => rmSync(join(folder, `hold-${task}`), { force: true }),
    end: () => rm(folder, { recursive: true, force: true }),
  };
}

export interface ServiceProcess {
  readonly uri: string;
  readonly pid: () => number;
  readonly output: () => string;
  kill(): Promise<void>;
  restart(): Promise<void>;
}

/** A process that serves chains: `rig` those of rig/service.ts, `example` that of examples/restate. */
export async function startService(name: 'rig' | 'example', meeting?: Meeting): Promise<ServiceProcess> {
  const port = await freePort();
  const start = (): Promise<Child> =>
    startChild(process.execPath, [join(builtServices, `${name}.mjs`)], {
      env: { PORT: `${port}`, RESTATE_LOGGING: 'ERROR', MEETING: meeting?.folder ?? '' },
      isReady: () => listens(port),
    });
  let child = await start();
  return {
    uri: `http://127.0.0.1:${port}`,
    pid: () => child.pid,
    output: () => child.output(),
    kill: () => child.kill(),
    async restart() {
      child = await start();
    },
  };
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
