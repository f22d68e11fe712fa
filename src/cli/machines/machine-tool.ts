import { Worker } from 'node:worker_threads';
import { PostChainError } from '../../../machines/contracts/error.ts';
import { firstLineOf, oneLine } from '../../internal/printable.ts';
import { bounded } from './bounded.ts';
import { MEMORY_EXCEEDED, type ProcessReply, type ProcessRequest } from './process-messages.ts';
import { runTool } from './run-tool.ts';

/**
 * Ends the process when it holds more memory than its limit, or its parent has ended. V8 limits only its own heap, not buffers. A thread,
 * because a module may block the event loop.
 */
const WATCHDOG = `
const { workerData: { limit, parent, message } } = require('node:worker_threads');
const { writeSync } = require('node:fs');
setInterval(() => {
  if (process.memoryUsage.rss() > limit) writeSync(2, message + '\\n');
  else if (process.ppid === parent) return;
  process.kill(process.pid, 'SIGKILL');
}, 100);`;

/** Memory of Node itself, outside of what a machine uses. */
const NODE_MB = 150;

/** Runs one tool, which the parent process sends, and sends the result. */
export function machineTool(memoryLimitMb: number): void {
  const send = process.send?.bind(process);
  if (send === undefined)
    throw new PostChainError('invalid_option', 'machine-tool is started by: postchain mcp --machines');
  const limit = (memoryLimitMb + NODE_MB) * 2 ** 20;
  new Worker(WATCHDOG, { eval: true, workerData: { limit, parent: process.ppid, message: MEMORY_EXCEEDED } }).unref();
  process.once('message', async (request: ProcessRequest) => {
    const reply: ProcessReply = await answer(request);
    send(reply, undefined, undefined, () => process.exit(0));
  });
}

async function answer({ name, input }: ProcessRequest): Promise<ProcessReply> {
  try {
    return { tool: 'postchain', result: bounded(await runTool(name, input)) };
  } catch (error) {
    const code = error instanceof PostChainError ? error.code : 'exploration_failed';
    return { tool: 'postchain', error: { code, message: oneLine(firstLineOf(error)) } };
  }
}
