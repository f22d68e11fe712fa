import { PostChainError } from '../../machines/contracts/error.ts';
import type { RunStatus } from '../../machines/contracts/journal.ts';
import { readRun, runEntries } from '../chain/journal/run-journal.ts';
import { runStartOf } from '../chain/journal/run-start.ts';
import { parseJson } from '../internal/json-text.ts';
import { forkActor, resumeActor } from './actor-commands.ts';
import type { ModuleFlags } from './durable-modules.ts';
import { findContinuable } from './find-run.ts';
import { prepareRun } from './prepare-run.ts';
import { type ContinueFlags, flagsToContinue, requireModel, requireSameStart, startIn } from './recorded-flags.ts';
import { completeRun, printEndedRun } from './run-command.ts';
import type { StandardStreams } from './screen.ts';

export interface ForkFlags extends ContinueFlags, ModuleFlags {
  readonly at: number;
  readonly set?: readonly string[];
}

export async function resumeCommand(
  name: string,
  { force = false, ...flags }: ContinueFlags & ModuleFlags & { readonly force?: boolean },
  streams: StandardStreams = process,
): Promise<number> {
  const found = await findContinuable(name, flags);
  if (found.kind === 'actor') return print(await resumeActor(found), streams);
  if (ENDED.has(found.status)) return printEndedRun(found, flags, streams);
  const start = await startIn(runEntries(found.store.read(found.runId)));
  const continued = await flagsToContinue(start, found.isForeign, flags, streams);
  const prepared = await prepareRun(continued, requireSameStart(start, found.store));
  return completeRun(prepared, flags, streams, ({ chain }) => {
    requireModel(start, flags, chain);
    return chain.resume(found.runId, { force });
  });
}

const ENDED: ReadonlySet<RunStatus> = new Set(['completed', 'degraded', 'cancelled']);

export async function forkCommand(name: string, flags: ForkFlags, streams: StandardStreams = process): Promise<number> {
  const { at, set = [], module: _, ...others } = flags;
  const found = await findContinuable(name, flags);
  if (found.kind === 'actor') return print(await forkActor(found, at), streams);
  const changes = Object.fromEntries(set.map(parseChange));
  const notes =
    set.length > 0
      ? []
      : ['No --set: the fork repeats the run from there on, with the recorded results of identical calls'];
  const entries = await readRun(found.store.read(found.runId));
  // A fork is not added to the session of the original run.
  const start = runStartOf(entries);
  const {
    session: __,
    sessionFile: ___,
    ...continued
  } = await flagsToContinue(start, found.isForeign, others, streams);
  const prepared = await prepareRun(continued);
  return completeRun({ ...prepared, notes: [...prepared.notes, ...notes] }, flags, streams, ({ chain, host }) =>
    chain.fork(entries, { at, set: changes, host }),
  );
}

function print({ text, code }: { readonly text: string; readonly code: number }, { stdout }: StandardStreams): number {
  stdout.write(text);
  return code;
}

/** Parses `path=value`. The value is JSON or, failing that, text. */
export function parseChange(text: string): readonly [string, unknown] {
  const at = text.indexOf('=');
  if (at < 1)
    throw new PostChainError(
      'invalid_option',
      `--set expects path=value, for example thresholds.confidence=0.5; received "${text}"`,
    );
  const value = text.slice(at + 1);
  const parsed = parseJson(value);
  return [text.slice(0, at), parsed === undefined ? value : parsed];
}
