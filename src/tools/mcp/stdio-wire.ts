import type { ChildProcess } from 'node:child_process';
import { PassThrough } from 'node:stream';
import { lastLines } from './last-lines.ts';
import type { Sdk } from './load-sdk.ts';
import type { StdioSettings } from './options.ts';
import { createServerProcess } from './server-process.ts';
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
