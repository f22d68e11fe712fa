import type { StandardSchemaV1 } from '@standard-schema/spec';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { replay } from '../../../../src/chain/journal/replay.ts';
import { prompts } from '../../../../src/chain/prompts/registry.ts';
import { createPostChain } from '../../../../src/entries/index.ts';
import { createStructuredOutput } from '../../../../src/llm/attempts/structured-output.ts';
import { entriesOf, plannedModel, startScripted } from '../../../support/run-chain.ts';
import { chunkedReply, partModel } from '../../../support/scripted-models.ts';

describe('the events of a model call', () => {
  it('are one if the reply ends in the turn of its first part', async () => {
    const run = createPostChain({ model: plannedModel({}) }).run({ request: 'Is it so?' });
    await run.answer;
    const events = entriesOf(run, 'call-event').filter(({ actor }) => actor === 'readReply');
    expect(new Set(events.map(({ event }) => event.type))).toEqual(new Set(['reply.ended']));
    expect(entriesOf(run, 'transition').filter(({ machine }) => machine === 'attempt')).toHaveLength(events.length);
  });

  it('include the validation by an asynchronous schema, which a replay does not call', async () => {
    let calls = 0;
    const output = z.looseObject({}).refine(async () => {
      calls += 1;
      return true;
    });
    const options = { prompts: { intention: { ...prompts.intention, output } } };
    const { run } = startScripted({}, options);
    await run.answer;
    expect(entriesOf(run, 'call-start').filter(({ actor }) => actor === 'validateReply')).toHaveLength(1);
    calls = 0;
    expect(replay(run.journal).divergence).toBeNull();
    expect(calls).toBe(0);
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
