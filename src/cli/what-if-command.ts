import type { RunSummary } from '../../machines/contracts/journal.ts';
import { commandLine, shellWord } from '../../machines/text/quoting.ts';
import { differs, type PhasesEnd, type PhaseUse, type WhatIf } from '../chain/journal/decided-run.ts';
import { isRun, readRun, runSummary } from '../chain/journal/run-journal.ts';
import { readDecidingNumbers, whatIf } from '../chain/journal/what-if.ts';
import { count, grouped, oneLine, printableJson } from '../internal/printable.ts';
import { NO_RUNS, requireRun, shortRunIds } from './find-run.ts';
import { type JournalFlags, openExistingJournals } from './open-journals.ts';
import { parseChange } from './resume-and-fork-commands.ts';
import { wrapLines } from './screen.ts';

export interface WhatIfFlags extends JournalFlags {
  readonly set: readonly string[];
  readonly runs?: readonly string[];
  readonly json?: boolean;
}

interface Result extends WhatIf {
  readonly runId: string;
  readonly request: string;
}

export async function whatIfCommand(flags: WhatIfFlags, stdout: NodeJS.WriteStream = process.stdout): Promise<string> {
  const set = Object.fromEntries(flags.set.map(parseChange)) as Record<string, number>;
  readDecidingNumbers(set);
  const store = openExistingJournals(flags);
  const all = (await store.list()).filter(isRun).map(runSummary);
  const chosen = flags.runs === undefined ? all : flags.runs.map((name) => requireRun(name, all));
  const results: Result[] = [];
  const unknown: { readonly runId: string; readonly problem: string }[] = [];
  for (const { id: runId, request } of chosen) {
    try {
      results.push({ runId, request, ...whatIf(await readRun(store.read(runId)), set) });
    } catch (error) {
      unknown.push({ runId, problem: error instanceof Error ? error.message : String(error) });
    }
  }
  if (flags.json) return `${printableJson(JSON.stringify({ results, unknown }, null, 2))}\n`;
  if (chosen.length === 0) return `${NO_RUNS}\n`;
  const table = tableOf(results, all);
  const lines = [
    ...table,
    ...(table.length > 0 ? [''] : []),
    ...totals(results, unknown),
    ...forks(results, shortRunIds(all), flags),
  ];
  return wrapLines(`${lines.join('\n')}\n`, stdout);
}

const HEADINGS = ['run', 'ended', 'with these numbers', 'calls', 'tokens', 'seconds'] as const;

/** Formats one row per run that would end differently, in aligned columns; the question follows. The totals count the others. */
function tableOf(results: readonly Result[], all: readonly RunSummary[]): readonly string[] {
  const shortId = shortRunIds(all);
  const rows = results
    .filter((result) => differs(result) || result.now.rule !== result.recorded.rule)
    .map((result) => [
      oneLine(shortId(result.runId)),
      endText(result.recorded),
      nowText(result),
      ...savedTexts(result),
      oneLine(result.request),
    ]);
  if (rows.length === 0) return [];
  const widths = HEADINGS.map((heading, at) => Math.max(heading.length, ...rows.map((row) => (row[at] ?? '').length)));
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, at) => (at > 2 ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0)))
      .join('  ')
      .trimEnd();
  return [line([...HEADINGS, 'question']), ...rows.map(line)];
}

const endText = ({ rule, cycle }: PhasesEnd): string => `${rule ?? 'not ended'}, cycle ${cycle}`;

function nowText({ outcome, now }: WhatIf): string {
  if (outcome === 'same') return `the same cycle, by ${now.rule}`;
  if (outcome === 'earlier') return endText(now);
  const next = now.nextPhase === null ? 'asks for a direction' : `continues with ${now.nextPhase}`;
  return `${next} after cycle ${now.cycle}`;
}

/** Returns the saved model calls, tokens and seconds; empty texts where what follows is unknown. */
function savedTexts({ outcome, recorded, now }: WhatIf): readonly string[] {
  if (outcome === 'same') return ['0', '0', '0'];
  if (outcome !== 'earlier') return ['?', '?', '?'];
  const { modelCalls, tokens, ms } = saved(recorded.use, now.use);
  const seconds = (ms / 1000).toFixed(1);
  return [`-${modelCalls}`, `-${grouped(tokens)}`, seconds === '0.0' ? seconds : `-${seconds}`];
}

const saved = (recorded: PhaseUse, now: PhaseUse): PhaseUse => ({
  modelCalls: recorded.modelCalls - now.modelCalls,
  tokens: recorded.tokens - now.tokens,
  cost: recorded.cost === null || now.cost === null ? null : recorded.cost - now.cost,
  ms: recorded.ms - now.ms,
});

const OUTCOMES: Readonly<Record<WhatIf['outcome'], string>> = {
  earlier: 'would end earlier',
  further: 'would continue beyond the recording',
  elsewhere: 'would take another path',
  same: 'would end in the same cycle',
  unfinished: 'not ended',
};

function totals(results: readonly Result[], unknown: readonly { readonly problem: string }[]): readonly string[] {
  const counts = (outcome: WhatIf['outcome']) => results.filter((result) => result.outcome === outcome);
  const earlier = counts('earlier').map(({ recorded, now }) => saved(recorded.use, now.use));
  const sum = (of: (use: PhaseUse) => number) => earlier.reduce((total, use) => total + of(use), 0);
  const isPriced = earlier.length > 0 && earlier.every(({ cost }) => cost !== null);
  const cost = isPriced ? `, cost ${sum((use) => use.cost ?? 0).toPrecision(2)}` : '';
  const parts = (Object.keys(OUTCOMES) as WhatIf['outcome'][]).flatMap((outcome) => {
    const { length } = counts(outcome);
    return length === 0 ? [] : [`${length} ${OUTCOMES[outcome]}`];
  });
  return [
    `${count(results.length, 'run')}: ${parts.join(', ') || 'none can be replayed'}.`,
    ...(earlier.length > 0
      ? [
          `Saved by ending earlier: ${count(
            sum(({ modelCalls }) => modelCalls),
            'model call',
          )}, ${grouped(sum(({ tokens }) => tokens))} tokens${cost}.`,
        ]
      : []),
    ...(unknown.length > 0
      ? [
          `Left out ${count(unknown.length, 'run')}${unknown.length > 1 ? ', the first' : ''} because ${oneLine(unknown[0]?.problem ?? '')}`,
        ]
      : []),
  ];
}

/** The most commands printed. */
const MAX_FORKS = 3;

function forks(
  results: readonly Result[],
  shortId: (runId: string) => string,
  { set, journals }: WhatIfFlags,
): readonly string[] {
  const differing = results.filter(differs);
  if (differing.length === 0) return [];
  const options = [
    ...set.map((change) => `--set ${shellWord(change)}`),
    ...(journals ? [`--journals ${shellWord(journals)}`] : []),
  ];
  const more = differing.length - MAX_FORKS;
  return [
    'What follows a different decision is not recorded. To run it:',
    ...differing
      .slice(0, MAX_FORKS)
      .map(
        ({ runId, now }) =>
          `  ${oneLine(commandLine('postchain fork', shortId(runId), `--at ${now.seq}`, ...options))}`,
      ),
    ...(more > 0 ? [`  … and ${count(more, 'other run')}, whose entries --json prints as "now.seq"`] : []),
  ];
}
