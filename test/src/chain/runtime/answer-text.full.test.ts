import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JournalEntry } from '../../../../machines/contracts/journal.ts';
import type { ChatModel, ModelPart } from '../../../../machines/contracts/model.ts';
import type { Phase, Task } from '../../../../machines/contracts/phase.ts';
import { failureOf } from '../../../../machines/policies/failures.ts';
import { NO_USAGE } from '../../../../machines/policies/usage.ts';
import { createEventStream, type PartialUpdate, type RunEvent } from '../../../../src/chain/runtime/run-events.ts';
import { createPostChain } from '../../../../src/entries/index.ts';
import { type ScriptEntry, scriptedModel } from '../../../../src/models/scripted.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { operationsOf } from '../../../support/operation-count.ts';
import { ONE_CALL_PER_PHASE, settle } from '../../../support/run-chain.ts';

/** What a reader of the answer's text alone receives. */
class Display {
  text = '';
  /** The discarded texts, each with the reason. */
  readonly voids: string[] = [];
  deltas = 0;
  /** Whether the text was complete when the answer came. */
  wasComplete: boolean | null = null;

  take(event: RunEvent): void {
    if (event.type === 'answer-delta') {
      expect(event.text).not.toBe('');
      this.text += event.text;
      this.deltas += 1;
    }
    if (event.type === 'answer-void') {
      expect(this.text).not.toBe('');
      this.voids.push(`${this.text}: ${event.reason}`);
      this.text = '';
    }
    if (event.type === 'answer') this.wasComplete = this.text === event.answer.answerText;
  }
}

async function read(events: AsyncIterable<RunEvent>, wait?: () => Promise<void>): Promise<Display> {
  const display = new Display();
  for await (const event of events) {
    display.take(event);
    await wait?.();
  }
  return display;
}

/** Joins the one-character parts of a model into pieces of these sizes, with a turn of the event loop after each. */
function inPieces(model: ChatModel, sizes: readonly number[]): ChatModel {
  return {
    ...model,
    async *stream(request, options) {
      let piece = null as (ModelPart & { type: 'text-delta' }) | null;
      let pieces = 0;
      for await (const part of model.stream(request, options)) {
        if (part.type === 'text-delta') {
          piece = { ...part, text: (piece?.text ?? '') + part.text };
          if (piece.text.length < (sizes[pieces % sizes.length] ?? 1)) continue;
          pieces += 1;
        }
        if (piece !== null) yield piece;
        piece = null;
        if (part.type !== 'text-delta') yield part;
        await settle(1);
      }
    },
  };
}

type Outcome = 'good' | 'unsure' | 'invalid' | 'prose' | 'failed' | 'cut' | 'twice';

const FIELDS = { yield: 'answer', synthesis: 'answerText' } as const;

function scripted(task: keyof typeof FIELDS, outcome: Outcome, text: string): ScriptEntry {
  const reply = { ...replies[task], [FIELDS[task]]: text };
  const json = JSON.stringify(reply);
  switch (outcome) {
    case 'good':
      return { reply };
    case 'unsure':
      return { reply: { ...reply, confidence: 0.2, taskComplete: false } };
    case 'invalid':
      return { reply: { ...reply, confidence: 7 } };
    case 'prose':
      return { text: `So: ${text}` };
    case 'failed':
      return { failure: {} };
    case 'cut':
      return { reply, cut: Math.floor(json.length / 2) };
    case 'twice':
      return { text: json.replace('{', `{"${FIELDS[task]}":"It was not.",`) };
  }
}

const texts = fc.string({
  unit: fc.constantFrom('It is so. ', ' ', '\n', 'é', '😀', '\ud83d', '\ude00', '"', '\\'),
  maxLength: 8,
});
const outcomes = fc.constantFrom<Outcome>('good', 'good', 'unsure', 'invalid', 'prose', 'failed', 'cut', 'twice');
const calls = fc.array(fc.tuple(outcomes, texts), { minLength: 1, maxLength: 4 });

describe('the text of the answer in the events of a run', () => {
  it('adds up to `answerText` for every reader, however the calls end', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          yields: calls,
          syntheses: calls,
          sizes: fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 5 }),
          profile: fc.constantFrom('thorough', 'balanced', 'lean'),
          cancelAfter: fc.option(fc.nat(400)),
        }),
        async ({ yields, syntheses, sizes, profile, cancelAfter }) => {
          const plan = { yield: yields, synthesis: syntheses };
          const script = scriptedModel(
            ({ task }, call) => {
              const planned = plan[task as keyof typeof plan];
              if (planned === undefined) return replies[task as Task];
              const [outcome, text] = planned[(call - 1) % planned.length] ?? ['good', 'It is so.'];
              return scripted(task as keyof typeof FIELDS, outcome, text) as object as Record<string, unknown>;
            },
            { chunkChars: 1 },
          );
          const chain = createPostChain({
            model: inPieces(script, sizes),
            profile,
            limits: { maxCycles: 2, backoffBaseMs: 0 },
          });
          const run = chain.run({ request: 'Is it so?' });
          let seen = 0;
          const readers = [
            read(run.events, async () => {
              seen += 1;
              if (seen === cancelAfter) run.cancel();
            }),
            read(run.events, () => settle(3)),
          ];
          const { answerText } = await run.answer;
          readers.push(read(run.events));
          for (const { text, wasComplete } of await Promise.all(readers))
            expect([text, wasComplete]).toEqual([answerText, true]);
        },
      ),
    );
  });

  it('arrives while Yield replies, and is void when Yield decides on another cycle', async () => {
    const model = scriptedModel(
      {
        yield: [
          { ...replies.yield, answer: 'Perhaps it is.', confidence: 0.3, taskComplete: false },
          { ...replies.yield, answer: 'It is so, for sure.' },
        ],
      },
      { otherwise: replies, chunkChars: 4 },
    );
    const events: RunEvent[] = [];
    const profile = { ...ONE_CALL_PER_PHASE, writing: 'if-needed' } as const;
    const run = createPostChain({ model: inPieces(model, [4]), profile }).run({ request: 'Is it so?' });
    for await (const event of run.events) events.push(event);
    const at = (type: RunEvent['type'], from = 0): number =>
      events.findIndex((one, i) => i >= from && one.type === type);
    const first = at('answer-delta');
    const end = events.findIndex(({ type }, i) => i > first && type === 'attempt-end');
    expect(events.slice(first, end).filter(({ type }) => type === 'answer-delta').length).toBeGreaterThan(2);
    const discarded = at('answer-void');
    expect(events[discarded]).toEqual({ type: 'answer-void', attemptId: 's6.yield', reason: 'next_cycle' });
    expect(events[discarded + 1]).toMatchObject({ type: 'decision', decision: { complete: false } });
    const display = new Display();
    for (const event of events) display.take(event);
    expect(display).toMatchObject({ text: 'It is so, for sure.', voids: ['Perhaps it is.: next_cycle'] });
    expect(run.entries.filter(({ type }) => /^answer-(?:delta|void)$/u.test(type))).toEqual([]);
  });

  it('is void when an attempt fails, and when synthesis writes another text', async () => {
    const model = scriptedModel(
      {
        yield: [
          { ...replies.yield, answer: 'Wrong.', confidence: 7 },
          { ...replies.yield, answer: 'A draft.' },
        ],
        synthesis: [{ ...replies.synthesis, answerText: ' It is so. \n' }],
      },
      { otherwise: replies, chunkChars: 1 },
    );
    const chain = createPostChain({ model: inPieces(model, [2]), profile: 'thorough', limits: { backoffBaseMs: 0 } });
    expect(await read(chain.run({ request: 'Is it so?' }).events)).toMatchObject({
      text: 'It is so.',
      voids: ['Wrong.: attempt_failed', 'A draft.: rewritten'],
    });
  });
});

const place = { seq: 0, atMs: 0 };

function partial(value: object, call: Partial<Pick<PartialUpdate, 'task' | 'phases'>> = {}): PartialUpdate {
  return { type: 'partial', attemptId: 's1.a', task: 'yield', attempt: 1, ...call, value } as PartialUpdate;
}

describe('the text of the answer in one reply', () => {
  it.each<[string, object, Partial<Pick<PartialUpdate, 'task' | 'phases'>>, string]>([
    [
      'a brief reply that is for Yield too',
      { answer: 'It is.' },
      { task: 'experience', phases: ['experience', 'yield'] },
      'It is.',
    ],
    [
      'a brief reply for other phases',
      { answer: 'It is.' },
      { task: 'experience', phases: ['experience', 'intention'] },
      '',
    ],
    ['a tool call', { answer: 'It is.' }, { task: 'continuation' }, ''],
  ])('is read from %s', async (_, value, call, expected) => {
    const stream = createEventStream([]);
    const reading = read(stream);
    stream.push(partial(value, call));
    await settle(1);
    stream.end();
    expect((await reading).text).toBe(expected);
  });

  it('is void when its phase is stopped, but not when another one is', async () => {
    const history: JournalEntry[] = [];
    const stream = createEventStream(history);
    const reading = read(stream);
    const failure = failureOf('deadline', 'phase_timeout', 'It took too long.');
    const fail = (phase: Phase): void => {
      history.push({ ...place, type: 'phase-end', phase, cycle: 1, step: 1, summary: '', failure });
      stream.wake();
    };
    stream.push(partial({ answer: 'It' }, { task: 'experience', phases: ['experience', 'intention', 'yield'] }));
    fail('intention');
    fail('experience');
    stream.end();
    expect(await reading).toMatchObject({ text: '', voids: ['It: attempt_failed'] });
  });

  it('never ends a delta between the halves of a surrogate pair', async () => {
    const stream = createEventStream([]);
    const pieces: string[] = [];
    const reading = (async () => {
      for await (const event of stream) if (event.type === 'answer-delta') pieces.push(event.text);
    })();
    for (const answer of ['So ', 'So \ud83d', 'So \ud83d\ude00']) {
      stream.push(partial({ answer }));
      await settle(1);
    }
    stream.end('So \ud83d\ude00');
    await reading;
    expect(pieces).toEqual(['So ', '\ud83d\ude00']);
  });

  const CHUNK = 'word ';

  /** Streams a reply of so many chunks to a reader, and returns what that costs. */
  async function costOf(chunks: number): Promise<{ operations: number; readChars: number }> {
    const value = { answer: '' };
    const history: JournalEntry[] = [];
    const stream = createEventStream(history);
    let shownChars = 0;
    let readChars = 0;
    const reading = (async () => {
      for await (const event of stream) {
        if (event.type === 'attempt-end') expect(shownChars).toBe(chunks * CHUNK.length);
        if (event.type !== 'answer-delta') continue;
        shownChars += event.text.length;
        // Cutting off the new text costs the length of the whole text.
        readChars += shownChars;
      }
    })();
    const operations = await operationsOf(async () => {
      for (let chunk = 0; chunk < chunks; chunk += 1) {
        value.answer += CHUNK;
        stream.push(partial(value));
        await Promise.resolve();
      }
      history.push({
        ...place,
        type: 'attempt-end',
        attemptId: 's1.a',
        task: 'yield',
        attempt: 1,
        failure: null,
        usage: NO_USAGE,
      });
      stream.wake();
      stream.end(value.answer);
      await reading;
    });
    return { operations, readChars };
  }

  it('takes work proportional to its length: the same for each chunk', async () => {
    const short = await costOf(2_000);
    const long = await costOf(20_000);
    expect(long.operations / short.operations).toBeLessThan(11);
    expect(short.readChars).toBeLessThan(300 * 2_000 * CHUNK.length);
    expect(long.readChars).toBeLessThan(300 * 20_000 * CHUNK.length);
  });

  it('is not read without a reader', () => {
    let reads = 0;
    const value = {
      get answer() {
        reads += 1;
        return 'It is so.';
      },
    };
    createEventStream([]).push(partial(value));
    expect(reads).toBe(0);
  });
});
