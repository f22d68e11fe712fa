import { strict as assert } from 'node:assert';
import { stepCountIs, streamText, tool } from 'ai';
import { MODEL_PHASES, REQUEST, replyAt, replyText, schemas } from './replies.mjs';
import { textDeltas } from './zero-latency-model.mjs';

/** One tool per phase, whose input is the reply of that phase. */
const tools = Object.fromEntries(
  MODEL_PHASES.map((phase) => [phase, tool({ inputSchema: schemas[phase], execute: async () => 'noted' })]),
);
const usage = {
  inputTokens: { total: 800, noCache: 800, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 75, text: 75, reasoning: 0 },
};

/** A model that answers immediately. It calls the tools in turn, and its replies are their streamed inputs. */
function toolCallingModel() {
  let steps = 0;
  return /** @type {import('@ai-sdk/provider').LanguageModelV3} */ ({
    specificationVersion: 'v3',
    provider: 'bench',
    modelId: 'zero-latency',
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error('only streams')),
    doStream: async () => {
      const parts = partsOf(steps);
      steps += 1;
      return { stream: /** @type {any} */ (ReadableStream.from(parts)) };
    },
  });
}

/** @param {number} step */
async function* partsOf(step) {
  const id = String(step);
  const [toolName, cycle] = phaseAt(step);
  yield { type: 'stream-start', warnings: [] };
  yield { type: 'tool-input-start', id, toolName };
  for await (const delta of textDeltas(toolName, cycle)) yield { type: 'tool-input-delta', id, delta };
  yield { type: 'tool-input-end', id };
  yield { type: 'tool-call', toolCallId: id, toolName, input: replyText(toolName, cycle) };
  yield { type: 'finish', finishReason: { unified: 'tool-calls', raw: 'tool_calls' }, usage };
}

/** @type {(step: number) => [typeof MODEL_PHASES[number], number]} */
const phaseAt = (step) => [
  MODEL_PHASES[step % MODEL_PHASES.length] ?? MODEL_PHASES[0],
  Math.floor(step / MODEL_PHASES.length) + 1,
];

/**
 * Measures microseconds per step of AI SDK's tool loop, in `runs` loops one after the other. Each step streams the input of a tool, which
 * the SDK validates. Every prompt has all earlier steps. Nothing is persisted.
 *
 * @param {{ cycles: number, runs: number }} options
 */
export async function measure({ cycles, runs }) {
  const count = cycles * MODEL_PHASES.length;
  const ended = [];
  const startedAt = performance.now();
  for (let at = 0; at < runs; at += 1) {
    const result = streamText({ model: toolCallingModel(), tools, prompt: REQUEST, stopWhen: stepCountIs(count) });
    await result.consumeStream();
    ended.push(await result.steps);
  }
  const elapsedMs = performance.now() - startedAt;
  for (const steps of ended) {
    assert.equal(steps.length, count);
    for (const [at, { toolCalls, toolResults }] of steps.entries()) {
      assert.deepEqual(
        toolCalls.map(({ input }) => input),
        [replyAt(...phaseAt(at))],
      );
      assert.deepEqual(
        toolResults.map(({ output }) => output),
        ['noted'],
      );
    }
  }
  return { microseconds: (elapsedMs * 1000) / (count * runs) };
}
