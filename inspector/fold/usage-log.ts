import type { TokenUsage } from '../../machines/contracts/budget.ts';
import type { JournalEntry } from '../../machines/contracts/journal-entry.ts';
import { countUpTo } from './sorted.ts';

/** What model calls used; `estimated`: for some of them characters / 4 was counted. */
interface Used extends TokenUsage {
  readonly modelCalls: number;
}

/** What was used so far. The limits of a run are about its phases; writing the answer has a reserve of its own. */
export interface UsageLog {
  phasesBy(seq: number): Used;
  synthesisBy(seq: number): Used;
}

const NOTHING: Used = { modelCalls: 0, inputTokens: 0, outputTokens: 0, estimated: false };

/** Sums after each attempt that ended, so that each is looked up. */
export function createUsageLog(): { readonly log: UsageLog; take(entry: JournalEntry): void } {
  const phases = createSums();
  const synthesis = createSums();
  return {
    log: { phasesBy: phases.upTo, synthesisBy: synthesis.upTo },
    take(entry) {
      if (entry.type !== 'attempt-end') return;
      (entry.task === 'synthesis' ? synthesis : phases).add(entry.seq, entry.usage);
    },
  };
}

function createSums() {
  const seqs: number[] = [];
  const sums: Used[] = [];
  return {
    add(seq: number, { inputTokens, outputTokens, estimated }: TokenUsage): void {
      const before = sums.at(-1) ?? NOTHING;
      seqs.push(seq);
      sums.push({
        modelCalls: before.modelCalls + 1,
        inputTokens: before.inputTokens + inputTokens,
        outputTokens: before.outputTokens + outputTokens,
        estimated: before.estimated || estimated,
      });
    },
    upTo: (seq: number): Used => sums[countUpTo(seqs, seq) - 1] ?? NOTHING,
  };
}
