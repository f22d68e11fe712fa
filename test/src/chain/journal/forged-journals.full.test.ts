import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PostChainError } from '../../../../machines/contracts/error.ts';
import { type JournalEntry, journalEntrySchema } from '../../../../machines/contracts/journal.ts';
import { rerecord } from '../../../../src/chain/journal/rerecord.ts';
import { stateAt } from '../../../../src/chain/journal/state-at.ts';
import { runOverHistory } from '../../../support/journal-files.ts';
import { sampleSize } from '../../../support/soak.ts';

const VALUES = [0, -1, 1, 100, 4_000_000_000, 0.5, '', 'x', null, true, [], {}, [null], undefined] as const;
const position = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const forgery = fc.record({
  how: fc.constantFrom('change', 'change', 'change', 'remove', 'repeat', 'swap', 'cut'),
  at: position,
  path: fc.array(position, { minLength: 1, maxLength: 6 }),
  value: fc.constantFrom(...VALUES),
});
type Forgery = typeof forgery extends fc.Arbitrary<infer Value> ? Value : never;

/** Returns the entries with a forgery, numbered again, or null if reading the journal would reject it. */
function forged(entries: readonly JournalEntry[], { how, at, path, value }: Forgery): JournalEntry[] | null {
  const copy = structuredClone(entries) as JournalEntry[];
  const place = Math.floor(at * copy.length);
  const [entry] = copy.slice(place);
  if (entry === undefined) return null;
  if (how === 'remove') copy.splice(place, 1);
  else if (how === 'repeat') copy.splice(place, 0, structuredClone(entry));
  else if (how === 'swap') copy.splice(place, 2, ...copy.slice(place, place + 2).reverse());
  else if (how === 'cut') copy.length = place + 1;
  else replaceWithin(entry, path, value);
  const numbered = copy.map((one, seq) => ({ ...one, seq }));
  const isValid = numbered.every((one) => journalEntrySchema.safeParse(one).success);
  return isValid && numbered[0]?.type === 'start' ? numbered : null;
}

function replaceWithin(value: unknown, [here = 0, ...below]: readonly number[], by: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  const names = Object.keys(value).filter((name) => name !== 'type' && name !== 'seq');
  const name = names[Math.floor(here * names.length)];
  if (name === undefined) return;
  const inside = (value as Record<string, unknown>)[name];
  if (below.length > 0 && typeof inside === 'object' && inside !== null) replaceWithin(inside, below, by);
  else (value as Record<string, unknown>)[name] = by;
}

async function outcomeOf(work: () => unknown): Promise<unknown> {
  try {
    await work();
    return null;
  } catch (error) {
    return error;
  }
}

async function recordedRun(): Promise<JournalEntry[]> {
  const run = await runOverHistory();
  await run.answer;
  return JSON.parse(JSON.stringify(run.entries));
}

describe('a forged journal with valid entries', () => {
  it('makes rerecord and stateAt return or throw a PostChainError', async () => {
    const entries = await recordedRun();
    let forgedJournals = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(forgery, { minLength: 1, maxLength: 3 }), async (forgeries) => {
        const journal = forgeries.reduce<JournalEntry[] | null>((made, one) => made && forged(made, one), [...entries]);
        if (journal === null) return;
        forgedJournals += 1;
        for (const work of [() => rerecord(journal), () => stateAt(journal, journal.length - 1)]) {
          const error = await outcomeOf(work);
          if (error !== null) expect(error).toBeInstanceOf(PostChainError);
        }
      }),
      { numRuns: sampleSize('forged journals', 40, 1000) },
    );
    expect(forgedJournals).toBeGreaterThan(5);
  });

  it('is recorded again whatever the numbers of its calls', async () => {
    const entries = await recordedRun();
    for (const shift of [1, 100, 4_000_000_000]) {
      const journal = entries.map((entry) =>
        'activity' in entry ? { ...entry, activity: (entry.activity ?? 0) + shift } : entry,
      );
      const error = await outcomeOf(() => rerecord(journal as JournalEntry[]));
      expect(error).toBeNull();
    }
  });
});
