import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { journalEntrySchema } from '../../../machines/contracts/journal-entry.ts';
import { PHASES, TASKS, type Task } from '../../../machines/contracts/phase.ts';
import { finalAnswerSchema } from '../../../machines/contracts/synthesis.ts';
import type { ScriptEntry } from '../../../src/models/scripted.ts';
import { everyTask, wish } from '../../support/every-task.ts';
import { repliesWith, unsureAnswer } from '../../support/replies.ts';
import { type Plan, settle, startScripted } from '../../support/run-chain.ts';

type Fault = 'none' | 'prose' | 'misfit' | 'cut' | 'flaky' | 'dead' | 'hang' | 'silent' | 'throws';
const faults: Fault[] = [
  'none',
  'none',
  'none',
  'none',
  'prose',
  'misfit',
  'cut',
  'flaky',
  'dead',
  'hang',
  'silent',
  'throws',
];

/** What one call comes to. */
function faulty(task: Task, fault: Fault, answer: Record<string, unknown>, wishes: boolean): ScriptEntry {
  const call = wishes ? wish : null;
  const changes = { action: { call }, continuation: { done: !wishes, next: call } };
  const reply = task === 'yield' ? answer : repliesWith(changes)[task];
  switch (fault) {
    case 'none':
      return reply;
    case 'prose':
      return { text: `Let me {think}. \`\`\`json\n${JSON.stringify(reply)}\n\`\`\` That is all.` };
    case 'misfit':
      return { text: '{"answer": 3}' };
    case 'cut':
      return { reply, cut: 12 };
    case 'flaky':
      return { failure: { code: 'server_error', status: 500, retryAfterMs: 1000 } };
    case 'dead':
      return { failure: { code: 'unauthorized', retryable: false } };
    case 'hang':
      return { hang: true, text: '{"a' };
    case 'silent':
      return { hang: true };
    case 'throws':
      return () => {
        throw new Error('a model that breaks its contract');
      };
    default: {
      const never: never = fault;
      return never;
    }
  }
}

const schedule = fc.record({
  faults: fc.infiniteStream(fc.constantFrom(...faults)),
  answers: fc.infiniteStream(
    fc.record({
      confidence: fc.double({ min: 0, max: 1, noNaN: true }),
      taskComplete: fc.boolean(),
      informationSufficiency: fc.double({ min: 0, max: 1, noNaN: true }),
      needsTools: fc.boolean(),
      proposedPhase: fc.option(fc.constantFrom<string>(...PHASES, 'nowhere', '__proto__', '')),
    }),
  ),
  wishes: fc.infiniteStream(fc.boolean()),
  maxCycles: fc.integer({ min: 1, max: 6 }),
  maxModelCalls: fc.integer({ min: 1, max: 60 }),
  startAt: fc.constantFrom(...PHASES),
  mode: fc.constantFrom('automatic' as const, 'manual' as const),
  words: fc.array(
    fc.record({
      afterSteps: fc.integer({ min: 0, max: 30 }),
      word: fc.constantFrom('cancel', 'finish', 'direct', 'nonsense', 'consent'),
    }),
    { maxLength: 3 },
  ),
});

describe('any run, whatever the model and the user do', () => {
  it('[E3][E7] always ends in a valid answer, within its limits, every call counted, no timer left', async () => {
    await fc.assert(
      fc.asyncProperty(
        schedule,
        async ({ faults: nextFault, answers, wishes, words, maxCycles, maxModelCalls, ...how }) => {
          const faultOf = nextFault[Symbol.iterator]();
          const wishOf = wishes[Symbol.iterator]();
          const answerOf = answers[Symbol.iterator]();
          const plan: Record<string, (call: number) => ScriptEntry> = {};
          for (const task of TASKS)
            plan[task] = (call) =>
              faulty(
                task,
                faultOf.next().value ?? 'none',
                unsureAnswer(call % 3, answerOf.next().value ?? {}),
                wishOf.next().value ?? false,
              );
          const limits = { maxCycles, maxModelCalls, totalMs: 600_000, phaseMs: 90_000 };
          const { run, model, clock } = startScripted(plan as Plan, { ...everyTask.options, limits }, how);
          for (let steps = 0; run.actor.getSnapshot().status === 'active'; steps += 1) {
            if (steps > 2000) throw new Error(`the run hangs in ${JSON.stringify(run.actor.getSnapshot().value)}`);
            const before = run.journal.length;
            await settle(1);
            for (const { word } of words.filter(({ afterSteps }) => afterSteps === steps)) say(run, word);
            // Time passes only when nothing else does.
            if (run.journal.length === before) clock.increment(1000);
          }
          const answer = finalAnswerSchema.parse(await run.answer);
          expect(answer.answerText.trim()).not.toBe('');
          expect(answer.metadata.cycles).toBeLessThanOrEqual(maxCycles);
          expect(model.calls.length).toBeLessThanOrEqual(maxModelCalls + 3);
          expect(answer.metadata.usage.modelCalls).toBe(model.calls.length);
          expect(answer.metadata.degraded).toBe(answer.status !== 'completed');
          for (const entry of run.journal) journalEntrySchema.parse(entry);
          expect(clock.waiting.size).toBe(0);
        },
      ),
      { numRuns: 1000 },
    );
  }, 120_000);
});

function say(run: ReturnType<typeof startScripted>['run'], word: string): void {
  if (word === 'cancel') run.cancel();
  else if (word === 'finish') run.send({ type: 'run.finished' });
  else if (word === 'consent') run.send({ type: 'consent.given', choice: 'remove' });
  else run.send({ type: 'run.directed', phase: word === 'direct' ? 'experience' : 'nonsense' });
}
