import { describe, expect, it } from 'vitest';
import { type AnyStateMachine, assign, fromPromise, setup, waitFor } from 'xstate';
import * as z from 'zod';
import { RunFold } from '../../../inspector/fold/run-fold.ts';
import type { DurableActor } from '../../../src/durable/durable-actor.ts';
import type { DurableEntry } from '../../../src/durable/entries.ts';
import { defineCapability, generate, runTools } from '../../../src/entries/agents.ts';
import { addNote, createDurableMachine, memoryJournals } from '../../../src/entries/durable.ts';
import { scriptedModel } from '../../../src/entries/testing.ts';
import { createAttempt } from '../../../src/llm/attempts/create-attempt.ts';
import {
  createPromptReader,
  createPromptWriter,
  MISSING_TEXT,
  type PromptParts,
  wholePrompts,
} from '../../../src/llm/recorded-prompts.ts';
import { chartAround } from '../../support/agent-charts.ts';

const RESULT_CHARS = 2_000;

/** An agent that calls a tool in each round, with a result that no other round has. That for one page needs an approval. */
function longAgent(rounds: number, { nativeTools = true, approvedIn = -1 } = {}) {
  const read = defineCapability({
    name: 'read',
    description: 'Reads a page.',
    arguments: z.object({ page: z.int() }),
    approval: ({ page }) => page === approvedIn,
    execute: ({ page }) => `Page ${page}: ${String(page).padEnd(RESULT_CHARS, 'x')}`,
  });
  const toolCall = (page: number) =>
    nativeTools
      ? { toolCall: { page }, name: 'read', text: `I read page ${page}.` }
      : { answer: null, calls: [{ tool: 'read', arguments: JSON.stringify({ page }) }] };
  const replies = [...Array.from({ length: rounds }, (_, page) => toolCall(page)), { answer: 'Done.', calls: [] }];
  const model = scriptedModel({ reader: replies }, { nativeTools });
  const agent = runTools({ model, name: 'reader', tools: [read], prompt: (book: string) => `Read the book ${book}.` });
  return { model, machine: chartAround(agent) };
}

const noteOf = (entry: DurableEntry): Readonly<Record<string, unknown>> => Object('note' in entry && entry.note);

/** The prompts in a journal, and what the notes about them take up. */
function promptsOf(entries: readonly DurableEntry[]) {
  const reader = createPromptReader();
  const notes = entries.filter((entry) => noteOf(entry)['type'] === 'prompt');
  for (const entry of notes) reader.take({ ...noteOf(entry), seq: entry.seq } as never);
  const turns = notes.map(({ seq }) => reader.at(seq)?.turns);
  return { turns, bytes: notes.map((note) => JSON.stringify(note).length) };
}

const sentTo = ({ calls }: ReturnType<typeof scriptedModel>) =>
  calls.map(({ turns }) =>
    turns.map(({ role, content, toolCalls, toolResult }) => ({
      role,
      content,
      ...(toolCalls && { toolCalls }),
      ...(toolResult && { toolResult }),
    })),
  );

/** Opens the actor in a process of its own, which closes it once it has ended or only waits. */
async function run(machine: AnyStateMachine, journals = memoryJournals(), input?: string) {
  const host = createDurableMachine(machine, { journals, logger: () => {} });
  const actor = await host.open('a', { input: input as never });
  await actor.park({ wait: true });
  return { host, entries: actor.entries };
}

async function approve(actor: DurableActor<AnyStateMachine>) {
  const [{ id, digest } = { id: '', digest: '' }] = actor.pending.approvals;
  await actor.send({ type: 'approval.given', id, digest, decision: 'approve', by: 'Ada' });
  await waitFor(actor.ref, ({ status }) => status !== 'active');
  return actor.entries;
}

describe('the prompts in the journal of an agent', () => {
  it.each([true, false])(
    'are those that the model received, and each round adds only what is new (native tools: %s)',
    async (nativeTools) => {
      const { model, machine } = longAgent(20, { nativeTools });
      const { entries } = await run(machine, memoryJournals(), 'War and Peace');
      const { turns, bytes } = promptsOf(entries);
      expect(turns).toEqual(sentTo(model));
      for (const size of bytes.slice(1)) expect(size).toBeLessThan(RESULT_CHARS + 1_000);
    },
  );

  it('are not written again by a process that continues it', async () => {
    const { model, machine } = longAgent(6, { approvedIn: 3 });
    const journals = memoryJournals();
    await run(machine, journals, 'War and Peace');
    const host = createDurableMachine(machine, { journals });
    const { turns, bytes } = promptsOf(await approve(await host.open('a', { mustExist: true })));
    expect(turns).toEqual(sentTo(model));
    for (const size of bytes.slice(1)) expect(size).toBeLessThan(RESULT_CHARS + 1_000);
  });

  it('are not written again in a fork', async () => {
    const { model, machine } = longAgent(6, { approvedIn: 3 });
    const { host, entries } = await run(machine, memoryJournals(), 'War and Peace');
    const { turns, bytes } = promptsOf(await approve(await host.fork('a', { at: entries.length - 1 })));
    expect(turns).toEqual(sentTo(model));
    for (const size of bytes.slice(1)) expect(size).toBeLessThan(RESULT_CHARS + 1_000);
  });

  it.each(['generate', 'createAttempt'])(
    'are the same in a fork that reuses calls but lacks earlier prompts: %s',
    async (by) => {
      const replies = ['Short.', 'Long.\n\nAs asked.\n\nEnd.'].map((text) => ({ text }));
      const model = scriptedModel({ first: replies, second: [{ text: 'A' }, { text: 'B' }], third: [{ reply: 'C' }] });
      const ask = (name: string, prompt: (question: string) => string) =>
        generate({ model, name, system: 'Answer as a librarian would.', prompt });
      const attempt = createAttempt({
        model,
        name: 'third',
        system: 'Answer as a librarian would.',
        schema: z.string(),
      });
      const until = 'Until when?\n\nIs it lent?';
      const machine = setup({
        types: {} as { context: { answer: string } },
        actors: {
          first: ask('first', () => 'Which book?'),
          second: ask('second', (answer) => `${answer}\n\nIs it lent?`),
          third: ask('third', () => until),
          attempt: attempt.machine,
        },
      }).createMachine({
        context: { answer: '' },
        initial: 'one',
        states: {
          one: {
            invoke: {
              src: 'first',
              input: '',
              onDone: { target: 'two', actions: assign({ answer: ({ event }) => event.output }) },
            },
          },
          two: { invoke: { src: 'second', input: ({ context }) => context.answer, onDone: 'three' } },
          three: {
            invoke:
              by === 'generate'
                ? { src: 'third', input: '', onDone: 'ended' }
                : { src: 'attempt', input: () => attempt.input(until), onDone: 'ended' },
          },
          ended: { type: 'final' },
        },
      });
      const describeCall = (_: string, call: unknown): string => Object(call).task;
      const host = createDurableMachine(machine, { journals: memoryJournals(), describeCall });
      const original = await host.open('a');
      await original.output;
      const reuse = { keyOf: ({ subject }: { subject: unknown }) => (subject === 'third' ? 'third' : null) };
      const fork = await host.fork('a', { at: 0, reuse });
      await fork.output;
      const { turns } = promptsOf(fork.entries);
      expect(turns.at(-2)?.at(-1)?.content).toBe('Long.\n\nAs asked.\n\nEnd.\n\nIs it lent?');
      expect(turns.at(-1)).toEqual(promptsOf(original.entries).turns.at(-1));
      expect(turns.at(-1)?.at(-1)?.content).toContain(until);
      expect(model.calls.filter(({ task }) => task === 'third')).toHaveLength(1);
    },
  );

  it('are the same in a fork whose other input leaves out a call before them', async () => {
    const model = scriptedModel({ one: [{ text: 'A' }, { text: 'B' }], other: [{ text: 'C' }] });
    const ask = (name: string) => generate({ model, name, system: 'Answer as a librarian would.' });
    const invoking = (src: 'one' | 'other', input: (args: { context: { question: string } }) => string) =>
      ({
        initial: 'asking',
        states: { asking: { invoke: { src, input, onDone: 'answered' } }, answered: { type: 'final' } },
      }) as const;
    const machine = setup({
      types: {} as { input: { question: string }; context: { question: string } },
      actors: { one: ask('one'), other: ask('other') },
    }).createMachine({
      type: 'parallel',
      context: ({ input }) => input,
      states: {
        one: invoking('one', ({ context }) => context.question),
        other: invoking('other', () => 'Which book?'),
      },
    });
    const host = createDurableMachine(machine, { journals: memoryJournals() });
    const first = await host.open('a', { input: { question: 'Which shelf?' } });
    await first.output;
    const fork = await host.fork('a', { at: first.entries.length - 2, input: { question: 'Which room?' } });
    await fork.output;
    const asked = promptsOf(fork.entries).turns.map((turns) => turns?.map(({ content }) => content));
    expect(asked).toEqual(
      expect.arrayContaining(
        ['Which book?', 'Which room?'].map((question) => ['Answer as a librarian would.', question]),
      ),
    );
    expect(model.calls).toHaveLength(3);
  });

  it('are complete after entries that reuse numbers for other texts', () => {
    const texts = (...contents: readonly string[]) => ({
      turns: contents.map((content) => ({ role: 'user' as const, content })),
      schema: '{}',
      tools: [],
    });
    const [writer, reader] = [createPromptWriter(), createPromptReader()];
    const take = (seq: number, prompt: PromptParts): void => {
      const entry = { type: 'prompt', seq, atMs: 0, attemptId: 'a', digest: '', ...prompt } as const;
      for (const one of [writer, reader]) one.take(entry);
    };
    const whole = [texts('a', 'b'), texts('b', 'c'), texts('a', 'c')];
    for (const [seq, one] of whole.entries()) take(seq, wholePrompts.partsOf(one));
    const added = [texts('a', 'b'), texts('a', 'c', 'd'), texts('b')];
    for (const [at, one] of added.entries()) take(whole.length + at, writer.partsOf(one));
    for (const [seq, one] of [...whole, ...added].entries()) expect(reader.textsAt(seq)).toEqual(one);
  });

  it('share their parts with the prompts of other actors', async () => {
    const system = 'Answer as a librarian would. '.repeat(20);
    const model = scriptedModel({ one: [{ text: 'A' }], other: [{ text: 'B' }] });
    const ask = (name: string) => generate({ model, name, system, prompt: (question: string) => question });
    const invoking = (src: 'one' | 'other') =>
      ({
        initial: 'asking',
        states: { asking: { invoke: { src, input: src, onDone: 'answered' } }, answered: { type: 'final' } },
      }) as const;
    const machine = setup({ actors: { one: ask('one'), other: ask('other') } }).createMachine({
      id: 'both',
      type: 'parallel',
      states: { one: invoking('one'), other: invoking('other') },
    });
    const { entries } = await run(machine);
    const { turns, bytes } = promptsOf(entries);
    expect(turns).toEqual(sentTo(model));
    expect(bytes[1]).toBeLessThan(system.length);
  });

  it('are whole in the inspector', async () => {
    const { model, machine } = longAgent(3);
    const { entries } = await run(machine, memoryJournals(), 'War and Peace');
    const fold = new RunFold();
    for (const entry of entries) fold.takeOfActor(fold.readOfActor(entry as never));
    const shown = entries.flatMap(({ seq }) => fold.prompts.at(seq)?.turns ?? []);
    expect(shown).toEqual(sentTo(model).flat());
  });

  it('mark where a text is missing', async () => {
    const { machine } = longAgent(2);
    const { entries } = await run(machine, memoryJournals(), 'War and Peace');
    const [first] = entries.filter((entry) => noteOf(entry)['type'] === 'prompt');
    const { turns } = promptsOf(entries.filter((entry) => entry !== first));
    expect(turns[0]?.map(({ content }) => content)).toEqual([
      MISSING_TEXT,
      'I read page 0.',
      expect.stringContaining('Page 0'),
    ]);
  });
});

it.each([
  { turns: [], schema: 0, parts: {} },
  { turns: [null], schema: 0, parts: {}, tools: [] },
  { turns: [], schema: 0, parts: null, tools: [] },
])('a note of the program that only looks like a prompt changes nothing: %j', async (note) => {
  const machine = setup({
    actors: {
      noting: fromPromise(async ({ self }) => addNote({ self }, { type: 'prompt', ...note })),
      ask: generate({ model: scriptedModel({ ask: [{ text: 'Yes.' }] }), name: 'ask' }),
    },
  }).createMachine({
    initial: 'noting',
    states: {
      noting: { invoke: { src: 'noting', onDone: 'asking' } },
      asking: { invoke: { src: 'ask', input: 'Is it done?', onDone: 'answered', onError: 'failed' } },
      answered: { type: 'final' },
      failed: { type: 'final' },
    },
  });
  const actor = await createDurableMachine(machine, { journals: memoryJournals() }).open('a');
  expect((await waitFor(actor.ref, ({ status }) => status !== 'active')).value).toBe('answered');
});
