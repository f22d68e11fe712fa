import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChainEvent } from '../../../machines/contracts/chain-event.ts';
import type { JournalEntry } from '../../../machines/contracts/journal-entry.ts';
import { replay } from '../../../src/replay/replay.ts';
import { everyTask } from '../../support/every-task.ts';
import { aRandomRun, limitsOf, planOf, type RandomRun } from '../../support/random-runs.ts';
import { plannedModel } from '../../support/run-chain.ts';
import { type ClusterRun, playOnCluster } from './cluster-run.ts';

const said: Record<RandomRun['words'][number]['word'], ChainEvent> = {
  cancel: { type: 'run.cancelled' },
  finish: { type: 'run.finished' },
  direct: { type: 'run.directed', phase: 'experience' },
  nonsense: { type: 'run.directed', phase: 'nonsense' },
  consent: { type: 'consent.given', choice: 'remove' },
};

function playRandom(random: RandomRun, kills: readonly number[]): Promise<ClusterRun> {
  const { words, startAt, mode } = random;
  const options = { ...everyTask.options, model: plannedModel(planOf(random)), limits: limitsOf(random) };
  return playOnCluster({ options, run: { startAt, mode }, kills, words: words.map(({ word }) => said[word]) });
}

const written = (journal: readonly JournalEntry[]): string[] => journal.map((entry) => JSON.stringify(entry));

describe('a run on a cluster', () => {
  it('[promise 6] goes on after each kill to one answer and one journal, and makes no finished call again', async () => {
    let killed = 0;
    await fc.assert(
      fc.asyncProperty(aRandomRun, fc.array(fc.integer({ min: 0, max: 12 }), { maxLength: 6 }), async (random, kills) => {
        const { answer, journals, cluster } = await playRandom(random, kills);
        const whole = written(journals.at(-1) ?? []);
        expect(whole.at(-1)).toContain('"run-end"');
        expect(answer.answerText).not.toBe('');
        for (const journal of journals) expect(written(journal)).toEqual(whole.slice(0, journal.length));

        const replayed = replay(whole.map((entry) => JSON.parse(entry)));
        expect(replayed.divergence).toBeNull();
        expect(replayed.answer).toEqual(answer);

        const finished = cluster.log.filter(({ command }) => cluster.commands[command]?.isStep);
        expect(new Set(finished.map(({ command }) => command)).size).toBe(finished.length);
        // One a kill, and those that were given up for good.
        const steps = cluster.commands.filter(({ isStep }) => isStep).length;
        expect(cluster.performed).toBeLessThanOrEqual(steps + journals.length - 1);
        killed += journals.length - 1;
      }),
      { numRuns: 200 },
    );
    expect(killed).toBeGreaterThan(200); console.log(killed);
  }, 60_000);
});
