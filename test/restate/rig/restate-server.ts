import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Child, startChild } from './child.ts';
import { freePort } from './free-port.ts';
import { serverBinary } from './places.ts';

export interface RestateServer {
  /** Where runs are started and asked. */
  readonly ingress: string;
  readonly admin: string;
  /** Makes a service known. Throws where the server cannot reach it. */
  register(uri: string): Promise<void>;
  kill(): Promise<void>;
  /** Starts it again with what it had written. */
  restart(): Promise<void>;
  /** Ends it, and removes what it wrote. */
  stop(): Promise<void>;
}

/** The real server on free ports of the loopback address, with a folder of its own, sending nothing to anybody. */
export async function startRestate(): Promise<RestateServer> {
  const folder = await mkdtemp(join(tmpdir(), 'postchain-restate-'));
  const [fabric, ingressPort, adminPort] = [await freePort(), await freePort(), await freePort()];
  const ingress = `http://127.0.0.1:${ingressPort}`;
  const admin = `http://127.0.0.1:${adminPort}`;
  const env = {
    RESTATE_DISABLE_TELEMETRY: 'true',
    RESTATE_LISTEN_MODE: 'tcp',
    RESTATE_BIND_IP: '127.0.0.1',
    RESTATE_ADVERTISED_HOST: '127.0.0.1',
    RESTATE_BIND_PORT: `${fabric}`,
    RESTATE_INGRESS__BIND_PORT: `${ingressPort}`,
    RESTATE_ADMIN__BIND_PORT: `${adminPort}`,
    RESTATE_ADMIN__DISABLE_WEB_UI: 'true',
    RESTATE_DEFAULT_NUM_PARTITIONS: '2',
    RESTATE_ROCKSDB_TOTAL_MEMORY_SIZE: '64MiB',
    // A process that was killed is asked again soon.
    RESTATE_DEFAULT_RETRY_POLICY__INITIAL_INTERVAL: '50ms',
    RESTATE_DEFAULT_RETRY_POLICY__MAX_INTERVAL: '500ms',
  };
  const start = (): Promise<Child> =>
    startChild(serverBinary, ['--base-dir', folder, '--node-name', 'test', '--no-logo'], {
      env,
      isReady: async () => (await isOk(`${admin}/health`)) && (await isOk(`${ingress}/restate/health`)),
    });
  let child = await start();
  return {
    ingress,
    admin,
    async register(uri) {
      const answer = await fetch(`${admin}/deployments`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ uri }),
      });
      if (!answer.ok) throw new Error(`${uri} was not registered: ${await answer.text()}`);
    },
    kill: () => child.kill(),
    async restart() {
      child = await start();
    },
    async stop() {
      await child.kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function isOk(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok;
  } catch {
    return false;
  }
}
