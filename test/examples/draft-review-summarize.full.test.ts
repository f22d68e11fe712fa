import { beforeAll, describe, expect, it, vi } from 'vitest';
import type { Decider, DecidingFunction } from '../../src/chain/runtime/decider.ts';
import type { PostChainOptions } from '../../src/chain/runtime/options.ts';
import { createPostChain } from '../../src/entries/index.ts';
import { scriptedModel } from '../../src/models/scripted.ts';
import { replies } from '../../src/testing/replies.ts';
import { entriesOf } from '../support/run-chain.ts';

const DRAFT = 'About bees: they dance to show where the flowers are.';
const REMARKS = 'Mention that the dance follows the sun.';
const SUMMARY = `About bees, in short (after "${REMARKS}"): a dance that follows the sun.`;

let example: typeof import('../../examples/draft-review-summarize.ts');
let printed: unknown[][];

beforeAll(async () => {
  const print = vi.spyOn(console, 'log').mockImplementation(() => {});
  example = await import('../../examples/draft-review-summarize.ts');
  printed = print.mock.calls.map((call) => [...call]);
  print.mockRestore();
});

/** Runs the capabilities of the example with this decider and returns what ran, why it stopped, and the result of Action. */
async function runWith(decider: Decider, limits: PostChainOptions['limits'] = {}, topic: unknown = 'bees') {
  const call = { capability: 'draft', arguments: JSON.stringify({ topic }) };
  const model = scriptedModel({ action: [{ ...replies.action, calls: [call] }] }, { otherwise: replies });
  const run = createPostChain({ model, capabilities: example.capabilities, decider, limits }).run({
    request: 'Write about bees.',
  });
  const { status } = await run.answer;
  const results = run.actor.getSnapshot().context.results.action?.results ?? [];
  const [stop] = entriesOf(run, 'capability-stop');
  return {
    status,
    ran: entriesOf(run, 'capability-start').map(({ capability }) => capability),
    outputs: results.map(({ output }) => output),
    synthesized: results.map(({ synthesized }) => synthesized),
    stop,
    results,
  };
}

/** The decider of the example with a different reply at the given iteration. */
const but = (time: number, instead: () => unknown): DecidingFunction => {
  const editor = example.editor('Bees dance by the sun.');
  return ((input, options) => (input.results.length === time ? instead() : editor(input, options))) as DecidingFunction;
};
const next = (capability: string, args: string) => () => ({ done: false, next: { capability, arguments: args } });

describe('draft, review, summarize', () => {
  it('[R9] prints the results of the example without and with a final output', () => {
    const steps = [`draft: ${DRAFT}`, `review: ${REMARKS}`, `summarize: ${SUMMARY}`, 'stopped after 3 runs: done'];
    expect(printed.map(([line]) => line)).toEqual([
      ...steps,
      `Action result: ${SUMMARY}`,
      ...steps,
      'Action result: Bees dance by the sun.',
    ]);
  });

  it('[R9] passes the results of earlier steps to each step and keeps the last result unchanged', async () => {
    const { results, ...rest } = await runWith(example.editor(null));
    expect(results.map((result) => result.arguments)).toEqual([
      { topic: 'bees' },
      { text: DRAFT },
      { text: DRAFT, remarks: REMARKS },
    ]);
    expect(rest).toMatchObject({
      status: 'completed',
      ran: ['draft', 'review', 'summarize'],
      outputs: [DRAFT, REMARKS, SUMMARY],
      synthesized: [false, false, false],
      stop: { reason: 'done', runs: 3, problem: null },
    });
  });

  it('[R9] replaces only the last result with a final output and marks the replacement', async () => {
    expect(await runWith(example.editor('Bees dance by the sun.'))).toMatchObject({
      outputs: [DRAFT, REMARKS, 'Bees dance by the sun.'],
      synthesized: [false, false, true],
      stop: { reason: 'done' },
    });
  });

  it('[R9] ignores a blank final output', async () => {
    expect(await runWith(example.editor(' \n'))).toMatchObject({ outputs: [DRAFT, REMARKS, SUMMARY] });
  });
});

describe('guardrails of the draft, review, summarize example', () => {
  it('[R9] stops at the limit with the review as the last result', async () => {
    expect(await runWith(example.editor('Never said.'), { maxContinuations: 2 })).toMatchObject({
      status: 'completed',
      ran: ['draft', 'review'],
      outputs: [DRAFT, REMARKS],
      synthesized: [false, false],
      stop: { reason: 'limit_reached', runs: 2 },
    });
  });

  it.each<[string, () => unknown, RegExp]>([
    ['an unknown capability', next('publish', '{}'), /publish/],
    ['missing', next('', '{}'), /./],
    ['a capability with invalid arguments', next('summarize', '{"text":5}'), /text/],
    ['a capability with arguments that are not an object', next('summarize', '["text"]'), /object/],
    ['a capability with non-JSON arguments', next('summarize', 'text, remarks'), /object|JSON/],
    ['a step without a name', () => ({ done: false, next: { arguments: '{}' } }), /name/],
  ])('[R9] returns the review as the last result when the next step is %s', async (_, says, problem) => {
    const { stop, ...rest } = await runWith(but(2, says));
    expect(rest).toMatchObject({ status: 'completed', ran: ['draft', 'review'], outputs: [DRAFT, REMARKS] });
    expect(stop).toMatchObject({ reason: 'invalid_next_step', problem: expect.stringMatching(problem) });
  });

  it('[R9] keeps all results so far, with the reason, when a decider throws', async () => {
    const broken = but(2, () => {
      throw new Error('no opinion');
    });
    const { stop, ...rest } = await runWith(broken);
    expect(rest).toMatchObject({ status: 'degraded', ran: ['draft', 'review'], outputs: [DRAFT, REMARKS] });
    expect(stop).toMatchObject({ reason: 'decider_failed', problem: 'no opinion' });
  });

  it('[R9] runs nothing and still answers when the first step has invalid arguments', async () => {
    expect(await runWith(example.editor(null), {}, 5)).toMatchObject({
      status: 'completed',
      ran: [],
      stop: { reason: 'invalid_next_step', runs: 0 },
    });
  });
});
