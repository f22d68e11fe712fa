import { createActor, SimulatedClock } from 'xstate';
import type { AttemptPolicy } from '../../../machines/contracts/attempt.ts';
import type { EmittedEvent } from '../../../machines/contracts/events.ts';
import type { RuntimeEvent } from '../../../machines/contracts/journal.ts';

import type { ChatModel } from '../../../machines/contracts/model.ts';
import type { Task } from '../../../machines/contracts/phase.ts';
import { type CallInfo, provideAttempt } from '../../../src/engine/attempts/provide-attempt.ts';
import { promptSpec } from '../../../src/engine/prompts/prompt.ts';
import { prompts } from '../../../src/engine/prompts/registry.ts';
import type { PartialUpdate } from '../../../src/engine/runtime/run-events.ts';
import { flush, POLICY } from './attempt-rig.ts';

/** A reply that fits the schema of Intention. */
export const GOAL = {
  goal: 'to understand why the sky is blue',
  alternatives: ['to see a blue sky', 'to paint one'],
  clarity: 0.9,
  unclearIntent: false,
  alignment: [{ messageId: 'm1', score: 0.5 }],
};

type Seen = EmittedEvent | RuntimeEvent | PartialUpdate;

/** The attempt machine over the product's own reader and validator and a model, on a clock that the test moves. */
export function attemptWithModel(model: ChatModel, policy: Partial<AttemptPolicy> = {}, input: unknown = intention()) {
  const clock = new SimulatedClock();
  const seen: Seen[] = [];
  const watcher = {
    onText: ({ attemptId }: CallInfo, text: string) => void seen.push({ type: 'text-delta', attemptId, text }),
    onPartial: ({ attemptId, task, attempt }: CallInfo, value: unknown) =>
      void seen.push(structuredClone({ type: 'partial', attemptId, task, attempt, value }) as PartialUpdate),
  };
  const specFor = (task: string) => promptSpec(prompts[task as Task]);
  const machine = provideAttempt({ models: [model], specFor, replyForm: 'text', clock, observer: watcher });
  const actor = createActor(machine, {
    input: { id: 's3.intention', task: 'intention', input, policy: { ...POLICY, ...policy } },
    clock,
  });
  actor.on('*', (fact) => void seen.push(fact));
  actor.subscribe({ error: () => {} });
  actor.start();
  return {
    actor,
    clock,
    seen,
    ofType: <T extends Seen['type']>(type: T) =>
      seen.filter((one): one is Extract<Seen, { type: T }> => one.type === type),
    /** Lets the stream and the validation go as far as they can without the clock. */
    async settle() {
      await flush(5_000);
      return actor.getSnapshot();
    },
  };
}

function intention() {
  const request = 'Why is the sky blue?';
  return { phase: 'intention', runId: 'r1', request, prompt: request, cycle: 1, step: 3, content: '', messages: [] };
}
