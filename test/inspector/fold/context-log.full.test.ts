import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contextAt } from '../../../inspector/fold/context-at.ts';
import { contextRows, versionBefore } from '../../../inspector/fold/context-log.ts';
import type { ContextOperation } from '../../../machines/contracts/context.ts';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import type { Message } from '../../../machines/contracts/message.ts';
import { contextOf } from '../../../machines/policies/context.ts';
import { contextHistory } from '../../../src/chain/journal/context-history.ts';
import { stateAt as stateOf } from '../../../src/chain/journal/state-at.ts';
import { memoryJournals } from '../../../src/chain/journal/stores.ts';
import { folded } from '../../support/inspector/inspected-runs.ts';
import { fullChain, fullRunArbitrary, fullRunOptions, runUntilEnded } from '../../support/random-runs.ts';
import { listOperations, startScripted } from '../../support/run-chain.ts';
import { sampleSize } from '../../support/soak.ts';

const start = startScripted().run.journal[0] as JournalEntry;

const messageOf = (id: string, content: string): Message => ({
  id,
  content,
  role: 'assistant',
  phase: 'action',
  createdAtMs: 0,
  cycle: 1,
  tags: [],
  importance: 0.5,
  links: [],
  references: [],
  source: null,
});

const anOperation = fc.record({
  kind: fc.constantFrom('ADD', 'PRUNE', 'TRANSFORM', 'TAG', 'PRIORITIZE'),
  target: fc.constantFrom<string>('a', 'b', 'c', 'earlier.a', 'request'),
  text: fc.string({ minLength: 1, maxLength: 9 }),
});

function operationOf({ kind, target, text }: typeof anOperation extends fc.Arbitrary<infer T> ? T : never, at: number) {
  const common = { id: `o${at}`, target, reason: 'so', metadata: {} };
  const data: Readonly<Record<string, unknown>> = {
    ADD: { message: messageOf(target, text) },
    PRUNE: {},
    TRANSFORM: { transformation: 'summarize', content: text, maxChars: 9 },
    TAG: { tags: [text] },
    PRIORITIZE: { importance: 0.9 },
  };
  return { operation: kind, ...common, data: data[kind] } as ContextOperation;
}

/** A journal of only a start and operations, a few per entry. */
const aJournal = fc
  .record({
    recalled: fc.boolean(),
    batches: fc.array(fc.array(anOperation, { maxLength: 4 }), { maxLength: 12 }),
  })
  .map(({ recalled, batches }) => {
    const messages = recalled ? [messageOf('earlier.a', 'once')] : [];
    let count = 0;
    return [
      start,
      { type: 'session-recalled', sessionId: 's', turns: 1, messages, problem: null, seq: 1, atMs: 0 },
      ...batches.map((batch, at) => ({
        type: 'operations',
        phase: 'action',
        step: at + 1,
        seq: at + 2,
        atMs: 0,
        applied: batch.map((one) => {
          count += 1;
          return operationOf(one, count);
        }),
      })),
    ] as JournalEntry[];
  });

describe('the context log', () => {
  it('gives the messages at every entry as folded from the journal, in any order of access', () => {
    fc.assert(
      fc.property(aJournal, fc.infiniteStream(fc.nat()), (entries, askedAt) => {
        const { fold } = folded(entries);
        for (const [index, entry] of entries.entries()) {
          const seq = index % 2 === 0 ? entry.seq : (askedAt.next().value ?? 0) % entries.length;
          expect(fold.context.messagesAt(seq)).toEqual(contextOf(contextHistory(entries.slice(0, seq + 1))));
        }
        expect(fold.context.operations).toEqual(listOperations(entries));
      }),
    );
  });

  it('caches distant entries and still matches the whole journal', () => {
    const applied = Array.from({ length: 1_000 }, (_, at) =>
      operationOf({ kind: at % 3 === 2 ? 'PRUNE' : 'ADD', target: `m${at - (at % 3 === 2 ? 2 : 0)}`, text: 'so' }, at),
    );
    const entries = [
      start,
      { type: 'operations', phase: 'action', step: 1, seq: 1, atMs: 0, applied },
    ] as JournalEntry[];
    const { fold } = folded(entries);
    expect(fold.context.messagesAt(1)).toEqual(contextOf(contextHistory(entries)));
    expect(fold.context.messagesAt(1)).toHaveLength(335);
  });

  it('lists current messages in order, and pruned ones in their last state', () => {
    fc.assert(
      fc.property(aJournal, (entries) => {
        const { fold } = folded(entries);
        for (const { seq } of entries) {
          const { messages } = contextAt(fold, seq);
          const rows = contextRows(fold.context, messages, seq);
          expect(rows.filter(({ pruned }) => pruned === null).map(({ message }) => message)).toEqual(messages);
          for (const { message, arrival, pruned } of rows) {
            if (pruned === null || arrival === null) continue;
            const before = contextOf({
              ...contextHistory(entries),
              operations: fold.context.operations.slice(0, pruned).map(({ operation }) => operation),
            });
            expect(versionBefore(fold.context, arrival, pruned)).toEqual(before.find(({ id }) => id === message.id));
          }
        }
      }),
    );
  });
});

describe('the context of a run', () => {
  it('equals the recorded state contexts and the fold of its operations at every entry', async () => {
    await fc.assert(
      fc.asyncProperty(fullRunArbitrary, fc.infiniteStream(fc.nat()), async (full, askedAt) => {
        const { chain, clock } = fullChain(full, { journals: memoryJournals() });
        const run = chain.run(fullRunOptions(full));
        await runUntilEnded(run, clock, full.random.words);
        const entries = run.journal;
        const { fold } = folded(entries);
        const kept = new Map<number, unknown>();
        for (let times = 0; times < 40; times += 1) {
          const seq = (askedAt.next().value ?? 0) % entries.length;
          const state = fold.states.at(seq);
          expect(state).toEqual(stateOf(entries, seq));
          kept.set(seq, state);
          const { by, messages } = contextAt(fold, seq);
          expect(by).toBe(state === null ? 'operations' : 'states');
          expect(messages).toEqual(fold.context.messagesAt(seq));
        }
      }),
      { numRuns: sampleSize('runs with operations', 8, 200) },
    );
  });

  it('is the same object while nothing changes, so that nothing is rendered again', async () => {
    const { run } = startScripted({}, { journals: memoryJournals() });
    await run.answer;
    const { fold } = folded(run.journal);
    const deltas = fold.entries.of('text-delta');
    const first = deltas[0] ?? 0;
    expect(contextAt(fold, first + 1)).toBe(contextAt(fold, first));
  });
});
