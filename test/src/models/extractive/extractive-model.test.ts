import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PostChainError } from '../../../../machines/contracts/error.ts';
import type { ModelPart, ModelRequest } from '../../../../machines/contracts/model.ts';
import { TASKS, type Task } from '../../../../machines/contracts/phase.ts';
import { replySchemas } from '../../../../machines/contracts/phase-io.ts';
import { synthesisReplySchema } from '../../../../machines/contracts/synthesis.ts';
import { extractiveModel } from '../../../../src/models/extractive/extractive-model.ts';
import {
  message,
  passage,
  phaseInput,
  synthesisInput,
  THREE_PHASE_CONTEXT,
} from '../../../support/extractive-inputs.ts';

const schemas = { ...replySchemas, synthesis: synthesisReplySchema };
const { signal } = new AbortController();

function requestOf(task: Task, input: unknown): ModelRequest {
  return {
    task,
    turns: [{ role: 'user', content: '12345678' }],
    schemaName: task,
    outputSchema: {},
    replyForm: 'text',
    input,
  };
}

async function collect(request: ModelRequest, chunkChars = 40): Promise<ModelPart[]> {
  const parts: ModelPart[] = [];
  for await (const part of extractiveModel({ chunkChars }).stream(request, { signal })) parts.push(part);
  return parts;
}

const textOf = (parts: readonly ModelPart[]) =>
  parts.map((part) => (part.type === 'text-delta' ? part.text : '')).join('');

function inputOf(
  task: Task,
  request: string,
  messages = THREE_PHASE_CONTEXT,
  passages = [passage('p', 'Yield checks guards.')],
): unknown {
  if (task === 'summary')
    return { request, texts: messages.map(({ id, content }) => ({ messageId: id, content, maxChars: 60 })) };
  if (task === 'continuation') return { request, response: '', steps: [], runsLeft: 3, capabilities: [] };
  return task === 'synthesis' ? synthesisInput(request, '', messages) : phaseInput(task, request, messages, passages);
}

describe('the extractive model', () => {
  it('[A12] returns the same reply as the arguments of one tool call when requested', async () => {
    const request = requestOf('yield', inputOf('yield', 'In which order?'));
    const inText = await collect(request);
    const inCall = await collect({ ...request, replyForm: 'tool-call', schemaName: 'yield_reply' });
    const asCall = inText.map((part) =>
      part.type === 'text-delta'
        ? { type: 'tool-call-delta', index: 0, name: 'yield_reply', arguments: part.text }
        : { ...part, reason: 'tool-calls' },
    );
    expect(inCall).toEqual(asCall);
  });

  const MANY = Array.from({ length: 60 }, (_, at) =>
    message(`m${at}`, `Guide ${at}\nYield checks guard ${at}. Guard ${at} comes before guard ${at + 1}.`, {
      role: 'search',
    }),
  );
  it.each(TASKS.filter((task) => task !== 'experience' && task !== 'continuation'))(
    'lets timers fire while it makes a reply to %s',
    async (task) => {
      let turns = 0;
      let timer = setImmediate(function count() {
        turns += 1;
        timer = setImmediate(count);
      });
      await collect(requestOf(task, inputOf(task, 'In which order does Yield check its guards?', MANY)));
      clearImmediate(timer);
      expect(turns).toBeGreaterThan(40);
    },
  );

  it('stops in the middle of a reply when the signal aborts', async () => {
    const abort = new AbortController();
    let turns = 0;
    let timer = setImmediate(function count() {
      turns += 1;
      if (turns === 10) abort.abort();
      timer = setImmediate(count);
    });
    const parts: ModelPart[] = [];
    const request = requestOf('yield', inputOf('yield', 'In which order does Yield check its guards?', MANY));
    for await (const part of extractiveModel().stream(request, { signal: abort.signal })) parts.push(part);
    clearImmediate(timer);
    expect(parts).toEqual([]);
    expect(turns).toBeLessThan(20);
  });

  it('reports an unknown task and lists the supported ones', async () => {
    for (const task of ['output', 'toString', 'a\nb']) {
      const [part, ...more] = await collect({ ...requestOf('action', {}), task });
      expect(more).toEqual([]);
      expect(part).toMatchObject({
        type: 'failure',
        failure: { stage: 'unexpected', code: 'task_unknown', retryable: false },
      });
      const message = part?.type === 'failure' ? part.failure.message : '';
      expect(message).toContain(`unknown task ${JSON.stringify(task)}; the extractive model supports action`);
      expect(message).toMatch(/^[^\n]*; use an LLM, for example openaiModel$/);
    }
  });

  it('streams its reply in small deltas and then finishes with estimated usage', async () => {
    const parts = await collect(requestOf('yield', inputOf('yield', 'In which order?')));
    const deltas = parts.slice(0, -1);
    expect(deltas.length).toBeGreaterThan(3);
    for (const part of deltas) expect(part).toMatchObject({ type: 'text-delta' });
    const outputTokens = Math.ceil(textOf(parts).length / 4);
    expect(parts.at(-1)).toEqual({
      type: 'finish',
      reason: 'stop',
      usage: { inputTokens: 2, outputTokens, estimated: true },
    });
  });

  it('returns the same text for any delta size and never splits a character', async () => {
    const request = requestOf(
      'yield',
      inputOf('yield', 'What is a 🦜 called?', [message('s', 'A 🦜🦜 is called a parrot.')]),
    );
    const whole = textOf(await collect(request, 100_000));
    for (const chunkChars of [1, 2, 3, 7]) {
      const parts = await collect(request, chunkChars);
      expect(textOf(parts)).toBe(whole);
      for (const part of parts) if (part.type === 'text-delta') expect(part.text).not.toMatch(/[\ud800-\udbff]$/);
    }
  });

  it('stops when the signal aborts, before and during the stream', async () => {
    const abort = new AbortController();
    const seen: ModelPart[] = [];
    const request = requestOf('yield', inputOf('yield', 'In which order?'));
    for await (const part of extractiveModel().stream(request, { signal: abort.signal })) {
      seen.push(part);
      abort.abort();
    }
    for await (const part of extractiveModel().stream(request, { signal: abort.signal })) seen.push(part);
    expect(seen).toMatchObject([{ type: 'text-delta' }]);
  });

  it.each([null, undefined, 42, 'text', {}, phaseInput('yield', 'x', [null as never]), phaseInput('action', 'x', [])])(
    'ends with a failure part when input %# does not belong to the task',
    async (input) => {
      const parts = await collect(requestOf('yield', input));
      expect(parts).toMatchObject([{ type: 'failure', failure: { stage: 'unexpected', retryable: false } }]);
    },
  );

  it('rejects a chunk size that is not a positive integer', () => {
    expect(() => extractiveModel({ chunkChars: 0 })).toThrow(PostChainError);
    expect(() => extractiveModel({ chunkChars: 1.5 })).toThrow('chunkChars');
  });

  it('[C1] returns a schema-valid reply for every task, request, and context', async () => {
    const words = fc.array(
      fc.constantFrom(
        'Yield',
        'checks',
        'guards',
        '`a.ts`',
        'In',
        'which',
        'order?',
        '\n- item',
        '\n',
        'and what',
        '🦜',
      ),
    );
    const text = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      words.map((parts) => parts.join(' ')),
    );
    const role = fc.constantFrom('user' as const, 'assistant' as const, 'search' as const);
    const messages = fc.array(fc.tuple(role, text), { maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...TASKS), text, messages, async (task, request, contents) => {
        const context = contents.map(([from, content], at) => message(`m${at}`, content, { role: from }));
        const passages = contents
          .filter(([, content]) => content !== '')
          .map(([, content], at) => passage(`p${at}`, content));
        const parts = await collect(requestOf(task, inputOf(task, request.trim() || '?', context, passages)));
        expect(parts.at(-1)?.type).toBe('finish');
        expect(schemas[task].safeParse(JSON.parse(textOf(parts))).success).toBe(true);
      }),
    );
  });
});
