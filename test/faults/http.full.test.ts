import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SimulatedClock } from 'xstate';
import { createPostChain, type FinalAnswer } from '../../src/entries/index.ts';
import { openaiModel } from '../../src/entries/openai.ts';
import { startChatServer } from '../support/chat-server.ts';
import { ANSWER, type FaultMode, GROUPS, MODES } from './http-modes.ts';

/** Real limits, scaled down so that the suite takes half a minute. */
const limits = {
  maxCycles: 2,
  maxModelCalls: 30,
  totalMs: 4_500,
  phaseMs: 1_000,
  synthesisMs: 1_000,
  firstChunkMs: 250,
  chunkMs: 250,
  maxTransportRetries: 2,
  maxCorrections: 1,
  backoffBaseMs: 5,
};

/** A run that must complete has as much time as a busy machine needs. */
const patient = {
  ...limits,
  totalMs: 600_000,
  phaseMs: 300_000,
  synthesisMs: 100_000,
  firstChunkMs: 60_000,
  chunkMs: 60_000,
};

function limitsOf({ ending, isTimed = false }: FaultMode): typeof limits {
  if (ending !== 'completed') return limits;
  return isTimed ? { ...patient, firstChunkMs: 3_000 } : patient;
}

/** The model's waits for the end of a connection, ten times as short. */
const clock = {
  setTimeout: (fn: () => void, timeoutMs: number) => setTimeout(fn, timeoutMs / 10),
  clearTimeout: (id: unknown) => clearTimeout(id as NodeJS.Timeout),
};

/** So many runs at the same time. */
const WORKERS = 20;
const KEY = 'sk-secret-0123456789';

interface Outcome {
  readonly answer: FinalAnswer;
  readonly requests: number;
}

const outcomes = new Map<FaultMode, Promise<Outcome>>();
const unhandled: unknown[] = [];
const onUnhandled = (reason: unknown): void => void unhandled.push(reason);

beforeAll(() => {
  process.on('unhandledRejection', onUnhandled);
  const workers: Promise<unknown>[] = Array.from({ length: WORKERS }, () => Promise.resolve());
  for (const [at, mode] of MODES.entries()) {
    const outcome = (workers[at % WORKERS] ?? Promise.resolve()).then(() => runOn(mode));
    outcomes.set(mode, outcome);
    workers[at % WORKERS] = outcome.catch(() => {});
  }
});

afterAll(async () => {
  await Promise.allSettled(outcomes.values());
  process.off('unhandledRejection', onUnhandled);
  expect(unhandled).toEqual([]);
});

/** Runs the chain on a server with this fault, until every connection but an idle one is closed. */
async function runOn(mode: FaultMode): Promise<Outcome> {
  const server = await startChatServer(async (exchange) => void (await mode.respond(exchange)));
  const model = openaiModel({ model: 'm', apiKey: KEY, baseURL: server.baseURL, clock });
  // Stands still while the process waits for the CPU, so that only the server can make a deadline pass.
  const runClock = new SimulatedClock();
  const ticks = mode.isTimed ? setInterval(() => runClock.increment(10), 10) : undefined;
  const timing = mode.isTimed ? { clock: runClock } : {};
  const chain = createPostChain({ profile: 'thorough', model, limits: limitsOf(mode), ...timing });
  try {
    const answer = await chain.run({ request: 'Is it so?' }).answer;
    while (server.used().open > 1) await new Promise((resolve) => setTimeout(resolve, 10));
    return { answer, requests: server.exchanges.length };
  } finally {
    clearInterval(ticks);
    await server.stop();
  }
}

describe('the table of faults', () => {
  test('has at least 120 modes, with unique descriptions', () => {
    expect(MODES.length).toBeGreaterThanOrEqual(120);
    expect(new Set(MODES.map(({ description }) => description)).size).toBe(MODES.length);
  });

  test('is described in docs/reliability.md', () => {
    const page = readFileSync('docs/reliability.md', 'utf8');
    for (const [group, modes] of Object.entries(GROUPS)) expect(page).toContain(`| ${group} | ${modes.length} |`);
  });
});

describe.each(Object.entries(GROUPS))('a run on a model server with a fault: %s', (_, modes) => {
  test.each(modes)('$description', async (mode) => {
    const { answer, requests } = (await outcomes.get(mode)) as Outcome;
    const { metadata, answerText, status } = answer;
    expect(answerText).not.toBe('');
    if (mode.ending === 'answered') expect(['completed', 'degraded']).toContain(status);
    else expect(status, answer.notes).toBe(mode.ending);
    if (mode.ending === 'completed') expect(answerText).toBe(ANSWER);
    expect(metadata.budget.modelCalls.used).toBeLessThanOrEqual(limits.maxModelCalls);
    expect(requests).toBeLessThanOrEqual(2 * limits.maxModelCalls);
    expect(JSON.stringify(answer)).not.toContain(KEY);
    expect({}).not.toHaveProperty('polluted');
  });
});
