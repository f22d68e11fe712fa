import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { storedEntry } from '../../../src/chain/journal/stored-entries.ts';
import { whatIfCommand } from '../../../src/cli/what-if-command.ts';
import type { DurableEntry } from '../../../src/durable/entries.ts';
import { fileJournals } from '../../../src/durable/journals/file-journals.ts';
import { entriesOf } from '../../../src/durable/journals/journal-store.ts';
import { temporaryFolder } from '../../support/cli.ts';
import { writeJournal } from '../../support/journal-files.ts';
import { startScripted, unsureAnswer } from '../../support/run-chain.ts';

/** Records a run of up to three cycles whose answer gets 0.5, 0.7 and 0.95 as its confidence. */
async function recordedRun(
  journals = join(temporaryFolder(), 'my runs'),
  id = 'apple-run',
  until = 1e9,
): Promise<string> {
  const confidences = [0.5, 0.7, 0.95];
  const plan = {
    yield: (call: number) => unsureAnswer(call, { confidence: confidences[call - 1] ?? 1, taskComplete: false }),
  };
  const { run } = startScripted(plan, { newId: () => id });
  await run.answer;
  await writeJournal(fileJournals(journals), id, run.entries.slice(0, until).map(storedEntry));
  return journals;
}

describe('postchain what-if', () => {
  it('prints where a run would have ended, and what that saves', async () => {
    const text = await whatIfCommand({ journals: await recordedRun(), set: ['thresholds.confidence=0.6'] });
    expect(text).toMatch(/apple-ru\w*\s+confidenceReached, cycle 3\s+confidenceReached, cycle 2\s+-\d/u);
    expect(text).toMatch(/1 run: 1 would end earlier\.\nSaved by ending earlier: \d+ model calls/u);
  });

  it('says where the recording does not show what follows', async () => {
    const text = await whatIfCommand({ journals: await recordedRun(), set: ['thresholds.confidence=0.99'] });
    expect(text).toMatch(/continues with \w+ after cycle 3\s+\?\s+\?\s+\?/u);
    expect(text).toMatch(/1 run: 1 would continue beyond the recording\./u);
  });

  it('prints the command that forks a run at the decision that differs, with its entry', async () => {
    const journals = await recordedRun();
    const set = ['thresholds.confidence=0.99', 'limits.maxCycles=4'];
    const text = await whatIfCommand({ journals, set });
    const { results } = JSON.parse(await whatIfCommand({ journals, set, json: true }));
    expect(text).toContain(
      `  postchain fork apple-ru --at ${results[0].now.seq} --set thresholds.confidence=0.99 --set limits.maxCycles=4 --journals '${journals}'\n`,
    );
    expect(await whatIfCommand({ journals, set: ['thresholds.confidence=0.9'] })).not.toContain('fork');
  });

  it('names the runs that it left out, with the reason', async () => {
    const journals = await recordedRun();
    const [start] = await entriesOf(fileJournals(journals).read('apple-run'));
    await writeJournal(fileJournals(journals), 'banana-run', [
      { ...start, input: { ...Object(start).input, runId: 'banana-run' } } as DurableEntry,
      { type: 'nothing' } as never,
    ]);
    const text = await whatIfCommand({ journals, set: ['thresholds.confidence=0.6'] });
    expect(text).toMatch(/^1 run: 1 would end earlier\.$/mu);
    expect(text.replaceAll('\n', ' ')).toMatch(/Left out 1 run because \S/u);
  });

  it('counts unfinished runs separately and omits runs that do not change', async () => {
    const journals = await recordedRun();
    await recordedRun(journals, 'banana');
    for (const id of ['cherry', 'date']) await recordedRun(journals, id, 9);
    const text = await whatIfCommand({ journals, set: ['thresholds.confidence=0.9'] });
    expect(text).toBe('4 runs: 2 would end in the same cycle, 2 not ended.\n');
  });

  it('prints all fields as JSON', async () => {
    const flags = { journals: await recordedRun(), set: ['limits.maxCycles=1'], runs: ['apple'], json: true };
    const { results } = JSON.parse(await whatIfCommand(flags));
    expect(results).toMatchObject([
      { runId: 'apple-run', outcome: 'earlier', now: { rule: 'cycleLimitReached', cycle: 1, nextPhase: null } },
    ]);
  });

  it.each([
    ['limits.phaseMs=3', /"limits\.phaseMs" does not take part in decisions; expected one of limits\.maxCycles/u],
    ['thresholds.confidence=2', /thresholds\.confidence/u],
    ['confidence', /--set expects path=value/u],
  ])('refuses %s', async (set, message) => {
    await expect(whatIfCommand({ journals: temporaryFolder(), set: [set] })).rejects.toThrow(message);
  });
});
