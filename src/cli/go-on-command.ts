import { PostChainError } from '../../machines/contracts/error.ts';
import { entriesOf } from '../journal/entries-of.ts';
import { findRun } from './open-journals.ts';
import { prepareRun } from './prepare-run.ts';
import { type GivenFlags, recordedFlags } from './recorded-flags.ts';
import { playRun, type Streams } from './run-command.ts';

export interface ForkFlags extends GivenFlags {
  readonly at: number;
  readonly set?: readonly string[];
}

/** `postchain resume`: goes on with a run whose process ended. What it was prepared by is taken from its journal, and can be given anew. */
export async function resumeCommand(name: string, flags: GivenFlags, streams: Streams = process): Promise<number> {
  const found = await findRun(name, flags);
  const prepared = await prepareRun({ ...(await recordedFlags(found, flags)), ...flags }, found.store);
  return playRun(prepared, flags, streams, ({ chain }) => chain.resume(found.runId));
}

/** `postchain fork`: another run that is this one up to an entry. */
export async function forkCommand(name: string, flags: ForkFlags, streams: Streams = process): Promise<number> {
  const { at, set = [], ...others } = flags;
  const changes = Object.fromEntries(set.map(readChange));
  const found = await findRun(name, flags);
  const entries = await entriesOf(found.store.read(found.runId));
  // The session is its run's: what might have been said is not remembered in it.
  const { session: _, sessionFile: __, ...recorded } = await recordedFlags(found, flags);
  const prepared = await prepareRun({ ...recorded, ...others });
  return playRun(prepared, flags, streams, ({ chain }) => chain.fork(entries, { at, set: changes }));
}

/** `path=value`: the value is JSON, or else a text. */
function readChange(text: string): readonly [string, unknown] {
  const at = text.indexOf('=');
  if (at < 1)
    throw new PostChainError(
      'invalid_option',
      `--set: got "${text}"; wanted path=value, say thresholds.confidence=0.5.`,
    );
  const value = text.slice(at + 1);
  try {
    return [text.slice(0, at), JSON.parse(value)];
  } catch {
    return [text.slice(0, at), value];
  }
}
