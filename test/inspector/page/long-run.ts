import type { JournalEntry } from '../../../machines/contracts/journal.ts';

/** Members that count on through a run, by how much each of them grows in one pass. */
interface Pass {
  readonly seq: number;
  readonly atMs: number;
  readonly calls: number;
  readonly cycles: number;
  readonly steps: number;
}

/** So many entries of a run as long as that: a real one, again and again, each time with new numbers, on a clock that always goes on. */
export function longRun(entries: readonly JournalEntry[], count: number): readonly JournalEntry[] {
  const [start, ...rest] = entries;
  if (start === undefined) throw new Error('no entries');
  const body = rest.filter(({ type }) => type !== 'run-end' && type !== 'answer' && type !== 'keyframe');
  const most = (number: (entry: JournalEntry) => number): number => Math.max(...body.map(number)) + 1;
  const pass: Pass = {
    seq: body.length,
    atMs: 3 * body.length,
    calls: most((entry) => ('call' in entry ? entry.call : -1)),
    cycles: most((entry) => ('cycle' in entry ? entry.cycle : 0)) - 1,
    steps: most((entry) => ('step' in entry ? entry.step : 0)) - 1,
  };
  const made: JournalEntry[] = [start];
  for (let turn = 0; made.length < count - 1; turn += 1)
    body.forEach((entry, index) => {
      if (made.length < count - 1) made.push(again(entry, turn, index, pass));
    });
  const end = entries.at(-1);
  if (end !== undefined) made.push({ ...end, seq: made.length, atMs: (made.at(-1)?.atMs ?? 0) + 1 });
  return made;
}

function again(entry: JournalEntry, turn: number, index: number, pass: Pass): JournalEntry {
  return {
    ...entry,
    seq: 1 + turn * pass.seq + index,
    atMs: 1 + turn * pass.atMs + index * 3,
    ...('call' in entry && { call: entry.call + turn * pass.calls }),
    ...('cycle' in entry && { cycle: entry.cycle + turn * pass.cycles }),
    ...('step' in entry && { step: entry.step + turn * pass.steps }),
    ...('attemptId' in entry && { attemptId: `${turn}.${entry.attemptId}` }),
  } as JournalEntry;
}
