import { PostChainError } from '../../machines/contracts/error.ts';
import type { FinalAnswer } from '../../machines/contracts/synthesis.ts';
import { wideDigest } from '../../machines/text/hash.ts';
import { createPostChain, type PostChain } from '../chain/create-post-chain.ts';
import { memoryJournals, type RunJournals } from '../chain/journal/stores.ts';
import type { PostChainOptions } from '../chain/runtime/options.ts';
import type { RunOptions } from '../chain/runtime/run-options.ts';
import { entriesOf } from '../durable/journals/journal-store.ts';
import { describeValue } from '../internal/describe-value.ts';
import { requireKnown } from '../internal/require-known.ts';

/** A request of an evaluation. Members of your own, such as the expected answer, are for scorers. */
export interface EvaluationCase extends Pick<RunOptions, 'request' | 'history' | 'instructions'> {
  /** Unique, for example the question in short. */
  readonly name: string;
}

/** Returns a score from 0 to 1, or whether the answer is right. */
export type Scorer<Case extends EvaluationCase> = (
  answer: FinalAnswer,
  evaluated: Case,
) => number | boolean | Promise<number | boolean>;

export interface EvaluateOptions<Case extends EvaluationCase> {
  /** The options of the chains to compare, by name. Calls that need approval are denied unless `approve` decides. */
  readonly chains: Readonly<Record<string, Omit<PostChainOptions, 'journals'>>>;
  readonly scorers: Readonly<Record<string, Scorer<Case>>>;
  /**
   * Stores the runs. An answer that is stored under the same names of chain and case, for the same request, is scored again without a call,
   * and an interrupted run continues. By default, nothing is stored.
   */
  readonly journals?: RunJournals;
  /** Whether to ask again despite stored answers, which are deleted. Default: false. */
  readonly rerun?: boolean;
}

/** The answer of one chain to one case. */
export interface EvaluatedCase {
  readonly name: string;
  readonly chain: string;
  readonly runId: string;
  /** Whether the answer was stored, so that no model was called. */
  readonly isStored: boolean;
  readonly answer: FinalAnswer;
  /** By the names of the scorers, from 0 to 1. */
  readonly scores: Readonly<Record<string, number>>;
}

export interface EvaluatedChain {
  /** The mean of each score. */
  readonly scores: Readonly<Record<string, number>>;
  /** The share of answers that are completed, from 0 to 1. */
  readonly completed: number;
  /** In sum, including those of stored answers. */
  readonly modelCalls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** In the currency of `prices`; null if a price is unknown. */
  readonly cost: number | null;
}

export interface Evaluation {
  /** In the order of the cases, then of the chains. */
  readonly cases: readonly EvaluatedCase[];
  readonly chains: Readonly<Record<string, EvaluatedChain>>;
}

/** The columns of `evaluationText` after the scorers, and the one before them. */
const COLUMNS = ['completed', 'model calls', 'tokens in', 'tokens out', 'cost'];
const BUILT_IN = ['chain', ...COLUMNS];

/**
 * Asks each chain each case, and scores the answers. At most four runs of a chain are active at a time, unless it has `maxConcurrentRuns`.
 * Rejects with `invalid_option` if names repeat, a scorer has the name of a built-in column (such as `completed` or `cost`) or a score is not
 * from 0 to 1, and as `chain.run` throws.
 */
export async function evaluate<Case extends EvaluationCase>(
  cases: readonly Case[],
  options: EvaluateOptions<Case>,
): Promise<Evaluation> {
  requireKnown('evaluate', options, 'chains scorers journals rerun');
  const { chains, scorers, journals = memoryJournals(), rerun = false } = options;
  for (const [name, value] of Object.entries({ chains, scorers }))
    if (typeof value !== 'object' || value === null)
      throw new PostChainError(
        'invalid_option',
        `${name}: expected an object with ${name} by name; received ${describeValue(value)}.`,
      );
  const names = new Set(cases.map(({ name }) => name));
  if (names.size < cases.length || cases.length === 0)
    throw new PostChainError('invalid_option', `cases: expected cases with unique names; received ${cases.length}.`);
  const taken = BUILT_IN.find((column) => Object.hasOwn(scorers, column));
  if (taken !== undefined)
    throw new PostChainError('invalid_option', `scorers.${taken}: expected a name other than ${BUILT_IN.join(', ')}.`);
  const stored = new Map((await journals.list()).map(({ runId, status }) => [runId, status]));

  async function ask(chain: PostChain, runId: string, { request, history = [], instructions }: Case) {
    const options = { runId, request, history, ...(instructions !== undefined && { instructions }) };
    const run = stored.has(runId) && !rerun ? await chain.resume(runId) : chain.run(options);
    return run.answer;
  }

  async function evaluated(name: string, chain: PostChain, one: Case): Promise<EvaluatedCase> {
    const { request, history = [], instructions = '' } = one;
    const runId = `evaluation-${wideDigest(JSON.stringify([name, one.name, request, history, instructions]))}`;
    if (rerun && stored.has(runId)) await journals.delete(runId);
    const answered = rerun ? null : await storedAnswer(journals, stored.has(runId), runId);
    const answer = answered ?? (await ask(chain, runId, one));
    const scores: Record<string, number> = {};
    for (const [scorer, score] of Object.entries(scorers))
      scores[scorer] = checked(await score(answer, one), `scorers.${scorer}: for the case ${describeValue(one.name)}`);
    return { name: one.name, chain: name, runId, isStored: answered !== null, answer, scores };
  }

  const named = Object.entries(chains).map(([name, options]) => [name, chainFor(options, journals)] as const);
  const results = await Promise.all(
    cases.flatMap((one) => named.map(async ([name, chain]) => evaluated(name, chain, one))),
  );
  const summaries = named.map(([name]) => [name, summaryOf(results.filter(({ chain }) => chain === name))] as const);
  return { cases: results, chains: Object.fromEntries(summaries) };
}

function chainFor(options: Omit<PostChainOptions, 'journals'>, journals: RunJournals): PostChain {
  const approve = () => ({ decision: 'deny', reason: 'nobody approves calls of an evaluation' }) as const;
  return createPostChain({ maxConcurrentRuns: 4, approve, ...options, journals });
}

/** The chart may have changed since, so the run is not replayed. */
async function storedAnswer(journals: RunJournals, isStored: boolean, runId: string): Promise<FinalAnswer | null> {
  if (!isStored) return null;
  const entry = (await entriesOf(journals.read(runId))).findLast(({ type }) => type === 'answer');
  return entry?.type === 'answer' ? entry.answer : null;
}

function checked(score: number | boolean, what: string): number {
  const value = Number(score);
  if (value >= 0 && value <= 1) return value;
  const expected = 'expected a number from 0 to 1, true or false';
  throw new PostChainError('invalid_option', `${what}: ${expected}; received ${describeValue(score)}.`);
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

function summaryOf(results: readonly EvaluatedCase[]): EvaluatedChain {
  const sum = (countOf: (answer: FinalAnswer) => number): number =>
    results.reduce((total, { answer }) => total + countOf(answer), 0);
  const scorers = Object.keys(results[0]?.scores ?? {});
  const hasPrices = results.every(({ answer }) => answer.metadata.cost !== null);
  return {
    scores: Object.fromEntries(scorers.map((name) => [name, mean(results.map(({ scores }) => scores[name] ?? 0))])),
    completed: mean(results.map(({ answer }) => Number(answer.status === 'completed'))),
    modelCalls: sum(({ metadata }) => metadata.usage.modelCalls),
    inputTokens: sum(({ metadata }) => metadata.usage.inputTokens),
    outputTokens: sum(({ metadata }) => metadata.usage.outputTokens),
    cost: hasPrices ? sum(({ metadata }) => metadata.cost?.amount ?? 0) : null,
  };
}

/** Returns an evaluation as a Markdown table of the chains, and a list of the cases that not every chain gets entirely right. */
export function evaluationText({ cases, chains }: Evaluation): string {
  const scorers = Object.keys(cases[0]?.scores ?? {});
  const row = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`;
  const head = ['chain', ...scorers, ...COLUMNS];
  const rows = Object.entries(chains).map(
    ([name, { scores, completed, modelCalls, inputTokens, outputTokens, cost }]) =>
      row([
        name,
        ...scorers.map((scorer) => percent(scores[scorer] ?? 0)),
        percent(completed),
        modelCalls,
        inputTokens,
        outputTokens,
        cost === null ? '–' : cost.toPrecision(3),
      ]),
  );
  const wrong = cases.filter(({ scores }) => Object.values(scores).some((score) => score < 1));
  const lines = wrong.map(({ name, chain, scores, answer, runId }) => {
    const low = scorers
      .filter((scorer) => (scores[scorer] ?? 0) < 1)
      .map((one) => `${one} ${percent(scores[one] ?? 0)}`);
    return `- ${name} (${chain}): ${low.join(', ')}; ${answer.status}; ${runId}`;
  });
  return [row(head), row(head.map(() => '---')), ...rows, ...(lines.length > 0 ? ['', ...lines] : [])].join('\n');
}

const percent = (share: number): string => `${(share * 100).toFixed(0)} %`;
