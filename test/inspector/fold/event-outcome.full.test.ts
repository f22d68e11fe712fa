import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AnyMachineSnapshot, InspectionEvent } from 'xstate';
import { eventOutcome } from '../../../inspector/fold/why.ts';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { isExternal } from '../../../src/durable/entries.ts';
import { memoryJournals } from '../../../src/durable/journals/memory-journals.ts';
import { activeNodes, transitionsTaken } from '../../../src/xstate/actors.ts';
import { folded, manualRun, recordedEntries, runToAnswer } from '../../support/inspector/inspected-runs.ts';
import { type FullRun, fullChain, fullRunArbitrary, fullRunOptions, runUntilEnded } from '../../support/random-runs.ts';
import type { ScriptedRun } from '../../support/run-chain.ts';
import { sampleSize } from '../../support/soak.ts';

type Kind = ReturnType<typeof eventOutcome>['kind'];

/** What XState did with each entry, according to its inspector and the transitions of the active states. */
function watch(run: ScriptedRun['run']): ReadonlyMap<number, Kind> {
  const kinds = new Map<number, Kind>();
  const latest = (): JournalEntry | undefined => run.entries.findLast(isExternal);
  run.ref.system.inspect((event: InspectionEvent) => {
    const entry = latest();
    if (entry === undefined) return;
    if (event.type === '@xstate.microstep') {
      const took = transitionsTaken(event).filter(({ eventType }) => eventType !== 'xstate.init');
      if (took.some(({ target, guard }) => target !== undefined || guard !== undefined))
        kinds.set(entry.seq, 'transitions');
      else if (took.length > 0 && kinds.get(entry.seq) !== 'transitions') kinds.set(entry.seq, 'handled');
    } else if (event.type === '@xstate.event' && event.actorRef === run.ref && entry.type === 'delivery') {
      const nodes = activeNodes(run.ref.getSnapshot() as AnyMachineSnapshot);
      const heard = nodes.some(({ transitions }) => transitions.has(event.event.type));
      if (!kinds.has(entry.seq)) kinds.set(entry.seq, heard ? 'guards-false' : 'no-transition');
    }
  });
  return kinds;
}

function outcomes(entries: readonly JournalEntry[]): ReadonlyMap<number, Kind> {
  const loaded = folded(entries);
  return new Map(entries.filter(isExternal).map(({ seq }) => [seq, eventOutcome(loaded, seq, true).kind]));
}

describe('the outcome of an external event', () => {
  it('matches what XState did with it, in every run', async () => {
    const seen = new Set<Kind>();
    await fc.assert(
      fc.asyncProperty(fullRunArbitrary, async (full: FullRun) => {
        const { chain, clock } = fullChain(full, { journals: memoryJournals() });
        const run = chain.run(fullRunOptions(full));
        const kinds = watch(run);
        run.send({ type: 'run.adjusted', limits: { maxCycles: 2 } });
        await runUntilEnded(run, clock, full.random.words);
        await run.answer;
        const told = outcomes(recordedEntries(run));
        for (const [seq, kind] of kinds) {
          seen.add(kind);
          // A rejected event is handled if an enclosing state has a transition for it, which XState reports.
          expect([seq, told.get(seq)]).toEqual([seq, kind]);
        }
        for (const [seq, kind] of told) if (!kinds.has(seq)) expect([seq, kind]).toEqual([seq, 'no-transition']);
      }),
      { numRuns: sampleSize('runs with outcomes', 12, 100), seed: 7 },
    );
    expect([...seen].sort()).toEqual(['handled', 'transitions']);
  });

  it('is a rejection with the guards if all of them were false', () => {
    const sent = { seq: 0, atMs: 0, type: 'delivery', event: { type: 'open' } };
    const candidates = [{ guard: 'hasKey', target: ['door'], result: 'false', inputs: null }];
    const refused = { seq: 1, atMs: 0, type: 'ignored', machine: 'door', event: 'open', candidates };
    expect([...outcomes([sent, refused] as unknown as JournalEntry[]).values()]).toEqual(['guards-false']);
  });

  it('is pending while more may follow the newest event', async () => {
    const entries = recordedEntries(await runToAnswer({}));
    const seq = entries.findIndex(({ type }) => type === 'activity-event');
    expect(eventOutcome(folded(entries.slice(0, seq + 1)), seq, false)).toEqual({ kind: 'pending' });
  });

  it('covers unsolicited user events and those that the run only records', async () => {
    const entries = recordedEntries(await manualRun());
    const told = outcomes(entries);
    const data = entries.flatMap((entry) =>
      entry.type === 'delivery' ? [`${entry.event.type} ${told.get(entry.seq)}`] : [],
    );
    expect(data).toContain('run.adjusted handled');
    expect(data).toContain('run.directed handled');
    expect(data).toContain('consent.given handled');
    expect(data).toContain('run.finished transitions');
  });
});
