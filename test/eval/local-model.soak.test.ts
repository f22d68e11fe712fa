import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  createCapabilityLoop,
  createPassageIndex,
  createPostChain,
  createStructuredOutput,
  defineCapability,
  documentsFrom,
} from 'postchain';
import { generate } from 'postchain/agents';
import { openaiEmbeddings, openaiModel } from 'postchain/openai';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createActor, toPromise } from 'xstate';
import * as z from 'zod';

let command: ChildProcess;
let baseURL = '';
let missing = '';

beforeAll(async () => {
  const child = spawn(process.execPath, ['bench/local-model/main.mjs', '--threads', '1', '--max-tokens', '400']);
  command = child;
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  child.stdout.setEncoding('utf8');
  await Promise.race([once(child.stdout, 'data').then(([text]) => text), once(child, 'close')]).then((text) => {
    baseURL = /OPENAI_BASE_URL=(\S+)/u.exec(String(text))?.[1] ?? '';
  });
  if (baseURL !== '') return;
  missing = `no local model: ${errors.trim().split('\n').at(-1)}`;
  process.stderr.write(`skipped: ${missing}\n`);
});
afterAll(async () => {
  if (command.exitCode !== null) return;
  command.kill();
  await once(command, 'close');
});
beforeEach((context) => context.skip(baseURL === '', missing));

const model = () =>
  openaiModel({
    model: 'smollm2-135m-instruct',
    baseURL,
    temperature: 0,
    contextWindowTokens: 8_192,
    maxOutputTokens: 150,
  });
const signal = new AbortController().signal;

it('streams a value that the grammar of its schema allows, and reports its tokens', async () => {
  const schema = z.object({ city: z.string(), isCapital: z.boolean() });
  const output = createStructuredOutput({ model: model(), schema, prompt: 'Name the capital of France.' });
  const updates = [];
  for await (const update of output) updates.push(update);
  expect(updates.filter(({ type }) => type === 'partial').length).toBeGreaterThan(1);
  expect((await output.value).city).toContain('Paris');
  const usage = updates.at(-1)?.execution.attempts[0]?.usage;
  expect(usage).toMatchObject({ estimated: false, inputTokens: expect.any(Number), outputTokens: expect.any(Number) });
});

it('embeds sentences as the published model does', async () => {
  const embeddings = openaiEmbeddings({ model: 'all-minilm-l6-v2', baseURL });
  const texts = ['This is an example sentence', 'Each sentence is converted', 'The café is open; 東京 is not.'];
  const [first = [], second = [], third = []] = await embeddings.embed(texts, { signal });
  expect([first.length, third.length]).toEqual([384, 384]);
  // From the model card of sentence-transformers/all-MiniLM-L6-v2.
  const published = [0.0676569, 0.0634959, 0.0487131, 0.0793049, 0.037448];
  for (const [at, value] of published.entries()) expect(first[at]).toBeCloseTo(value, 3);
  for (const [at, value] of [0.0864386, 0.1027627, 0.0053946].entries()) expect(second[at]).toBeCloseTo(value, 3);
});

it.each([
  ['lean', 'text'],
  ['balanced', 'text'],
  ['thorough', 'text'],
  ['lean', 'json-object'],
  ['balanced', 'tool-call'],
] as const)(
  'every run of %s with replies as %s ends, and a degraded answer has its reasons',
  async (profile, replyForm) => {
    const text = '# Tarn Hall\n\nTarn Hall has 340 seats. It was built by Ada Wick in 1902.';
    const { documents } = await documentsFrom([{ path: 'hall.md', text }]);
    const limits = { totalMs: 90_000 };
    const chain = createPostChain({
      model: model(),
      profile,
      replyForm,
      limits,
      documents: createPassageIndex(documents),
    });
    const { status, confidence, reasons } = await chain.run({ request: 'Who owns Tarn Hall?' }).answer;
    expect(['completed', 'degraded']).toContain(status);
    expect(confidence).toBeGreaterThanOrEqual(0);
    expect(confidence).toBeLessThanOrEqual(1);
    if (status === 'degraded') expect(reasons.length).toBeGreaterThan(0);
  },
);

it('writes a score within its limits, which llama.cpp ignores, after one correction', async () => {
  const item = z.object({ id: z.string(), score: z.number().min(0).max(1) });
  const schema = z.object({ items: z.array(item).max(3) });
  const prompt = 'Score these by relevance for "cats", 0 to 1: m1: "dogs bark", m2: "cats purr".';
  const { items } = await createStructuredOutput({ model: model(), schema, name: 'scores', prompt }).value;
  expect(items.every(({ score }) => score >= 0 && score <= 1)).toBe(true);
});

it('a tool loop and an agent end', async () => {
  const execute = () => '3';
  const stock = defineCapability({
    name: 'stock',
    description: 'Units in stock.',
    arguments: z.object({ article: z.string() }),
    execute,
  });
  const loop = createCapabilityLoop({ model: model(), capabilities: [stock], continuation: 'model' });
  const { stopReason } = await loop.run({ request: 'How many umbrellas are in stock?' }).outcome;
  expect(stopReason).toEqual(expect.any(String));
  const actor = createActor(generate({ model: model() }), { input: 'Say hello.' });
  const done = toPromise(actor);
  actor.start();
  expect(await done).toEqual(expect.any(String));
});
