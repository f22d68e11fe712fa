import type { StandardSchemaV1 } from '@standard-schema/spec';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../../src/durable/clock.ts';
import { createTurns } from '../../../../src/durable/turns.ts';
import { createPostChain } from '../../../../src/entries/index.ts';
import { nextTurn } from '../../../../src/internal/async.ts';
import { createStructuredOutput } from '../../../../src/llm/attempts/structured-output.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { entriesOf, plannedModel, startScripted } from '../../../support/run-chain.ts';
import { chunkedReply, partModel } from '../../../support/scripted-models.ts';

describe('the events of a model call', () => {
  it('are one if the reply ends in the turn of its first part', async () => {
    // On a busy machine, the turn could be over before the reply.
    const takeTurn = createTurns({ now: () => 0, defer: (act) => void nextTurn().then(act), budgetMs: 1 });
    const chain = createPostChain({ model: plannedModel({}), clock: { ...systemClock, takeTurn } });
    const run = chain.run({ request: 'Is it so?' });
    await run.answer;
    const events = entriesOf(run, 'activity-event').filter(({ source }) => source === 'readReply');
    expect(new Set(events.map(({ event }) => event.type))).toEqual(new Set(['reply.ended']));
    expect(entriesOf(run, 'transition').filter(({ machine }) => machine === 'attempt')).toHaveLength(events.length);
  });

  it('[A11] begin with the start of an attempt, and tell its failure before the next one', async () => {
    const replied = [{ text: '{"goal": 3}' }, { failure: { code: 'server_error' } }, { reply: replies.intention }];
    const { run } = startScripted(
      { intention: (call: number) => replied[call - 1] ?? {} },
      { limits: { backoffBaseMs: 0 } },
    );
    await run.answer;
    const attempts = [...entriesOf(run, 'attempt-start'), ...entriesOf(run, 'attempt-end')];
    const mine = [...attempts, ...entriesOf(run, 'attempt-retry')].filter(
      ({ attemptId }) => attemptId === 's3.intention',
    );
    expect(
      mine
        .toSorted((one, other) => one.seq - other.seq)
        .map((entry) => [entry.type, entry.attempt, ...(entry.type === 'attempt-end' ? [entry.failure?.code] : [])]),
    ).toEqual([
      ['attempt-start', 1],
      ['attempt-end', 1, 'invalid_reply'],
      ['attempt-retry', 2],
      ['attempt-start', 2],
      ['attempt-end', 2, 'server_error'],
      ['attempt-retry', 3],
      ['attempt-start', 3],
      ['attempt-end', 3, undefined],
    ]);
  });
});

it.each([
  ['a synchronous', (value: unknown) => ({ value })],
  ['an asynchronous', async (value: unknown) => ({ value })],
])('calls %s schema once per reply', async (_, check) => {
  const validated: unknown[] = [];
  const validate: StandardSchemaV1['~standard']['validate'] = (value) => {
    validated.push(value);
    return check(value);
  };
  const schema: StandardSchemaV1 = { '~standard': { version: 1, vendor: 'test', validate } };
  const model = partModel(chunkedReply({ good: true }));
  const output = createStructuredOutput({ model, schema, jsonSchema: { type: 'object' }, prompt: 'Is it good?' });
  expect(await output.value).toEqual({ good: true });
  expect(validated).toEqual([{ good: true }]);
});
