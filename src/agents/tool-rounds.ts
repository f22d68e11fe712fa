import type { GuardResult } from '../../machines/contracts/decision.ts';
import type { AskedCall, ToolResult } from './tool-call.machine.ts';

/** Limits of `runTools`. */
export interface ToolLimits {
  /** The most rounds of calls. After them, the model has to answer. Default 50. */
  readonly maxRounds?: number;
  /** Calls that run at the same time; others of the round wait. Default 8. */
  readonly maxParallelCalls?: number;
  /** The most rounds in a row with the same calls. After them, the model has to answer. Default 3. */
  readonly maxSameCalls?: number;
  /** The time of one execution of a tool without a `timeoutMs` of its own, in milliseconds. Default 30,000. */
  readonly toolMs?: number;
  /** Characters of one result; a longer one is an error that the model reads. Default 20,000. */
  readonly maxResultChars?: number;
}

export type Limits = Readonly<Required<ToolLimits>>;

/** The calls of one reply, with their results in the same order, and the text before them. */
export interface Round {
  readonly text: string;
  readonly calls: readonly ToolResult[];
}

/** Why no more tools ran. */
export type ToolsStop = 'answered' | 'rounds_ended' | 'same_calls_repeated';

export interface ToolsSettings {
  readonly limits: Limits;
  /** The time limits of tools that have their own, by name. */
  readonly timeouts: Readonly<Record<string, number>>;
}

export interface ToolsState extends ToolsSettings {
  /** What the prompt is rendered from. */
  readonly given: unknown;
  readonly rounds: readonly Round[];
  /** The round in progress: its text and calls, how many have started, and the results of those that have ended. */
  readonly text: string;
  readonly calls: readonly AskedCall[];
  readonly started: number;
  readonly results: readonly ToolResult[];
  readonly answer: unknown;
  readonly stopReason: ToolsStop;
}

export function beginRound(
  { rounds }: ToolsState,
  { text, calls }: { readonly text: string; readonly calls: readonly AskedCall[] },
): Partial<ToolsState> {
  const isFirst = (id: string, at: number): boolean => id !== '' && calls.findIndex((call) => call.id === id) === at;
  const named = calls.map((call, at) =>
    isFirst(call.id, at) ? call : { ...call, id: `call_${rounds.length + 1}_${at + 1}` },
  );
  return { text, calls: named, started: 0, results: [] };
}

/** The calls of the round that may start now. */
export function waitingCalls({ calls, started, results, limits }: ToolsState): readonly AskedCall[] {
  const free = limits.maxParallelCalls - (started - results.length);
  return calls.slice(started, started + Math.max(0, free));
}

/** Adds a result at the place of its call among the calls. */
export function endCall({ calls, results }: ToolsState, result: ToolResult): Partial<ToolsState> {
  const known = new Map([...results, result].map((one) => [one.id, one]));
  return { results: calls.flatMap(({ id }) => known.get(id) ?? []) };
}

export const roundsLeft = ({ limits, rounds }: ToolsState): number => limits.maxRounds - rounds.length;

/** Whether these calls are those of each of the last rounds, as often as `maxSameCalls` allows. */
export function repeatsCalls({ rounds, limits }: ToolsState, calls: readonly AskedCall[]): GuardResult {
  const key = keyOf(calls);
  const other = rounds.findLastIndex((round) => keyOf(round.calls) !== key);
  const repeated = calls.length === 0 ? 0 : rounds.length - 1 - other;
  return { holds: repeated >= limits.maxSameCalls, inputs: { repeated, maxSameCalls: limits.maxSameCalls } };
}

const keyOf = (calls: readonly AskedCall[]): string =>
  JSON.stringify(calls.map((call) => [call.tool, call.arguments]).sort());
