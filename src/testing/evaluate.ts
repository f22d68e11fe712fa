import type { AnyMachineSnapshot, AnyStateMachine, OutputFrom } from 'xstate';
import { PostChainError } from '../../machines/contracts/error.ts';
import type { FinalAnswer } from '../../machines/contracts/synthesis.ts';
import type { Usage } from '../../machines/contracts/usage.ts';
import { wideDigest } from '../../machines/text/hash.ts';
import { createPostChain } from '../chain/create-post-chain.ts';
import { readRun } from '../chain/journal/run-journal.ts';
import type { PostChainOptions } from '../chain/runtime/options.ts';
import type { RunOptions } from '../chain/runtime/run-options.ts';
import { createRunSlots, startInSlot } from '../chain/runtime/run-slots.ts';
import { type ApprovalGiven, isAnswer } from '../durable/approval.ts';
import { createDurableMachine, type DurableMachine } from '../durable/durable-machine.ts';
import type { OpenApproval } from '../durable/entries.ts';
import { entriesOf, type Journals } from '../durable/journals/journal-store.ts';
import { memoryJournals } from '../durable/journals/memory-journals.ts';
import { describeValue } from '../internal/describe-value.ts';
import { plainJson } from '../internal/plain-json.ts';
import { cutEnd, firstLineOf, oneLine } from '../internal/printable.ts';
import { requireKnownOptions } from '../internal/require-known.ts';
import { usageIn } from '../llm/call-facts.ts';
import { isMachine } from '../xstate/states.ts';

/** What chains are asked, and the input of machines. Members of your own, such as the expected answer, are for scorers. */
export interface EvaluationCase extends Partial<Pick<RunOptions, 'request' | 'history' | 'instructions'>> {
  /** Unique, for example the question in short. */
  readonly name: string;
  /** For machines. */
  readonly input?: unknown;
}

type ChainOptions = Omit<PostChainOptions, 'journals'>;

/** The options of a chain, a machine whose actors are provided, or a durable machine. */
export type EvaluatedSystem = ChainOptions | AnyStateMachine | DurableMachine<AnyStateMachine>;

/** What scorers get: the output of a machine, or the answer of a chain. */
export type EvaluatedOutput<System> = System extends AnyStateMachine
  ? OutputFrom<System>
  : System extends DurableMachine<infer Machine>
    ? OutputFrom<Machine>
    : FinalAnswer;

/** Returns a score from 0 to 1, or whether the output is right. `snapshot` is the last one of a machine; null for chains. */
export type Scorer<Case extends EvaluationCase, Output = FinalAnswer> = (
  output: Output,
  evaluated: Case,
  snapshot: AnyMachineSnapshot | null,
) => number | boolean | Promise<number | boolean>;

type Systems = Readonly<Record<string, EvaluatedSystem>>;

export interface EvaluateOptions<Case extends EvaluationCase, Of extends Systems = Record<string, ChainOptions>> {
  /** The chains and machines to compare, by name. Chains deny calls that need approval unless `approve` decides. */
  readonly systems: Of;
  readonly scorers: Readonly<Record<string, Scorer<Case, EvaluatedOutput<Of[keyof Of]>>>>;
  /** Answers the approvals of machines, for example `() => ({ decision: 'approve' })`. Chains have an option of this name. */
  readonly approve?: (approval: OpenApproval, evaluated: Case) => ApprovalAnswer | Promise<ApprovalAnswer>;
  /**
   * Stores the runs of chains; durable machines have a store of their own. A result that is stored under the same names of system and case,
   * for the same request or input, is scored again without a call, and an interrupted run continues. By default, nothing is stored.
   */
  readonly journals?: Journals;
  /** Whether to run again despite stored results, which are deleted. Default: false. */
  readonly rerun?: boolean;
}

type ApprovalAnswer = Pick<ApprovalGiven, 'decision' | 'edited' | 'reason'>;

/** What a system returned for one case. */
interface Result {
  /** Undefined if a machine has failed. */
  readonly output: unknown;
  /** The status of the answer; for a machine, `done` or `error`. */
  readonly status: FinalAnswer['status'] | 'done' | 'error';
  /** The first line of the error of a machine that has failed; null otherwise. */
  readonly error: string | null;
  readonly usage: Pick<Usage, 'modelCalls' | 'inputTokens' | 'outputTokens'>;
  /** In the currency of `prices`; null if it is unknown. */
  readonly cost: number | null;
  /** Whether the result was stored, so that nothing was called. */
  readonly isStored: boolean;
}

/** The result of one system for one case. */
export interface EvaluatedCase<Output = FinalAnswer> extends Result {
  readonly output: Output;
  readonly name: string;
  readonly system: string;
  readonly runId: string;
  /** The member `expected` of the case; absent if it has none. */
  readonly expected?: unknown;
  /** By the names of the scorers, from 0 to 1. */
  readonly scores: Readonly<Record<string, number>>;
}

export interface EvaluatedTotals {
  /** The mean of each score. */
  readonly scores: Readonly<Record<string, number>>;
  /** The share of answers that are completed, and of machines that are done, from 0 to 1. */
  readonly completed: number;
  /** The totals, including stored results. */
  readonly modelCalls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** In the currency of `prices`; null if a price is unknown. */
  readonly cost: number | null;
}

export interface Evaluation<Output = FinalAnswer> {
  /** In the order of the cases, then of the systems. */
  readonly cases: readonly EvaluatedCase<Output>[];
  readonly systems: Readonly<Record<string, EvaluatedTotals>>;
}

/** The columns of `evaluationText` after the scorers, and the one before them. */
const COLUMNS = ['completed', 'model calls', 'tokens in', 'tokens out', 'cost'];
const BUILT_IN = ['system', ...COLUMNS];

/**
 * Runs each chain and machine with each case, and scores the answers and outputs. At most four runs of a chain, or actors of a machine, are
 * active at a time; a chain may have another `maxConcurrentRuns`. A machine that fails gets 0 from every scorer. Rejects with
 * `invalid_option` if names repeat, a scorer has the name of a built-in column (such as `completed` or `cost`), a score is not from 0 to 1,
 * or a machine waits for an event, or for an approval without `approve`, and with the errors of `chain.run` and of `open` of durable machines.
 */
export async function evaluate<Case extends EvaluationCase, const Of extends Systems>(
  cases: readonly Case[],
  options: EvaluateOptions<Case, Of>,
): Promise<Evaluation<EvaluatedOutput<Of[keyof Of]>>> {
  requireKnownOptions('evaluate', options, 'systems scorers approve journals rerun');
  const { systems, scorers, approve, journals = memoryJournals(), rerun = false } = options;
  for (const [name, value] of Object.entries({ systems, scorers }))
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

  async function evaluated(system: string, run: RunCase, one: Case): Promise<EvaluatedCase<never>> {
    const { name, request, history = [], instructions = '', input } = one;
    const runId = `evaluation-${wideDigest(JSON.stringify([system, name, request, history, instructions, input]))}`;
    const { snapshot, ...result } = await run(runId, one);
    const scores: Record<string, number> = {};
    for (const [scorer, score] of Object.entries(scorers)) {
      const value = result.status === 'error' ? 0 : await score(result.output as never, one, snapshot);
      scores[scorer] = checked(value, `scorers.${scorer}: for the case ${describeValue(name)}`);
    }
    const { expected } = one as { readonly expected?: unknown };
    const known = expected === undefined ? {} : { expected };
    return { ...result, output: result.output as never, name, system, runId, ...known, scores };
  }

  const runners = await Promise.all(
    Object.entries(systems).map(async ([name, system]) => {
      const isChain = !isMachine(system) && !('machineId' in system);
      return [
        name,
        await (isChain ? runsOf(system, journals, rerun) : actorsOf(system, rerun, approve as Approve | undefined)),
      ] as const;
    }),
  );
  const results = await Promise.all(
    cases.flatMap((one) => runners.map(async ([name, run]) => evaluated(name, run, one))),
  );
  const totals = runners.map(([name]) => [name, totalsOf(results.filter(({ system }) => system === name))] as const);
  return { cases: results, systems: Object.fromEntries(totals) };
}

/** How often a machine may ask one question: it may ask again after each denial. */
const MOST_ASKED = 100;

/** How many cases a system runs at a time. */
const MAX_CONCURRENT = 4;

type RunCase = (
  runId: string,
  evaluated: EvaluationCase,
) => Promise<Result & { readonly snapshot: AnyMachineSnapshot | null }>;

/** Runs cases with a chain. */
async function runsOf(options: ChainOptions, journals: Journals, rerun: boolean): Promise<RunCase> {
  const approve = () => ({ decision: 'deny', reason: 'nobody approves calls of an evaluation' }) as const;
  const chain = createPostChain({ maxConcurrentRuns: MAX_CONCURRENT, approve, ...options, journals });
  const known = new Set((await journals.list()).map(({ id }) => id));
  return async (runId, { request = '', history = [], instructions }) => {
    if (rerun && known.delete(runId)) await journals.delete(runId);
    const given = { runId, request, history, ...(instructions !== undefined && { instructions }) };
    const stored = known.has(runId) ? await storedAnswer(journals, runId) : null;
    const output = stored ?? (await (known.has(runId) ? await chain.resume(runId) : chain.run(given)).answer);
    const { usage, cost } = output.metadata;
    const { status } = output;
    const isStored = stored !== null;
    return { output, status, error: null, usage, cost: cost?.amount ?? null, isStored, snapshot: null };
  };
}

/** The chart may have changed since, so the run is not replayed. */
async function storedAnswer(journals: Journals, runId: string): Promise<FinalAnswer | null> {
  const entry = (await readRun(journals.read(runId))).findLast(({ type }) => type === 'answer');
  return entry?.type === 'answer' ? entry.answer : null;
}

type Approve = Required<EvaluateOptions<EvaluationCase>>['approve'];

/** Runs cases with a machine, until it ends. */
async function actorsOf(
  system: AnyStateMachine | DurableMachine<AnyStateMachine>,
  rerun: boolean,
  approve?: Approve,
): Promise<RunCase> {
  const host = isMachine(system) ? createDurableMachine(system, { journals: memoryJournals() }) : system;
  const known = new Map((await host.list()).map(({ id, status }) => [id, status]));
  const slots = createRunSlots(MAX_CONCURRENT);
  const open = async (runId: string, input: unknown) => {
    let mayPark = (): boolean => false;
    const actor = await host.open(runId, { input: input as never, mayPark: () => mayPark() });
    const isAsking = (): boolean => approve !== undefined && actor.pending.approvals.length > 0;
    mayPark = () => actor.pending.timers.length === 0 || isAsking();
    return actor;
  };
  const run: RunCase = async (runId, evaluated) => {
    const { name, input } = evaluated;
    if (rerun && known.delete(runId)) await host.journals.delete?.(runId);
    let actor = await open(runId, input);
    const asked = new Map<string, number>();
    while (await actor.park({ wait: true })) {
      const { approvals } = actor.pending;
      if (approve === undefined || approvals.length === 0) {
        const place = JSON.stringify(actor.getSnapshot().value);
        const expected = approvals.length > 0 ? 'the option "approve"' : 'a machine that ends without events';
        const problem = `${host.machineId} waits in ${place}; expected ${expected}`;
        throw new PostChainError('invalid_option', `cases: for ${describeValue(name)}, ${problem}.`);
      }
      for (const { digest, question } of approvals) {
        const times = (asked.get(digest) ?? 0) + 1;
        asked.set(digest, times);
        const problem = `${host.machineId} asks the same question more than ${MOST_ASKED} times: ${describeValue(question)}`;
        if (times > MOST_ASKED)
          throw new PostChainError('invalid_option', `cases: for ${describeValue(name)}, ${problem}.`);
      }
      const answers = await Promise.all(approvals.map((one) => answerTo(one, evaluated, approve)));
      actor = await open(runId, input);
      for (const answer of answers) await actor.send(answer);
    }
    const error = await actor.output.then(() => null, firstLineOf);
    const status = error === null ? 'done' : 'error';
    const snapshot = actor.getSnapshot() as AnyMachineSnapshot;
    const usage = usageIn(await entriesOf(host.journals.read(runId)));
    const isStored = known.get(runId) === 'done' || known.get(runId) === 'error';
    return { output: snapshot.output, status, error, usage, cost: usage.cost, isStored, snapshot };
  };
  return async (...given) => (await startInSlot(slots, undefined, async () => ({ settled: run(...given) }))).settled;
}

async function answerTo(approval: OpenApproval, evaluated: EvaluationCase, approve: Approve): Promise<ApprovalGiven> {
  const answer: ApprovalGiven = {
    ...(await approve(approval, evaluated)),
    ...{ type: 'approval.given', id: approval.id, digest: approval.digest },
  };
  if (isAnswer(answer, approval)) return answer;
  const expected = 'expected { decision: "approve" or "deny", edited?, reason? }';
  throw new PostChainError('invalid_option', `approve: ${expected}; received ${describeValue(answer.decision)}.`);
}

function checked(score: number | boolean, what: string): number {
  const value = Number(score);
  if (value >= 0 && value <= 1) return value;
  const expected = 'expected a number from 0 to 1, true or false';
  throw new PostChainError('invalid_option', `${what}: ${expected}; received ${describeValue(score)}.`);
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

function totalsOf(results: readonly EvaluatedCase<unknown>[]): EvaluatedTotals {
  const sum = (of: (result: Result) => number): number => results.reduce((total, result) => total + of(result), 0);
  const scorers = Object.keys(results[0]?.scores ?? {});
  const hasPrices = results.every(({ cost }) => cost !== null);
  return {
    scores: Object.fromEntries(scorers.map((name) => [name, mean(results.map(({ scores }) => scores[name] ?? 0))])),
    completed: mean(results.map(({ status }) => Number(status === 'completed' || status === 'done'))),
    modelCalls: sum(({ usage }) => usage.modelCalls),
    inputTokens: sum(({ usage }) => usage.inputTokens),
    outputTokens: sum(({ usage }) => usage.outputTokens),
    cost: hasPrices ? sum(({ cost }) => cost ?? 0) : null,
  };
}

/** Returns an evaluation as a Markdown table of the systems, and a list of the cases with a score below 1, with their outputs and the expected ones. */
export function evaluationText({ cases, systems }: Evaluation<unknown>): string {
  const scorers = Object.keys(cases[0]?.scores ?? {});
  const row = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`;
  const head = ['system', ...scorers, ...COLUMNS];
  const rows = Object.entries(systems).map(([name, { scores, completed, cost, ...of }]) => {
    const shares = [...scorers.map((scorer) => scores[scorer] ?? 0), completed].map(percent);
    const price = cost === null ? '–' : cost.toPrecision(3);
    return row([name, ...shares, of.modelCalls, of.inputTokens, of.outputTokens, price]);
  });
  const wrong = cases.filter(({ scores }) => Object.values(scores).some((score) => score < 1));
  const lines = wrong.map(({ name, system, scores, status, error, runId, output, expected }) => {
    const low = scorers
      .filter((scorer) => (scores[scorer] ?? 0) < 1)
      .map((one) => `${one} ${percent(scores[one] ?? 0)}`);
    const wanted = expected === undefined ? [] : [`expected ${shown(expected)}`];
    const result = error === null ? [status, `output ${shown(output)}`] : [`${status}: ${error}`];
    return `- ${name} (${system}): ${[low.join(', '), ...result, ...wanted, runId].join('; ')}`;
  });
  return [row(head), row(head.map(() => '---')), ...rows, ...(lines.length > 0 ? ['', ...lines] : [])].join('\n');
}

/** Returns an output on one line; for a chain, only its answer. */
function shown(value: unknown): string {
  const { answerText = value } = Object(value) as { readonly answerText?: unknown };
  return cutEnd(oneLine(JSON.stringify(plainJson(answerText)) ?? 'none'), MAX_SHOWN_CHARS);
}

const MAX_SHOWN_CHARS = 200;

const percent = (share: number): string => `${(share * 100).toFixed(0)} %`;
