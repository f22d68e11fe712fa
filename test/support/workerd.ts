import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { installClients } from './client-packages.ts';

/** A Worker with one Durable Object class, in a process whose storage is a folder. */
export interface Workerd {
  readonly url: string;
  /** Calls a method of an object. Rejects with the code and message of its error. */
  call(object: string, method: string, ...args: readonly unknown[]): Promise<unknown>;
  /** Ends the process at once, as an eviction does with the objects. */
  kill(): Promise<void>;
}

/** Starts a bundled Worker that exports a class `Order`. A second process on the same folder continues with its objects. */
type StartWorkerd = (script: string, folder: string) => Promise<Workerd>;

/** Installs the runtime of Cloudflare Workers (120 MB) on first use. Returns what starts it, or why it cannot be installed. */
export async function installWorkerd(): Promise<StartWorkerd | string> {
  try {
    const { default: path } = await installClients('workerd', ['workerd@1.20260730.1'])<{ default: string }>('workerd');
    return (script, folder) => startWorkerd(path, script, folder);
  } catch (error) {
    return `workerd cannot be installed: ${(error as Error).message}`;
  }
}

async function startWorkerd(path: string, script: string, folder: string): Promise<Workerd> {
  mkdirSync(join(folder, 'objects'), { recursive: true });
  const config = join(folder, 'config.capnp');
  cpSync(script, join(folder, 'worker.js'));
  writeFileSync(config, configOf(join(folder, 'objects')));
  const imports = resolve('node_modules/.clients/workerd/node_modules');
  const child = spawn(path, ['serve', config, '--control-fd=3', '-I', imports], {
    stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
  });
  const url = `http://127.0.0.1:${await portOf(child)}/`;
  return {
    url,
    async call(object, method, ...args) {
      const response = await fetch(url, { method: 'POST', body: JSON.stringify({ object, method, args }) });
      const { value, error } = (await response.json()) as { readonly value: unknown; readonly error?: string };
      if (error !== undefined) throw new Error(error);
      return value;
    },
    async kill() {
      const ended = child.exitCode ?? child.signalCode;
      child.kill('SIGKILL');
      if (ended === null) await once(child, 'exit');
    },
  };
}

function portOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    child.once('exit', (code) => reject(new Error(`workerd ended with ${code}`)));
    (child.stdio[3] as Readable).on('data', (data) => {
      text += data;
      const [, port] = /"port":\s*(\d+)/u.exec(text) ?? [];
      if (port !== undefined) resolve(port);
    });
  });
}

const configOf = (objects: string): string => `
using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .worker),
    (name = "objects", disk = (path = ${JSON.stringify(objects)}, writable = true)),
    (name = "internet", network = (allow = ["private"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", service = "main")],
);
const worker :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  compatibilityDate = "2026-07-01",
  compatibilityFlags = ["nodejs_compat"],
  durableObjectNamespaces = [(className = "Order", uniqueKey = "order", enableSql = true)],
  durableObjectStorage = (localDisk = "objects"),
  bindings = [(name = "ORDERS", durableObjectNamespace = "Order")],
);
`;
