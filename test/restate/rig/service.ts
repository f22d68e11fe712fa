import { appendFileSync, existsSync } from 'node:fs';
import { createServer } from 'node:http2';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createEndpointHandler } from '@restatedev/restate-sdk';
import type { ChatModel, ModelRequest } from 'postchain';
import { createDurableChain } from 'postchain/durable';
import { replies } from 'postchain/testing';

const folder = process.env['MEETING'] ?? '';

/** The run that a request belongs to: its user says so, after a "#". */
const runOf = ({ input }: ModelRequest): string => /#([\w-]+)/.exec(JSON.stringify(input))?.[1] ?? '';

const unsure = { ...replies.yield, confidence: 0.1, informationSufficiency: 1 };

/** Writes down what it is asked, and waits where the test wants it to. "Unsure" in a request leaves it unsure of its answer. */
const model: ChatModel = {
  id: 'counting',
  contextWindowTokens: 128_000,
  async *stream(request, { signal }) {
    const { task } = request;
    const run = runOf(request);
    const write = (what: string): void =>
      appendFileSync(join(folder, 'calls.log'), `${JSON.stringify({ pid: process.pid, what, run, task })}\n`);
    write('begun');
    while (existsSync(join(folder, `hold-${task}`)) && !signal.aborted) await wait(10);
    if (signal.aborted) return write('aborted');
    const reply = task === 'yield' && /Unsure/.test(JSON.stringify(request.input)) ? unsure : replies[task as never];
    yield { type: 'text-delta', text: JSON.stringify(reply) };
    write('ended');
    yield { type: 'finish', reason: 'stop', usage: null };
  },
};

const services = [
  createDurableChain({ model }, { name: 'chain' }),
  // It lets go of its run at every wait, and plays it from the beginning when something comes.
  createDurableChain({ model }, { name: 'restless', inactivityTimeout: 0 }),
  createDurableChain({ model, limits: { firstChunkMs: 50, maxTransportRetries: 1, backoffBaseMs: 10 } }, { name: 'hasty' }),
  createDurableChain({ model, limits: { consentMs: 300 } }, { name: 'curt' }),
];
createServer(createEndpointHandler({ services })).listen(Number(process.env['PORT']), '127.0.0.1');
