import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PostChainError } from '../../../../machines/contracts/error.ts';
import type { Message } from '../../../../machines/contracts/message.ts';
import type { ModelPart, ModelRequest } from '../../../../machines/contracts/model.ts';
import { TASKS } from '../../../../machines/contracts/phase.ts';
import { type PhaseInput, type Replies, replySchemas } from '../../../../machines/contracts/phase-io.ts';
import { type AnswerMaterial, synthesisReplySchema } from '../../../../machines/contracts/synthesis.ts';
import { extractiveModel } from '../../../../src/models/extractive/extractive-model.ts';
import { type ExtractedTask, replyTo, replyToTask } from '../../../../src/models/extractive/replies.ts';
import { atOnce } from '../../../support/at-once.ts';
import { message, passage, phaseInput, THREE_PHASE_CONTEXT } from '../../../support/extractive-inputs.ts';
import { turnsDuring } from '../../../support/turns.ts';

const schemas = { ...replySchemas, synthesis: synthesisReplySchema };
const { signal } = new AbortController();

function requestOf(task: ExtractedTask, input: unknown): ModelRequest {
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

/** The material of a final answer after one cycle. */
function synthesisInput(request: string, draft: string, messages: readonly Message[]): AnswerMaterial {
  return {
    request,
    draft: { text: draft, confidence: 0.5, usedMessageIds: [], notes: '' },
    steps: [],
    messages,
    converged: false,
    cycles: 1,
    corrections: 0,
    notes: { ending: 'rationale: test', plan: '', task: '', passes: '', validation: '' },
  };
}

/** A value of an arbitrary schema cannot be quoted. */
const EXTRACTED = TASKS.filter((task): task is ExtractedTask => task !== 'value');

function inputOf(
  task: ExtractedTask,
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
  it.each(EXTRACTED.filter((task) => task !== 'experience' && task !== 'continuation'))(
    'lets timers fire while it makes a reply to %s',
    async (task) => {
      const request = requestOf(task, inputOf(task, 'In which order does Yield check its guards?', MANY));
      expect(await turnsDuring(() => collect(request))).toBeGreaterThan(40);
    },
  );

  it('stops in the middle of a reply when the signal aborts', async () => {
    const abort = new AbortController();
    const parts: ModelPart[] = [];
    const request = requestOf('yield', inputOf('yield', 'In which order does Yield check its guards?', MANY));
    const read = async () => {
      for await (const part of extractiveModel().stream(request, { signal: abort.signal })) parts.push(part);
    };
    const turns = await turnsDuring(read, (turn) => turn === 10 && abort.abort());
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
      fc.asyncProperty(fc.constantFrom(...EXTRACTED), text, messages, async (task, request, contents) => {
        const context = contents.map(([from, content], at) => message(`m${at}`, content, { role: from }));
        const passages = contents
          .filter(([, content]) => content !== '')
          .map(([, content], at) => passage(`p${at}`, content));
        const asked = requestOf(task, inputOf(task, request.trim() || '?', context, passages));
        const parts = await collect(asked);
        expect(await collect(asked), 'deterministic').toEqual(parts);
        expect(parts.at(-1)?.type).toBe('finish');
        expect(schemas[task].safeParse(JSON.parse(textOf(parts))).success).toBe(true);
      }),
    );
  });
});

/** Returns the reply to a phase. */
const replied = <P extends PhaseInput['phase']>(input: Extract<PhaseInput, { phase: P }>): Replies[P] =>
  atOnce(replyTo(input)) as Replies[P];

const ORDER = 'In which order does Yield check its guards?';
const UNKNOWN = 'How do I deploy to Kubernetes?';

describe('the extractive model in Action', () => {
  it('[C4] answers from the search results without a capability call', () => {
    const reply = replied(phaseInput('action', ORDER, THREE_PHASE_CONTEXT));
    expect(reply).toMatchObject({ response: expect.stringContaining('cycleLimitReached'), calls: [] });
    expect(reply.confidence).toBeGreaterThan(0.7);
  });

  it('[C4] reports that nothing has been retrieved when there is no search result', () => {
    expect(replied(phaseInput('action', ORDER, [message('u', ORDER, { role: 'user' })]))).toEqual({
      response: 'Nothing has been gathered yet.',
      confidence: 0,
      calls: [],
    });
  });
});

describe('the extractive model in Experience', () => {
  const passages = [
    passage('p1', 'A dead source degrades the phase.', ['Experience']),
    passage('p2', 'Nothing of the kind.'),
  ];

  it('[C5] summarizes the passages and names the relevant ones and what is missing', () => {
    const reply = replied(phaseInput('experience', 'What does a dead source in Kubernetes do?', [], passages));
    expect(reply).toMatchObject({
      summary: 'A dead source degrades the phase.',
      relevantPassageIds: ['p1'],
      missing: ['Kubernetes'],
    });
  });

  it('[C5] reports that nothing was retrieved', () => {
    const reply = replied(phaseInput('experience', UNKNOWN, []));
    expect(reply).toMatchObject({ relevantPassageIds: [], missing: ['deploy', 'Kubernetes'], confidence: 0 });
    expect(reply.summary).toContain('No passage answers this question');
  });
});

describe('the extractive model in Intention', () => {
  it('[C6] restates the request and rates the alignment of every message', () => {
    const reply = replied(phaseInput('intention', ORDER, THREE_PHASE_CONTEXT));
    expect(reply).toMatchObject({ goal: ORDER, alternatives: [], unclearIntent: false });
    expect(reply.alignment).toHaveLength(THREE_PHASE_CONTEXT.length);
    expect(reply.alignment.find(({ messageId }) => messageId === 's1')?.score).toBeGreaterThan(0.7);
    expect(reply.alignment.find(({ messageId }) => messageId === 's2')?.score).toBeLessThan(0.3);
  });

  it('[C6] rates a request without content words unclear, and a specific one clearer than a vague one', () => {
    expect(replied(phaseInput('intention', 'what is it then?', []))).toMatchObject({
      unclearIntent: true,
      clarity: 0,
    });
    const [vague, clear] = ['the guards', ORDER].map(
      (request) => replied(phaseInput('intention', request, [])).clarity,
    );
    expect(clear).toBeGreaterThan(vague ?? 1);
  });

  it('returns the questions in a request as alternatives if there are several', () => {
    const reply = replied(phaseInput('intention', 'What does Yield decide, and in which order?', []));
    expect(reply.alternatives).toEqual(['What does Yield decide', 'in which order?']);
  });
});

describe('the extractive model in Observation', () => {
  it('[C7] connects messages that share rare words and lists recurring names', () => {
    const messages = [
      message('a', 'The turbine valve of Port Mersey froze during inspection.'),
      message('b', 'During the inspection of Port Mersey the turbine valve was replaced.'),
      message('c', 'Bread is baked in the morning.'),
    ];
    const reply = replied(phaseInput('observation', 'What froze at Port Mersey?', messages));
    expect(reply.connections).toMatchObject([{ from: 'a', to: 'b' }]);
    expect(reply.connections[0]?.strength).toBeGreaterThan(0.7);
    expect(reply.entities).toEqual([{ name: 'Port Mersey', messageIds: ['a', 'b'] }]);
    expect(reply.importance.find(({ messageId }) => messageId === 'c')?.score).toBe(0);
  });

  it('[C7] counts a relevant search result as undigested until an answer uses it', () => {
    const answer = message('a1', 'An answer', { role: 'assistant', references: ['s1'] });
    expect(replied(phaseInput('observation', ORDER, THREE_PHASE_CONTEXT)).undigested).toBe(true);
    expect(replied(phaseInput('observation', ORDER, [...THREE_PHASE_CONTEXT, answer])).undigested).toBe(false);
    expect(replied(phaseInput('observation', UNKNOWN, THREE_PHASE_CONTEXT)).undigested).toBe(false);
  });
});

describe('the extractive model in Understanding', () => {
  it('[U1] assesses every assistant and search message, and rates an empty answer irrelevant', () => {
    const empty = replied(phaseInput('action', ORDER, [])).response;
    const messages = [...THREE_PHASE_CONTEXT, message('a1', empty, { role: 'assistant' })];
    const { assessments, integrated } = replied(phaseInput('understanding', ORDER, messages));
    expect(assessments.map(({ messageId }) => messageId)).toEqual(['s1', 's2', 's3', 'a1']);
    expect(assessments[0]?.relevance).toBeGreaterThan(0.8);
    expect(assessments[3]?.relevance).toBe(0);
    expect(integrated).toContain('cycleLimitReached');
  });
});

describe('the extractive model in Yield', () => {
  it('[Y1] reports the task as complete when the answer covers the question', () => {
    const reply = replied(phaseInput('yield', ORDER, THREE_PHASE_CONTEXT));
    expect(reply).toMatchObject({ taskComplete: true, needsTools: false, proposedPhase: null, usedMessageIds: ['s1'] });
    expect(reply.informationSufficiency).toBeGreaterThan(0.9);
    expect(reply.rationale).toContain('100%');
  });

  it('[Y3] reports insufficient information and proposes Experience when nothing answers', () => {
    const reply = replied(phaseInput('yield', UNKNOWN, THREE_PHASE_CONTEXT));
    expect(reply).toMatchObject({
      taskComplete: false,
      informationSufficiency: 0,
      proposedPhase: 'experience',
      usedMessageIds: [],
    });
    expect(reply.answer).toBe('No passage answers this question: searched for "deploy" and "Kubernetes".');
    expect(reply.confidence).toBeLessThan(0.1);
  });
});

describe('the extractive model in synthesis', () => {
  const synthesized = (request: string, draft: string) =>
    atOnce(replyToTask('synthesis', synthesisInput(request, draft, THREE_PHASE_CONTEXT))) as Replies['synthesis'];

  it('keeps a good draft, cites its sources, and states that it is extractive', () => {
    const draft = replied(phaseInput('yield', ORDER, THREE_PHASE_CONTEXT)).answer;
    const reply = synthesized(ORDER, draft);
    expect(reply).toMatchObject({ answerText: draft, usedMessageIds: ['s1'] });
    expect(reply.notes).toContain('the extractive model (no LLM)');
  });

  it('replaces an empty or worse draft with the best span', () => {
    for (const draft of ['', 'Bread is baked.', replied(phaseInput('yield', UNKNOWN, THREE_PHASE_CONTEXT)).answer]) {
      expect(synthesized(ORDER, draft).answerText).toContain('cycleLimitReached');
    }
  });

  it('states what was not found', () => {
    const reply = synthesized(UNKNOWN, '');
    expect(reply.answerText).toContain('No passage answers this question');
    expect(reply.notes).toContain('Not in the retrieved passages: "deploy" and "Kubernetes"');
  });
});
