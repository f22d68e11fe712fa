import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { replay } from '../../../../src/chain/journal/replay.ts';
import { prompts } from '../../../../src/chain/prompts/registry.ts';
import { memoryJournals } from '../../../../src/durable/journals/memory-journals.ts';
import { createPostChain } from '../../../../src/entries/index.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { plannedModel } from '../../../support/run-chain.ts';

/** A chain whose Intention asks a service whether a reply is valid; the first reply is not. */
function checkedChain() {
  const checked: unknown[] = [];
  const accepted = z.unknown().refine(async (reply) => {
    checked.push(reply);
    return checked.length > 1;
  }, 'the service rejects this goal');
  const output = z.pipe(prompts.intention.output, accepted);
  const custom = { intention: { ...prompts.intention, output } };
  const journals = memoryJournals();
  const chain = createPostChain({ model: plannedModel({ intention: replies.intention }), prompts: custom, journals });
  return { chain, checked };
}

describe('an asynchronous validator', () => {
  it('[promise 6] does not run again in a replay: its recorded results are used', async () => {
    const { chain, checked } = checkedChain();
    const run = chain.run({ request: 'Is it so?' });
    const answer = await run.answer;
    expect(checked).toHaveLength(2);
    const replayed = replay(run.entries);
    expect(replayed.divergence).toBeNull();
    expect(replayed.answer).toEqual(answer);
    expect(checked).toHaveLength(2);
  });

  it('does not run again when a run is resumed after it', async () => {
    const { chain, checked } = checkedChain();
    const run = chain.run({ request: 'Is it so?' });
    await run.answer;
    const resumed = await chain.resume(run.id);
    await resumed.answer;
    expect(checked).toHaveLength(2);
  });
});
