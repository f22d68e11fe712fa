import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { memoryJournals } from '../../../src/durable/journals/memory-journals.ts';
import { createFeeds } from '../../../src/server/feeds.ts';
import { UiMessageChunks } from '../../../src/server/protocols/ai-sdk-chunks.ts';
import { ResponseEvents } from '../../../src/server/protocols/openai-responses.ts';
import { emptyView, nextView, type RunView } from '../../../src/server/run-view.ts';
import { isAfter, numberedUpdates, type RunUpdate, runUpdateSchema, updatesOf } from '../../../src/server/updates.ts';
import { replies } from '../../../src/testing/replies.ts';
import { killedAfter } from '../../support/journal-files.ts';
import { type FullRun, fullChain, fullRunArbitrary, fullRunOptions, runUntilEnded } from '../../support/random-runs.ts';
import { startScripted } from '../../support/run-chain.ts';
import { sampleSize } from '../../support/soak.ts';

/** Returns the entries of a run that is killed and resumed once for each share, at that share of its journal. */
async function journalOf(full: FullRun, kills: readonly number[]): Promise<readonly JournalEntry[]> {
  const first = fullChain(full, { journals: memoryJournals(), newId: () => 'run' });
  let run = first.chain.run(fullRunOptions(full));
  await runUntilEnded(run, first.clock, full.random.words);
  await run.answer;
  for (const share of kills) {
    const journals = killedAfter(run.entries.slice(0, 1 + Math.floor(share * (run.entries.length - 1))), 'run');
    const next = fullChain(full, { journals });
    run = await next.chain.resume('run');
    await runUntilEnded(run, next.clock, full.random.words);
    await run.answer;
  }
  return JSON.parse(JSON.stringify(run.entries));
}

/** Returns what a client receives if it loses its connection after each of these numbers of updates. */
async function received(entries: readonly JournalEntry[], cuts: readonly number[]) {
  const feeds = createFeeds(() => numberedUpdates(ReadableStream.from(entries)));
  const all: { readonly id: string; readonly update: RunUpdate }[] = [];
  for (const cut of [...cuts, Number.POSITIVE_INFINITY]) {
    const last = all.at(-1)?.id ?? '';
    let left = cut;
    for await (const next of feeds.items('run', new AbortController().signal)) {
      if (last !== '' && !isAfter(next.id, last)) continue;
      if (left === 0) break;
      all.push(next);
      left -= 1;
    }
  }
  return all;
}

const viewOf = (updates: readonly RunUpdate[]): RunView => updates.reduce(nextView, emptyView);
const share = fc.double({ min: 0, max: 1, noNaN: true });
const cuts = fc.array(fc.nat(40), { maxLength: 5 });

describe('the updates of any run, however often it is killed', () => {
  it('are the same for a client that reconnects, and add up to the answer in each protocol', async () => {
    await fc.assert(
      fc.asyncProperty(fullRunArbitrary, fc.array(share, { maxLength: 2 }), cuts, async (full, kills, lost) => {
        const entries = await journalOf(full, kills);
        const whole = await received(entries, []);
        expect(await received(entries, lost)).toEqual(whole);
        const updates = whole.map(({ update }) => update);
        expect(updates.map((update) => runUpdateSchema.parse(update))).toEqual(updates);
        const view = viewOf(updates);
        expect(view).toMatchObject({ status: 'ended', questions: [], text: view.answer?.answerText });
        expect(updates.map(({ type }) => type).filter((type) => type === 'run' || type === 'answer')).toEqual([
          'run',
          'answer',
        ]);
        expectMessage(updates, view.answer?.answerText ?? '');
        expectResponse(updates, view.answer?.answerText ?? '');
      }),
      { numRuns: sampleSize('updates of runs', 60, 2000) },
    );
  });
});

it('the answer of a phase is streamed from a reply with a member for the phase', async () => {
  const { run } = startScripted({ yield: { yield: replies.yield } });
  await run.answer;
  const updates = [...updatesOf(run.entries)];
  const indexOf = (type: string) => updates.findIndex((update) => update.type === type);
  expect(indexOf('text')).toBeGreaterThan(-1);
  expect(indexOf('text')).toBeLessThan(indexOf('decision'));
});

/** Checks that each part begins before it is written and ends once, and that the texts are the answer. */
function expectMessage(updates: readonly RunUpdate[], answer: string): void {
  const chunks = new UiMessageChunks();
  const open = new Set<unknown>();
  let text = '';
  for (const update of updates)
    for (const { type, id, delta } of chunks.take(update)) {
      const part = `${type.split('-')[0]} ${id}`;
      if (type.endsWith('-start')) expect(open.has(part)).toBe(false);
      if (type.endsWith('-start')) open.add(part);
      if (type.endsWith('-delta')) expect(open.has(part)).toBe(true);
      if (type === 'text-delta') text += delta;
      if (type.endsWith('-end')) expect(open.delete(part)).toBe(true);
    }
  expect([...open]).toEqual([]);
  expect(text).toBe(answer);
}

/** Checks that the numbers of the events increase, and that the last response has the sum of the events. */
function expectResponse(updates: readonly RunUpdate[], answer: string): void {
  const request = {
    returned: 'text',
    max_output_tokens: null,
    background: false,
    instructions: null,
    previous_response_id: null,
    parallel_tool_calls: true,
    metadata: {},
  } as const;
  const events = new ResponseEvents('chain', request);
  const items: unknown[] = [];
  let text = '';
  let last = -1;
  for (const update of updates)
    for (const event of events.take(update)) {
      expect(event.sequence_number).toBeGreaterThan(last);
      last = event.sequence_number;
      if (event.type === 'response.output_item.done') items[event['output_index'] as number] = event['item'];
      if (event.type === 'response.output_text.delta') text += event['delta'];
    }
  expect(items).toEqual(events.response.output);
  expect(text).toBe(answer);
}
