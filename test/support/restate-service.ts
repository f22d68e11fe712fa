import { appendFileSync, existsSync } from 'node:fs';
import { createServer } from 'node:http2';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createEndpointHandler } from '@restatedev/restate-sdk';
import type { ChatModel, ModelRequest } from 'postchain';
import { recordOnce, wasInterrupted } from 'postchain/durable';
import { createRestateActor, createRestateChain } from 'postchain/restate';
import { replies } from 'postchain/testing';
import { assign, createMachine, fromPromise } from 'xstate';

const folder = process.env['MEETING'] ?? '';

/** The run that a request belongs to: its user says so, after a "#". */
const runOf = ({ input }: ModelRequest): string => /#([\w-]+)/.exec(JSON.stringify(input))?.[1] ?? '';

/** A reply of Yield that ends nothing: unsure, and never the answer before. */
const unsure = (chars: number) => ({
  ...replies.yield,
  answer: `Perhaps a${chars} b${chars} c${chars} d${chars}.`,
  confidence: 0.1,
  informationSufficiency: 1,
});

const replyTo = ({ task, input }: ModelRequest): unknown => {
  const text = JSON.stringify(input);
  return task === 'yield' && text.includes('Unsure') ? unsure(text.length) : replies[task as keyof typeof replies];
};

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
    yield { type: 'text-delta', text: JSON.stringify(replyTo(request)) };
    write('ended');
    yield { type: 'finish', reason: 'stop', usage: null };
  },
};

/** Its output is the process that has recorded its id, and whether its call was interrupted; the call waits where the test wants it to. */
const probe = createMachine({
  id: 'probe',
  context: () => ({ pid: recordOnce('pid', () => process.pid), wasInterrupted: false }),
  invoke: {
    src: fromPromise(async ({ self }) => {
      appendFileSync(
        join(folder, 'calls.log'),
        `${JSON.stringify({ pid: process.pid, what: 'begun', run: 'probe', task: 'probe' })}\n`,
      );
      while (existsSync(join(folder, 'hold-probe'))) await wait(10);
      return wasInterrupted({ self });
    }),
    onDone: { target: '.done', actions: assign({ wasInterrupted: ({ event }) => event.output as boolean }) },
  },
  initial: 'calling',
  states: { calling: {}, done: { type: 'final' } },
  output: ({ context }) => context,
});

/** The tests name the call of each phase. */
const profile = { extends: 'thorough', earlyCalls: false } as const;

const services = [
  createRestateChain({ model, profile, consent: 'ask' }, { name: 'chain' }),
  // It lets go of its run at every wait, and plays it from the beginning when something comes.
  createRestateChain({ model, profile, consent: 'ask' }, { name: 'restless', inactivityTimeout: 0 }),
  createRestateChain(
    { model, profile, limits: { firstChunkMs: 50, maxTransportRetries: 1, backoffBaseMs: 10 } },
    { name: 'hasty' },
  ),
  createRestateChain({ model, profile, consent: 'ask', limits: { consentMs: 300 } }, { name: 'curt' }),
  createRestateChain({ model, profile, limits: { phaseMs: 500, maxPhaseRetries: 0 } }, { name: 'brief' }),
  createRestateActor(probe),
];
createServer(createEndpointHandler({ services })).listen(Number(process.env['PORT']), '127.0.0.1');
