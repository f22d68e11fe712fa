import { describe, expect, it } from 'vitest';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import type { ModelRequest } from '../../../machines/contracts/model.ts';
import { memoryJournals } from '../../../src/chain/journal/stores.ts';
import type { Redact } from '../../../src/durable/journals/journal-store.ts';
import { createPostChain } from '../../../src/entries/index.ts';
import { packedPromptsOf } from '../../../src/inspection/export-run.ts';
import { unpackPrompt } from '../../../src/inspection/packed-prompts.ts';
import { redacted, redactionOf } from '../../../src/inspection/redaction.ts';
import type { PackedPrompts, ShownPrompt } from '../../../src/inspection/wire.ts';
import { openPage, startInspector } from '../../support/inspection-server.ts';
import { everyTask, plannedModel, scriptedChain, startScripted } from '../../support/run-chain.ts';

const promptSeqs = (entries: readonly JournalEntry[]): readonly number[] =>
  entries.flatMap(({ seq, type }) => (type === 'prompt' ? [seq] : []));

const turnsOf = ({ system, turns }: ShownPrompt) => [{ role: 'system', content: system }, ...turns];

function promptIn(prompts: PackedPrompts, seq: number): ShownPrompt {
  const { prompt, problem } = unpackPrompt(prompts, seq);
  expect(problem).toBeNull();
  return prompt as ShownPrompt;
}

/** A run in which every task is asked for, and one reply is corrected. */
async function everyPrompt(options: Parameters<typeof startScripted>[1] = {}) {
  const plan = {
    ...everyTask.plan,
    intention: (call: number) => (call === 1 ? { text: '{"goal": 3}' } : { goal: 'x' }),
  };
  const { run, model } = startScripted(plan, { ...everyTask.options, ...options }, everyTask.run);
  await run.answer;
  return { run, calls: model.calls as readonly ModelRequest[] };
}

describe('the prompt of a recorded model call', () => {
  it.each(['text', 'tool-call', 'json-object'] as const)(
    'is exactly what the model received, for every task and correction, in the form %s',
    async (replyForm) => {
      const { run, calls } = await everyPrompt({ replyForm });
      const prompts = packedPromptsOf(run.journal);
      const shown = promptSeqs(run.journal).map((seq) => promptIn(prompts, seq));
      expect(shown).toHaveLength(calls.length);
      expect(shown.every(({ verified, note }) => verified && note === null)).toBe(true);
      expect(shown.map(turnsOf)).toEqual(
        calls.map(({ turns }) => turns.map(({ role, content }) => ({ role, content }))),
      );
      expect(shown.map(({ schema }) => schema)).toEqual(calls.map(({ outputSchema }) => outputSchema));
      expect(shown.some(({ turns }) => turns.length === 3)).toBe(true);
      expect(new Set(shown.map(({ name }) => name)).size).toBeGreaterThan(6);
    },
  );

  it('contains the tools that a model with native tool calls was offered', async () => {
    const model = { ...plannedModel(everyTask.plan), nativeTools: true };
    const run = createPostChain({ ...everyTask.options, model }).run({ request: 'Is it so?' });
    await run.answer;
    const prompts = packedPromptsOf(run.journal);
    const shown = promptSeqs(run.journal).map((seq) => promptIn(prompts, seq));
    expect(shown.every(({ verified }) => verified)).toBe(true);
    expect(shown.find(({ name }) => name === 'action')?.tools).toMatchObject([{ name: 'work', description: 'Works.' }]);
  });

  it('is shown, but not as verified, if the recorded digest is another', async () => {
    const { run } = startScripted();
    await run.answer;
    const [seq = 0] = promptSeqs(run.journal);
    const changed = run.journal.with(seq, { ...run.journal[seq], digest: '00000000' } as JournalEntry);
    expect(promptIn(packedPromptsOf(changed), seq)).toMatchObject({
      name: 'action',
      verified: false,
      note: 'The digest differs from the recorded one: the model received another text.',
    });
  });

  it('of a redacted run is made from redacted texts and says that it cannot be verified', async () => {
    const { run } = startScripted({}, {}, { request: 'Where does Okonkwo live?' });
    await run.answer;
    const redact: Redact = redactionOf(['Okonkwo']);
    const prompts = packedPromptsOf(redacted(run.journal, redact), redact);
    const [seq = 0] = promptSeqs(run.journal);
    expect(promptIn(prompts, seq)).toMatchObject({
      verified: false,
      note: 'The run was redacted, so the prompt is rebuilt from redacted texts and cannot be verified.',
    });
    expect(JSON.stringify(promptIn(prompts, seq).turns)).toContain('Where does [redacted] live?');
    expect(JSON.stringify(prompts)).not.toContain('Okonkwo');
  });

  it('stores a text that several prompts share once', async () => {
    const { run } = await everyPrompt();
    const prompts = packedPromptsOf(run.journal);
    const whole = promptSeqs(run.journal).map((seq) => promptIn(prompts, seq));
    expect(new Set(prompts.lines).size).toBe(prompts.lines.length);
    expect(JSON.stringify(prompts).length).toBeLessThan(JSON.stringify(whole).length / 2);
  });
});

describe('a page that asks for a prompt', () => {
  it('gets that of a recording and of a live run', async () => {
    const journals = memoryJournals();
    const { chain, model } = scriptedChain({ understanding: { hang: true } }, { journals });
    const recorded = scriptedChain({}, { journals, newId: () => 'ended' }).chain.run({ request: 'Is it recorded?' });
    await recorded.answer;
    const server = await startInspector({ journals });
    const live = chain.run({ request: 'Is it live?' });
    server.watch(live);
    await expect.poll(() => model.calls.some(({ task }) => task === 'understanding')).toBe(true);
    const page = await openPage(server.url);
    for (const [id, run] of [recorded, live].entries()) {
      const [seq = 0] = promptSeqs(run.journal);
      page.say({ type: 'prompt', id, runId: run.runId, seq });
      expect(await page.reply(id)).toMatchObject({ type: 'prompt', problem: null, prompt: { verified: true } });
      page.say({ type: 'prompt', id: id + 10, runId: run.runId, seq: seq + 1 });
      expect(await page.reply(id + 10)).toMatchObject({
        prompt: null,
        problem: expect.stringMatching(/^The prompt of entry \d+ cannot be rebuilt/u),
      });
    }
    live.cancel();
    await live.answer;
  });

  it('learns why there is none: an unknown run, another chart', async () => {
    const journals = memoryJournals();
    const { run } = startScripted();
    const [start, ...others] = run.journal as [JournalEntry, ...JournalEntry[]];
    const writer = journals.create('older');
    writer.write([{ ...start, chart: { id: 'postChain', digest: 'another' } } as JournalEntry, ...others]);
    writer.close();
    const page = await openPage((await startInspector({ journals })).url);
    page.say({ type: 'prompt', id: 1, runId: 'nobody', seq: 3 });
    page.say({ type: 'prompt', id: 2, runId: 'older', seq: 3 });
    expect(await page.reply(1)).toMatchObject({ prompt: null, problem: 'There is no run "nobody".' });
    expect(await page.reply(2)).toMatchObject({
      prompt: null,
      problem: expect.stringMatching(/recorded with the chart/u),
    });
  });
});
