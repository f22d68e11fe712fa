import { z } from 'zod';
import type { ChatModel } from '../../../../machines/contracts/model.ts';
import { createCapabilityLoop } from '../../../../src/engine/runtime/capability-loop.ts';
import { type Decider, modelDecider } from '../../../../src/engine/runtime/decider.ts';
import { createPostChain } from '../../../../src/index.ts';
import { scriptedModel } from '../../../../src/models/scripted.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { PatientClock, turn } from '../../../machines/action/patient-clock.ts';
import { capability, REQUEST, type Way } from './loop-rig.ts';

export const STAGES = ['executing', 'validating', 'asking a function', 'asking the model', 'classifying'] as const;
type Stage = (typeof STAGES)[number];

interface Stuck {
  readonly abort: () => void;
  readonly clock: PatientClock;
  readonly entries: () => number;
  /** The signal of the part that hangs; a validation is given none. */
  readonly signal: () => AbortSignal | undefined;
  /** The part answers after all, well or badly. */
  readonly answerLate: (well: boolean) => void;
  readonly ran: () => number;
  readonly ended: Promise<{ readonly said: string; readonly modelCalls: number }>;
  readonly calls: () => number;
}

/** A chain or a loop that hangs at this stage until it is aborted. */
export async function stuckAt(way: Way, stage: Stage, signal?: AbortSignal): Promise<Stuck> {
  const clock = new PatientClock();
  let given: AbortSignal | undefined;
  let settle = (_: boolean): void => {};
  let ran = 0;
  const hang = <T>(value: T, part?: AbortSignal): Promise<T> => {
    given = part;
    return new Promise((resolve, reject) => {
      settle = (well) => (well ? resolve(value) : reject(new Error('too late')));
    });
  };
  const action = { ...replies.action, call: { capability: 'draft', arguments: '{}' } };
  const hangs = { classifying: 'action', 'asking the model': 'continuation' }[stage as string];
  const scripted = scriptedModel(({ task }) =>
    task === hangs ? { hang: true } : task === 'action' ? action : { ...replies }[task as 'yield'],
  );
  const model: ChatModel = {
    ...scripted,
    stream: (request, options) => {
      if (request.task === hangs) given = options.signal;
      return scripted.stream(request, options);
    },
  };
  const draft = capability(
    'draft',
    (_, context) => {
      ran += 1;
      return stage === 'executing' ? hang('late', context.signal) : 'draft ran';
    },
    z.looseObject({}).refine(() => (stage === 'validating' ? hang(true) : true)),
  );
  const byFunction: Decider = (_, context) => hang({ done: true, finalOutput: 'late' } as const, context.signal);
  const decider = { 'asking a function': byFunction, 'asking the model': modelDecider }[stage as string] ?? null;
  const parts = { model, clock, capabilities: [draft], decider };
  const asked = { request: REQUEST, ...(signal && { signal }) };
  const run = way === 'the chain' ? createPostChain(parts).run(asked) : createCapabilityLoop(parts).run(asked);
  for (let turns = 0; turns < 12; turns += 1) await turn();
  return {
    clock,
    abort: () => run.cancel(),
    entries: () => run.journal.length,
    signal: () => given,
    answerLate: (well) => settle(well),
    ran: () => ran,
    calls: () => scripted.calls.length,
    ended:
      'answer' in run
        ? run.answer.then(({ status, metadata }) => ({ said: status, modelCalls: metadata.usage.modelCalls }))
        : run.outcome.then(({ stopReason, usage }) => ({ said: stopReason, modelCalls: usage.modelCalls })),
  };
}
