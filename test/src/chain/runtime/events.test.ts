import { describe, expect, it } from 'vitest';
import { createActor } from 'xstate';
import { createChainMachine } from '../../../../machines/chain/chain.machine.ts';
import { journalEntrySchema } from '../../../../machines/contracts/journal.ts';
import type { ChatModel } from '../../../../machines/contracts/model.ts';
import { chainInput, createActors } from '../../../../src/chain/runtime/bare-chain.ts';
import type { RunEvent } from '../../../../src/chain/runtime/run-events.ts';
import { createPostChain } from '../../../../src/entries/index.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { entriesOf, everyTask, ONE_CALL_PER_PHASE, settle, startScripted } from '../../../support/run-chain.ts';

async function collect(events: AsyncIterable<RunEvent>): Promise<RunEvent[]> {
  const all: RunEvent[] = [];
  for await (const event of events) all.push(event.type === 'partial' ? structuredClone(event) : event);
  return all;
}

type Partials = { value: { answerText?: string } }[];

/** A model that yields to the event loop after every four characters. */
function slowly(said: Record<string, unknown>): ChatModel {
  return {
    id: 'slow',
    contextWindowTokens: 1000,
    async *stream({ task }) {
      for (const piece of JSON.stringify(said[task]).match(/.{1,4}/gs) ?? []) {
        yield { type: 'text-delta', text: piece };
        await settle(1);
      }
      yield { type: 'finish', reason: 'stop', usage: null };
    },
  };
}

describe('events of a run', () => {
  it('are valid journal entries, numbered without gaps from start to end', async () => {
    const { run } = startScripted({ intention: (call: number) => (call === 1 ? { text: 'no' } : replies.intention) });
    await run.answer;
    for (const entry of run.journal) expect(() => journalEntrySchema.parse(entry)).not.toThrow();
    expect(run.journal.map(({ seq }) => seq)).toEqual(run.journal.map((_, index) => index));
    expect([run.journal[0]?.type, run.journal.at(-1)?.type]).toEqual(['run-start', 'run-end']);
    expect(JSON.parse(JSON.stringify(run.journal))).toEqual(run.journal);
  });

  it('are complete for a late reader and the same for several readers', async () => {
    const { run } = startScripted();
    const early = collect(run.events);
    await run.answer;
    const [first, late] = await Promise.all([early, collect(run.events)]);
    expect(late).toEqual([...run.journal]);
    expect(first.filter(({ type }) => type !== 'partial')).toEqual(late);
  });

  it('[A7] [A8] include growing partial values during a reply, before its attempt ends', async () => {
    const events = await collect(
      createPostChain({ profile: ONE_CALL_PER_PHASE, model: slowly({ ...replies }) }).run({ request: 'Is it so?' })
        .events,
    );
    const partials = events.filter((event) => event.type === 'partial' && event.task === 'synthesis') as Partials;
    const answers = partials.map(({ value }) => value.answerText ?? '');
    expect(new Set(answers).size).toBeGreaterThan(2);
    for (const [index, answer] of answers.slice(1).entries())
      expect(answer.startsWith(answers[index] ?? '')).toBe(true);
    expect(partials.at(-1)?.value).toEqual(replies.synthesis);
    const lastPartial = events.findLastIndex((event) => event.type === 'partial' && event.task === 'synthesis');
    const end = events.findIndex((event) => event.type === 'attempt-end' && event.task === 'synthesis');
    expect(lastPartial).toBeLessThan(end);
  });

  it('[A7] include the last partial value of each attempt for a slow reader', async () => {
    const { run } = startScripted(everyTask.plan, everyTask.options, everyTask.run);
    const events = await collect(run.events);
    const shown = events.filter((event) => event.type === 'partial') as Extract<RunEvent, { type: 'partial' }>[];
    expect(new Set(shown.map(({ task }) => task))).toEqual(new Set(Object.keys(replies)));
    for (const { task, value } of shown.filter(({ task }, at) => shown[at + 1]?.task !== task))
      expect(value).toEqual(task === 'action' ? everyTask.plan.action : replies[task]);
  });

  it('[Y8] list the candidates of a decision in order, with each guard result and the compared values', async () => {
    const { run } = startScripted();
    await run.answer;
    const deciding = entriesOf(run, 'transition').find(({ source }) => source.endsWith('yield.deciding'));
    expect(deciding?.candidates.slice(0, 7)).toMatchObject([
      { guard: 'gradingWanted', result: 'false', inputs: { isToGrade: false, isBudgetSpent: false } },
      { guard: 'cycleLimitReached', result: 'false', inputs: { completedCycles: 1, maxCycles: 5 } },
      { guard: 'budgetExhausted', result: 'false', inputs: { modelCalls: 6 } },
      { guard: 'comparisonWanted', result: 'false', inputs: { isToCompare: false, isConfident: true } },
      { guard: 'directionWanted', result: 'false', inputs: { mode: 'automatic' } },
      { guard: 'confidenceReached', result: 'taken', inputs: { confidence: 0.95, above: 0.9 } },
      { guard: 'answerConverged', result: 'not-evaluated', inputs: null },
    ]);
    expect(deciding?.candidates.map(({ guard }) => guard)).toEqual([
      'gradingWanted',
      'cycleLimitReached',
      'budgetExhausted',
      'comparisonWanted',
      'directionWanted',
      'confidenceReached',
      'answerConverged',
      'taskComplete',
      'loopDetected',
      'answerIsProse',
      ...['action', 'experience', 'intention', 'observation', 'understanding', 'yield'].map(
        (name) => `nextPhaseIs(${name})`,
      ),
      'nextPhaseInvalid',
    ]);
  });
});

describe('the bare machine', () => {
  it('runs with the actors of createActors and emits the same events', async () => {
    const actor = createActor(createChainMachine(createActors()), {
      input: chainInput({ request: 'Is it?' }),
    });
    const facts: string[] = [];
    actor.on('*', ({ type }) => facts.push(type));
    const done = new Promise<void>((resolve) => actor.subscribe({ complete: () => resolve() }));
    actor.start();
    await done;
    expect(actor.getSnapshot().output?.answerText).not.toBe('');
    expect(facts).toEqual(expect.arrayContaining(['phase-start', 'phase-end', 'operations', 'decision', 'answer']));
  });
});
