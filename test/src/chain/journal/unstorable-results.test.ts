import { expect, it } from 'vitest';
import * as z from 'zod';
import { replay } from '../../../../src/chain/journal/replay.ts';
import { readRun } from '../../../../src/chain/journal/run-journal.ts';
import { prompts } from '../../../../src/chain/prompts/registry.ts';
import { fileJournals } from '../../../../src/durable/journals/file-journals.ts';
import { createPostChain } from '../../../../src/entries/index.ts';
import { temporaryFolder } from '../../../support/cli.ts';
import { plannedModel } from '../../../support/run-chain.ts';

it('a reply that a schema turns into what no journal can store fails its call, and the journal stays readable', async () => {
  const journals = fileJournals(temporaryFolder());
  const unstorable = z.pipe(
    prompts.intention.output,
    z.transform((reply) => ({ ...(reply as object), more: Symbol('unstorable') })),
  );
  const chain = createPostChain({
    model: plannedModel({}),
    profile: 'thorough',
    prompts: { intention: { ...prompts.intention, output: unstorable as never } },
    journals,
  });
  const run = chain.run({ request: 'Is it so?' });
  const answer = await run.answer;
  const stored = await readRun(journals.read(run.id));
  expect(stored.filter(({ type }) => type === 'failed').length).toBeGreaterThan(0);
  expect(JSON.parse(JSON.stringify(stored))).toEqual(JSON.parse(JSON.stringify(run.entries)));
  expect(answer.notes).toContain('intention');
  expect(replay(stored).divergence).toBeNull();
});
