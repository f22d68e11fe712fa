import v8 from 'node:v8';
import vm from 'node:vm';
import { beforeAll, describe, expect, it } from 'vitest';
import { type AnyActorRef, createActor } from 'xstate';
import type { JournalEntry } from '../../../../machines/contracts/journal.ts';
import type { ChatModel } from '../../../../machines/contracts/model.ts';
import { createChainActors } from '../../../../src/chain/runtime/actors.ts';
import { createCapabilityLoop } from '../../../../src/chain/runtime/capability-loop.ts';
import type { ContinuationOption } from '../../../../src/chain/runtime/decider.ts';
import { resolveOptions } from '../../../../src/chain/runtime/options.ts';
import { wholePrompts } from '../../../../src/llm/recorded-prompts.ts';
import { scriptedModel } from '../../../../src/models/scripted.ts';
import { actionInput } from '../../../support/action-machine.ts';
import { REQUEST } from '../../../support/capability-loops.ts';
import { capabilityNamed } from '../../../support/run-chain.ts';
import { TestClock } from '../../../support/simulated-clock.ts';
import { sampleSize } from '../../../support/soak.ts';

const STEPS = sampleSize('steps of a loop', 300, 1_000);
const RESULT_CHARS = 100_000;
/** Maximum retained bytes per step: its entry in the results and in the memory, each with 500 characters of the output at two bytes per character, plus object overhead. The output itself is 100 kB. */
const KEPT_BYTES = 4_000;

v8.setFlagsFromString('--expose-gc');
const collect = vm.runInNewContext('gc') as () => void;

function heapBytes(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

interface Long {
  /** Returns the bytes that each step from the 100th to the last one left in the heap. */
  readonly bytesAStep: number;
  readonly chars: readonly number[];
  readonly runs: number;
  readonly journal: readonly JournalEntry[];
}

const ARGUMENTS = { chapter: 'the first chapter of the long book about the sky' };
const next = { capability: 'draft', arguments: ARGUMENTS };

/** A long loop, each step with its own result or error of 100 kB. */
async function longLoop(way: 'machine' | 'loop', decidedBy: 'function' | 'model', fails = false): Promise<Long> {
  let runs = 0;
  let [early, late] = [0, 0];
  const draft = capabilityNamed('draft', () => {
    runs += 1;
    if (runs === 100) early = heapBytes();
    if (runs === STEPS) late = heapBytes();
    const text = Buffer.alloc(RESULT_CHARS, `step ${runs} `).toString('latin1');
    if (fails) throw new Error(text);
    return text;
  });
  const chars: number[] = [];
  const parts = {
    model: decidingModel(chars),
    clock: new TestClock(),
    capabilities: [draft],
    continuation: (decidedBy === 'model' ? 'model' : () => ({ done: false, next })) as ContinuationOption,
    limits: { maxContinuations: STEPS, maxModelCalls: 10_000, maxTokens: 1e9 },
  };
  const started = way === 'loop' ? startLoop(parts) : startMachine(parts, decidedBy);
  await started.ended;
  return { bytesAStep: (late - early) / (STEPS - 100), chars, runs, journal: started.journal };
}

/** A decider that always continues, records how much it is shown, and retains nothing. */
function decidingModel(chars: number[]): ChatModel {
  const reply = { done: false, finalOutput: null, next: [{ ...next, arguments: JSON.stringify(ARGUMENTS) }] };
  return {
    id: 'deciding',
    contextWindowTokens: 1e9,
    stream: (request, options) => {
      chars.push(request.turns.reduce((sum, { content }) => sum + content.length, 0));
      return scriptedModel({ continuation: [{ reply }] }).stream(request, options);
    },
  };
}

type Parts = Parameters<typeof createCapabilityLoop>[0];

function startLoop(parts: Parts) {
  const { outcome, entries: journal } = createCapabilityLoop(parts).run({ request: REQUEST, call: next });
  return { ended: outcome as Promise<unknown>, journal };
}

function startMachine(parts: Parts, decider: 'function' | 'model') {
  const given = actionInput(['draft']);
  const input = {
    ...given,
    decider,
    maxContinuations: STEPS,
    maxTokens: 1e9,
    policy: { ...given.policy, maxCalls: 10_000 },
    continuationPolicy: { ...given.continuationPolicy, maxCalls: 10_000 },
    maxSameCalls: STEPS,
    calls: [{ ...next, arguments: JSON.stringify(ARGUMENTS) }],
  };
  const clock = new TestClock();
  const scope = { clock, record: () => {}, partial: () => {}, hasReaders: () => false, prompts: wholePrompts };
  const actors = createChainActors({ ...resolveOptions(parts ?? {}), scopeOf: () => scope });
  const actor: AnyActorRef = createActor(actors.action, { input, clock });
  const ended = new Promise<unknown>((resolve) => actor.subscribe({ complete: () => resolve(null) }));
  actor.start();
  return { ended, journal: [] };
}

describe.each(['function', 'model'] as const)('a loop of many steps with 100 kB each, decided by a %s', (by) => {
  let long: Long;
  beforeAll(async () => {
    long = await longLoop('machine', by);
  });

  it('[R3] completes and keeps only a small record of each step', () => {
    expect(long.runs).toBe(STEPS);
    expect(long.bytesAStep).toBeLessThan(KEPT_BYTES);
  });

  if (by === 'model')
    it('shows the model as much at the end as after one hundred steps', () => {
      expect(long.chars).toHaveLength(STEPS);
      expect(long.chars.at(-1)).toBeLessThan((long.chars[99] ?? 0) * 1.1);
    });
});

describe('the journal of a loop of 1,000 steps', () => {
  let long: Long;
  beforeAll(async () => {
    long = await longLoop('loop', 'function');
  });

  it('[R8] records as much for the last step as for the tenth', () => {
    const step = (index: number) => {
      const at = long.journal.findIndex((entry) => entry.type === 'capability-start' && entry.index === index);
      const after = long.journal.findIndex((entry) => entry.type === 'capability-start' && entry.index === index + 1);
      return long.journal.slice(at, after);
    };
    expect(step(STEPS - 1)).toHaveLength(step(10).length);
    expect(JSON.stringify(step(STEPS - 1)).length).toBeLessThan(JSON.stringify(step(10)).length + 100);
  });
});
