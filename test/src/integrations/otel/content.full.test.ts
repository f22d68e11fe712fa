import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { PHASES } from '../../../../machines/contracts/phase.ts';
import { traceRun } from '../../../../src/integrations/otel/trace-run.ts';
import type { ScriptEntry } from '../../../../src/models/scripted.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { capabilityNamed, type Plan, sendAnswer, settle, startScripted } from '../../../support/run-chain.ts';
import { sampleSize } from '../../../support/soak.ts';
import { eventsOf, memoryTelemetry, spanNamed, spansOf } from '../../../support/telemetry.ts';

const MARK = 'the secret of the cellar';

/** A reply with the mark in every text field. */
function marked(value: unknown): unknown {
  if (typeof value === 'string') return MARK;
  if (Array.isArray(value)) return value.map(marked);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, marked(inner)]));
}

const wishes = [null, ...['tell', 'break', MARK].map((capability) => ({ capability, arguments: `{"a":"${MARK}"}` }))];
const aWish = fc.constantFrom(...wishes);

/** The outcome of one call: usually a valid reply, otherwise a failure that contains the mark. */
const anEntry = (reply: fc.Arbitrary<unknown>): fc.Arbitrary<ScriptEntry> =>
  fc.oneof(
    { weight: 6, arbitrary: reply as fc.Arbitrary<ScriptEntry> },
    { weight: 1, arbitrary: fc.constant({ text: `{"${MARK}": "${MARK}"}` }) },
    { weight: 1, arbitrary: fc.constant({ failure: { code: `${MARK}!`, message: MARK, retryable: true } }) },
    { weight: 1, arbitrary: fc.constant({ failure: { code: 'unauthorized', message: MARK, retryable: false } }) },
    { weight: 1, arbitrary: fc.constant({ hang: true, text: `{"response": "${MARK}` }) },
    {
      weight: 1,
      arbitrary: fc.constant((() => {
        throw new Error(MARK);
      }) as unknown as ScriptEntry),
    },
  );

const said = {
  action: aWish.map((call) => ({ ...replies.action, response: MARK, calls: [call] })),
  continuation: aWish.map((next) => ({ done: next === null, finalOutput: next === null ? MARK : null, next })),
  yield: fc
    .record({ proposedPhase: fc.constantFrom(null, MARK, ...PHASES), needsTools: fc.boolean() })
    .map((changes) => ({
      ...(marked(replies.yield) as object),
      confidence: 0.5,
      ...changes,
    })),
};

const aMarkedRun = fc.record({
  script: fc.record(
    Object.fromEntries(
      Object.entries(replies).map(([task, reply]) => {
        const valid = said[task as keyof typeof said] ?? fc.constant(marked(reply));
        return [task, fc.infiniteStream(anEntry(valid))];
      }),
    ),
  ),
  mode: fc.constantFrom('automatic' as const, 'manual' as const),
  words: fc.array(fc.tuple(fc.nat(20), fc.constantFrom('cancel', 'direct', 'refuse', 'finish')), { maxLength: 2 }),
});

const capabilities = [
  capabilityNamed('tell', () => `${MARK}.`, { arguments: z.object({ a: z.string() }) }),
  capabilityNamed('break', () => Promise.reject(new Error(MARK)), { arguments: z.object({ a: z.string() }) }),
];

type MarkedRun = typeof aMarkedRun extends fc.Arbitrary<infer Value> ? Value : never;

async function play({ script, mode, words }: MarkedRun) {
  const plan = Object.fromEntries(
    Object.entries(script).map(([task, entries]) => {
      const next = entries[Symbol.iterator]();
      return [task, () => next.next().value];
    }),
  ) as Plan;
  const history = [{ role: 'user' as const, content: `${MARK}. `.repeat(50) }];
  const options = { capabilities, continuation: 'model' as const, limits: { maxCycles: 3 } };
  const { run, clock } = startScripted(plan, options, { request: MARK, history, mode, sessionId: 'u42' });
  for (let steps = 0; run.ref.getSnapshot().status === 'active'; steps += 1) {
    const before = run.entries.length;
    await settle(1);
    for (const [at, word] of words) if (at === steps) say(run, word);
    if (steps > 200) run.cancel(MARK);
    if (run.entries.length === before) clock.increment(5000);
  }
  return run;
}

function say(run: ReturnType<typeof startScripted>['run'], word: string): void {
  if (word === 'cancel') run.cancel(MARK);
  else if (word === 'finish') run.send({ type: 'run.finished' });
  else sendAnswer(run, { type: 'run.directed', phase: word === 'direct' ? 'intention' : MARK, prompt: MARK });
}

/** Everything sent to OpenTelemetry, as one text. */
async function exported(journal: Parameters<typeof traceRun>[0], content?: boolean): Promise<string> {
  const telemetry = memoryTelemetry();
  await traceRun(journal, { ...telemetry.options, content });
  const spans = telemetry
    .spans()
    .map(({ name, attributes, status, events, links }) => ({ name, attributes, status, events, links }));
  return JSON.stringify([spans, await telemetry.measured()]);
}

describe('content', () => {
  it('never appears in spans, events, names, statuses and measurements by default', async () => {
    await fc.assert(
      fc.asyncProperty(aMarkedRun, async (drawn) => {
        const { entries: journal } = await play(drawn);
        expect(JSON.stringify(journal)).toContain(MARK);
        const text = await exported(journal);
        expect(text).toContain('invoke_workflow');
        expect(text).not.toContain('secret');
        expect(await exported(journal, true)).toContain(MARK);
      }),
      { numRuns: sampleSize('runs with secrets', 15, 300) },
    );
  });

  it('is recorded if enabled: request, answer, replies, arguments and results, in the format of the conventions', async () => {
    const call = { capability: 'tell', arguments: '{"a":"x"}' };
    const { run } = startScripted({ action: { ...replies.action, calls: [call] } }, { capabilities });
    const { answerText } = await run.answer;
    const [root, , chat, tool] = await spansOf(run.entries, { content: true });
    const messages = (value: unknown): unknown => JSON.parse(String(value));
    expect(messages(root?.attributes['gen_ai.input.messages'])).toEqual([
      { role: 'user', parts: [{ type: 'text', content: 'Is it so?' }] },
    ]);
    expect(messages(root?.attributes['gen_ai.output.messages'])).toEqual([
      { role: 'assistant', parts: [{ type: 'text', content: answerText }], finish_reason: 'stop' },
    ]);
    expect(messages(chat?.attributes['gen_ai.output.messages'])).toEqual([
      {
        role: 'assistant',
        parts: [{ type: 'text', content: JSON.stringify({ ...replies.action, calls: [call] }) }],
        finish_reason: 'stop',
      },
    ]);
    expect(tool?.attributes).toMatchObject({
      'gen_ai.tool.name': 'tell',
      'gen_ai.tool.call.arguments': '{"a":"x"}',
      'gen_ai.tool.call.result': `${MARK}.`,
    });
  });

  it('includes values that a model proposed, but not the wording of the engine', async () => {
    const answer = { ...replies.yield, confidence: 0.5, proposedPhase: MARK };
    const { run } = startScripted({ yield: answer });
    await run.answer;
    const proposals = async (content: boolean) => {
      return eventsOf(spanNamed(await spansOf(run.entries, { content }), 'invoke_agent yield'))
        .filter((event) => 'postchain.rule' in event)
        .map((event) => [event['postchain.input.proposal'], event['postchain.input.proposedBy']]);
    };
    expect(await proposals(false)).toEqual([[undefined, 'model']]);
    expect(await proposals(true)).toEqual([[MARK, 'model']]);
  });

  it('includes error messages', async () => {
    const { run } = startScripted({
      intention: { failure: { code: 'unauthorized', message: MARK, retryable: false } },
    });
    await run.answer;
    const failed = (await spansOf(run.entries, { content: true })).find(({ status }) => status.message !== undefined);
    expect([failed?.attributes['error.type'], failed?.status.message]).toEqual(['unauthorized', MARK]);
  });
});
