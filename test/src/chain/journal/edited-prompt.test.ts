import { describe, expect, it } from 'vitest';
import type { JournalEntry } from '../../../../machines/contracts/journal.ts';
import type { ChatTurn } from '../../../../machines/contracts/model.ts';
import { requestDigest } from '../../../../src/llm/request-digest.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { scriptedChain } from '../../../support/run-chain.ts';

const TURNS: readonly ChatTurn[] = [
  { role: 'system', content: 'Answer in one word.' },
  { role: 'user', content: 'Is it so?' },
];

/** A recorded run, and the `prompt` entry of its call of Observation. */
async function recorded(observe: (edited: boolean) => Record<string, unknown>) {
  let made = 0;
  const { chain, model } = scriptedChain(
    { observation: (call: number) => observe(call > 1) },
    { newId: () => `run-${made++}` },
  );
  const run = chain.run({ request: 'Is it so?' });
  await run.answer;
  const attempts = new Set(
    run.entries.flatMap((entry) =>
      entry.type === 'activity-start' && entry.subject?.task === 'observation' ? [entry.subject.attemptId] : [],
    ),
  );
  const at = run.entries.find((entry) => entry.type === 'prompt' && attempts.has(entry.attemptId))?.seq ?? 0;
  return { chain, model, journal: run.entries, at };
}

const promptsOf = (entries: readonly JournalEntry[]): readonly string[] =>
  entries.flatMap((entry) => (entry.type === 'prompt' ? [entry.digest] : []));

describe('a fork with an edited prompt', () => {
  it('sends it once and records its digest; calls that stay the same keep their recorded results', async () => {
    const { chain, model, journal, at } = await recorded(() => replies.observation);
    const before = model.calls.length;
    const fork = await chain.fork(journal, { at, turns: TURNS });
    await fork.answer;
    const made = model.calls.slice(before);
    // Yield's prompt has the tokens so far, which an edited prompt changes.
    expect(made.map(({ task }) => task)).toEqual(expect.not.arrayContaining(['action', 'intention', 'understanding']));
    expect(made.filter(({ task }) => task === 'observation').map(({ turns }) => turns)).toEqual([TURNS]);
    const place = promptsOf(journal).indexOf((journal[at] as Extract<JournalEntry, { type: 'prompt' }>).digest);
    expect(promptsOf(fork.entries)[place]).toBe(requestDigest(made[0] as (typeof made)[0]));
    expect(promptsOf(fork.entries).slice(0, place)).toEqual(promptsOf(journal).slice(0, place));
    expect(fork.entries[0]).toMatchObject({
      forkedFrom: {
        actorId: 'run-0',
        seq: journal.findLast(({ seq, type }) => seq < at && type === 'activity-start')?.seq,
      },
      product: { fork: { changes: ['prompt'] } },
    });
  });

  it('makes the same call again if the prompt has not changed, and records no change', async () => {
    const { chain, model, journal, at } = await recorded(() => replies.observation);
    const before = model.calls.length;
    const { turns } = model.calls.find(({ task }) => task === 'observation') ?? { turns: [] };
    const fork = await chain.fork(journal, { at, turns });
    await fork.answer;
    expect(model.calls.slice(before).map(({ task }) => task)).toEqual(['observation']);
    expect(fork.entries[0]).toMatchObject({ product: { fork: { changes: [] } } });
    expect(fork.entries.some((entry) => entry.type === 'prompt' && entry.edited === true)).toBe(false);
  });

  it('uses the new reply, so that later calls are made with it', async () => {
    const { chain, model, journal, at } = await recorded((edited) =>
      edited ? { ...replies.observation, insights: ['Something new'] } : replies.observation,
    );
    const before = model.calls.length;
    const fork = await chain.fork(journal, { at, turns: TURNS });
    await fork.answer;
    const later = model.calls.slice(before + 1);
    expect(later.length).toBeGreaterThan(0);
    expect(JSON.stringify(later.map(({ turns }) => turns))).toContain('Something new');
  });

  it('is rejected at an entry that is not a prompt', async () => {
    const { chain, journal, at } = await recorded(() => replies.observation);
    const other = journal.findIndex(({ type }) => type === 'phase-end');
    await expect(chain.fork(journal, { at: other, turns: TURNS })).rejects.toThrow(
      `"turns" can be sent at a "prompt" entry only; entry ${other} is "phase-end"`,
    );
    expect(at).toBeGreaterThan(other);
  });
});
