import { fork } from 'node:child_process';
import { type ErrorCode, PostChainError } from '../../../machines/contracts/error.ts';
import { cutEnd, oneLine } from '../../internal/printable.ts';
import { MEMORY_EXCEEDED, type ProcessReply, type ProcessRequest } from './process-messages.ts';

export interface ProcessLimits {
  readonly timeLimitMs: number;
  readonly memoryLimitMb: number;
}

const MAX_STDERR_CHARS = 4_000;

/**
 * Runs a tool in a process of its own: a machine's file is code that may hang, exit or exhaust the memory. Rejects with the tool's error, or
 * with `exploration_failed` if the process exceeded a limit or ended without a result.
 */
export function runInProcess(
  request: ProcessRequest,
  { timeLimitMs, memoryLimitMb }: ProcessLimits,
  signal: AbortSignal,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const child = fork(process.argv[1] ?? '', ['machine-tool', String(memoryLimitMb)], {
      cwd: request.root,
      execArgv: [...process.execArgv, `--max-old-space-size=${memoryLimitMb}`],
      // What the module prints must not reach the protocol on standard output.
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    let stderr = '';
    child.stderr?.setEncoding('utf8').on('data', (piece: string) => {
      stderr = (stderr + piece).slice(-MAX_STDERR_CHARS);
    });
    const failed = (code: ErrorCode, message: string) => finish(() => reject(new PostChainError(code, message)));
    const timer = setTimeout(
      () =>
        failed(
          'exploration_failed',
          `${request.name} did not finish within ${timeLimitMs / 1_000} s, and was stopped; check for an endless loop in the module, pass "depth" or "abstraction", or raise --time-limit`,
        ),
      timeLimitMs,
    );
    const onAbort = (): void => failed('cancelled', `The ${request.name} call was cancelled`);
    function finish(settle: () => void): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      child.removeAllListeners('exit');
      child.kill('SIGKILL');
      settle();
    }
    signal.addEventListener('abort', onAbort, { once: true });
    child.on('message', (reply: ProcessReply) => {
      // The module may send messages, too.
      if (Object(reply).tool !== 'postchain') return;
      if (reply.error === undefined) finish(() => resolve(reply.result));
      else failed(reply.error.code, reply.error.message);
    });
    child.once('error', (error) => failed('exploration_failed', `Cannot start a process: ${error.message}`));
    child.once('exit', (code, killedBy) => {
      // Its last words may still be in the pipe.
      setImmediate(() =>
        failed('exploration_failed', endedText(request.name, memoryLimitMb, { code, killedBy, stderr })),
      );
    });
    child.send(request);
    if (signal.aborted) onAbort();
  });
}

interface Ended {
  readonly code: number | null;
  readonly killedBy: string | null;
  readonly stderr: string;
}

function endedText(name: string, memoryLimitMb: number, { code, killedBy, stderr }: Ended): string {
  if (stderr.includes(MEMORY_EXCEEDED) || stderr.includes('heap out of memory'))
    return `${name} exceeded ${memoryLimitMb} MB of memory, and was stopped; check for a loop that allocates, pass "depth" or "abstraction", or raise --memory-limit`;
  const last = cutEnd(oneLine(stderr.trim().split('\n').at(-1) ?? ''), 300);
  if (last.startsWith(OWN)) return last.slice(OWN.length);
  const how = killedBy === null ? `exit code ${code}` : `signal ${killedBy}`;
  return `The process of ${name} ended with ${how}${last === '' ? '' : `: ${last}`}; a module must not end its process when it is imported`;
}

/** What begins the errors that the process itself prints. */
const OWN = 'postchain: ';
