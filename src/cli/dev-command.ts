import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { PostChainError } from '../../machines/contracts/error.ts';
import { createWorker, type WorkerEvent } from '../durable/worker.ts';
import { oneLine } from '../internal/printable.ts';
import { moduleMachines } from './durable-modules.ts';
import { homePath } from './home.ts';
import { openInspector } from './inspect-command.ts';
import { openJournals } from './open-journals.ts';
import { type ServeFlags, serveCommand } from './serve-command.ts';

export interface DevFlags extends ServeFlags {
  readonly inspectPort: number;
}

/** Tells the process that Node starts again after each change. */
const INNER = 'POSTCHAIN_DEV';

/** Serves the durable machines of modules, with a worker and the inspector, until Ctrl-C, and starts again when a file that they import changes. Returns the exit code. */
export async function devCommand(
  flags: DevFlags,
  { stderr }: Pick<NodeJS.Process, 'stderr'> = process,
): Promise<number> {
  if (process.env[INNER] === undefined) return watched(stderr);
  const place = flags.journals ?? (process.env['POSTCHAIN_JOURNALS'] || homePath('served'));
  const machines = await moduleMachines(flags);
  if (machines.length === 0)
    throw new PostChainError(
      'invalid_option',
      'dev: expected --module FILE, or a postchain.config file in this directory',
    );
  const worker = createWorker({ hosts: machines.map(({ host }) => host), onEvent: (event) => report(event, stderr) });
  const journals = openJournals({ journals: place });
  const found = { journals, place, isFile: false, isForeign: false };
  try {
    const inspector = await openInspector({ ...found, hosts: machines, port: flags.inspectPort }, stderr);
    try {
      await serveCommand({ ...flags, journals: place });
    } finally {
      await inspector.close();
    }
  } finally {
    await worker.stop();
  }
  return 0;
}

/** Runs this command again in a process that Node restarts. The token of the server stays the same. */
async function watched(stderr: NodeJS.WriteStream): Promise<number> {
  const env: NodeJS.ProcessEnv = { ...process.env, [INNER]: '1' };
  if (!env['POSTCHAIN_TOKENS']) {
    const token = randomBytes(32).toString('base64url');
    env['POSTCHAIN_TOKENS'] = `${token}=local`;
    stderr.write(`TOKEN=${token}\n`);
  }
  const args = ['--watch', '--watch-preserve-output', ...process.execArgv, ...process.argv.slice(1)];
  const child = spawn(process.execPath, args, { stdio: 'inherit', env });
  const stop = (): void => void child.kill('SIGTERM');
  process.on('SIGINT', stop).on('SIGTERM', stop);
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 0;
}

function report(event: WorkerEvent, stderr: NodeJS.WriteStream): void {
  if (event.type === 'failed') stderr.write(`Worker: ${oneLine(event.id)} failed: ${oneLine(String(event.error))}\n`);
}
