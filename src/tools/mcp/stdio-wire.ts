import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { PassThrough, type Readable } from 'node:stream';
import type { Sdk } from './load-sdk.ts';
import type { StdioSettings } from './options.ts';
import { MAX_MESSAGE_BYTES, type Wire } from './wire.ts';

/**
 * A server as a process, by the SDK's transport, which closes its input, waits two seconds, and then ends it by force. Beside that:
 * it is known how the process ended, and neither a server that floods us nor one that left processes behind keeps ours open.
 */
export function stdioWire({ StdioClientTransport }: Sdk, { command, args, env, cwd }: StdioSettings): Wire {
  let isEnding = false;

  class WatchedTransport extends StdioClientTransport {
    override async start(): Promise<void> {
      const starting = super.start();
      server.watch(this['_process'] as ChildProcess);
      await starting;
    }

    /** The SDK calls it by itself where a message was too long, or connecting failed. */
    override async close(): Promise<void> {
      if (!isEnding) server.abandon();
      await super.close();
    }
  }

  const place = cwd === undefined ? {} : { cwd };
  const limits = { stderr: 'pipe', maxBufferSize: MAX_MESSAGE_BYTES } as const;
  const transport = new WatchedTransport({ command, args, env, ...place, ...limits });
  const { stderr } = transport;
  const server = createServerProcess(stderr instanceof PassThrough ? lastLines(stderr) : () => '');
  transport.onclose = server.close;
  transport.onerror = server.blame;
  const end = async (isFailing: boolean): Promise<void> => {
    if (isFailing) server.abandon();
    isEnding = true;
    await transport.close();
    await server.exited();
    server.close();
  };
  return { transport, gone: server.gone, isSessionLost: () => false, end };
}

const MAX_CHARS = 2_000;

/** Reads a stream to its end, so that its writer never waits, and keeps its last lines. */
function lastLines(stream: Readable): () => string {
  let kept = '';
  stream.setEncoding('utf8');
  stream.on('data', (piece: string) => {
    kept = (kept + piece.slice(-MAX_CHARS)).slice(-MAX_CHARS);
  });
  stream.on('error', () => {});
  return () => kept.trim().split('\n').slice(-5).join(' | ');
}

/** How long the pipes of a process that exited are read on, where a process of its own still holds them. */
const DRAIN_MS = 500;

/** How long a process that is of no more use may take to end when it is told to. */
const GRACE_MS = 500;

/** What becomes of a server's process: how it ended, in words, and that nothing of it stays. */
interface ServerProcess {
  /** Aborts, with an Error that says why, when the process can be spoken to no more. */
  readonly gone: AbortSignal;
  watch(child: ChildProcess): void;
  /** What went wrong; it is told where the process does not say more. */
  blame(error: Error): void;
  /** It can be spoken to no more. */
  close(): void;
  /** Listens to it no more, and ends it. */
  abandon(): void;
  /** Resolves when it has exited; holds its pipes no longer. */
  exited(): Promise<void>;
}

/** `lastWords` is what it wrote last to its standard error. */
function createServerProcess(lastWords: () => string): ServerProcess {
  const gone = new AbortController();
  let child: ChildProcess | undefined;
  let fate = 'it closed';
  const close = (): void => {
    const words = lastWords();
    gone.abort(new Error(`${fate}${words && `; its last words: ${words}`}`));
  };
  const letGo = (): void => {
    for (const pipe of [child?.stdin, child?.stdout, child?.stderr]) pipe?.destroy();
  };
  return {
    gone: gone.signal,
    close,
    watch: (started) => {
      child = started;
      child.once('exit', (code, signal) => {
        fate = `it exited with ${code === null ? signal : `code ${code}`}`;
        setTimeout(letGo, DRAIN_MS).unref();
      });
    },
    blame: ({ message }) => {
      fate = message;
    },
    abandon: () => {
      close();
      child?.stdout?.destroy();
      child?.kill();
      setTimeout(() => child?.kill('SIGKILL'), GRACE_MS).unref();
    },
    exited: async () => {
      letGo();
      if (isRunning(child)) await once(child, 'exit');
    },
  };
}

function isRunning(child: ChildProcess | undefined): child is ChildProcess {
  return child?.pid !== undefined && child.exitCode === null && child.signalCode === null;
}
