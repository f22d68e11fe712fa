import { PostChainError } from '../../machines/contracts/error.ts';
import type { Run } from '../chain/runtime/run.ts';
import type { RecordedModel } from './recorded-run.ts';
import { isWaiting } from './run-figures.ts';
import type { RunList } from './runs.ts';
import type { ActResult, NeedsTrust, RunAction } from './wire.ts';

/** Continues recorded runs for the page: `chain.resume` and `chain.fork` of your chain, or functions that ask for trust first. */
export interface RunActions {
  /** The model that continues a run whose journal names none; the page shows it before a fork. */
  readonly model?: string | undefined;
  /** Returns why a run cannot be resumed here, and what to do; null if it can. Given a reason, the page does not offer to resume it, and shows what follows the first line as code. By default, all runs can be resumed. */
  blocked?(run: RecordedModel): string | null;
  resume(runId: string, options: ResumeOptions): Promise<Run | NeedsTrust>;
  fork(runId: string, change: ForkChange, options: ActionOptions): Promise<Run | NeedsTrust>;
}

export interface ActionOptions {
  /** The question that the user has confirmed; null if none. Ask again if yours differs: the journal may have been replaced. */
  readonly confirmed: NeedsTrust | null;
}

interface ResumeOptions extends ActionOptions {
  /** Takes over a run that another process holds. */
  readonly force: boolean;
}

type ForkChange = Omit<Extract<RunAction, { type: 'fork' }>, 'type' | 'event'>;

/** Performs an action that a page requested on a recorded run. Rejects if it cannot be performed. */
export async function act(
  runs: RunList,
  actions: RunActions | null,
  { runId, action, confirmed }: ActionOptions & { readonly runId: string; readonly action: RunAction },
): Promise<ActResult> {
  const nothing: ActResult = { runId: null, note: '', needsTrust: null };
  if (actions === null)
    throw new PostChainError(
      'invalid_option',
      'This inspector cannot continue runs; use "postchain inspect", or pass "actions" to inspectionServer.',
    );
  if (action.type === 'resume' && (await runs.find(runId))?.info().live) return { ...nothing, runId };
  if (action.type === 'resume' && action.force === true) await requireWaiting(runs, runId);
  const options = { confirmed };
  const { type, ...change } = action;
  if (type !== 'resume' && type !== 'fork')
    throw new PostChainError(
      'invalid_option',
      `A recorded run does not support "${type}"; expected "resume" or "fork".`,
    );
  const result =
    type === 'resume'
      ? await actions.resume(runId, { ...options, force: action.force === true })
      : await actions.fork(runId, change as ForkChange, options);
  if ('doubt' in result) return { ...nothing, needsTrust: result };
  runs.watch(result, false);
  return { ...nothing, runId: result.id };
}

/** The process that runs it may have received the answer meanwhile: a tool that it executes now would run again here. */
async function requireWaiting(runs: RunList, runId: string): Promise<void> {
  const entries = await (await runs.find(runId))?.entries?.();
  if (entries === undefined || isWaiting(entries)) return;
  throw new PostChainError(
    'invalid_option',
    'The run was not taken over: it no longer waits for you, so its process continues it, or has ended it.',
  );
}
