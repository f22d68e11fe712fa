import type { CapabilityFailure, CapabilityResult } from '../../machines/contracts/capability.ts';
import { unexpectedFailure } from '../../machines/policies/failures.ts';
import { oneLine } from '../../machines/text/clip.ts';
import { unlessAborted } from '../internal/async.ts';
import type { CapabilityContext } from './capability.ts';
import { quoted } from './quoted.ts';
import type { CapabilityRegistry } from './registry.ts';

export interface CapabilityRun extends CapabilityContext {
  readonly capability: string;
  /** Checked: as `checkArguments` gave them. */
  readonly arguments: Record<string, unknown>;
  /** Characters of the output; a longer one is a failed run. */
  readonly maxResultChars: number;
}

type Outcome = Pick<CapabilityResult, 'success' | 'output' | 'code' | 'error'>;

/**
 * Runs a capability on checked arguments [R2]. What goes wrong is a result without success [R7]: what it throws, whatever that is, a
 * result that is no JSON, and one that is too long. An abort ends the run at once; what the capability does afterwards is nobody's.
 * It never rejects.
 */
export async function runCapability(registry: CapabilityRegistry, run: CapabilityRun): Promise<CapabilityResult> {
  const { capability, arguments: args, sessionId } = run;
  const startedAtMs = run.now();
  const outcome = await untilAborted(registry, run);
  const durationMs = Math.max(0, run.now() - startedAtMs);
  return { capability, arguments: args, ...outcome, sessionId, synthesized: false, startedAtMs, durationMs };
}

/** What it comes to, or that it was aborted, whichever is first. */
async function untilAborted(registry: CapabilityRegistry, run: CapabilityRun): Promise<Outcome> {
  try {
    run.signal.throwIfAborted();
    return await unlessAborted(outcomeOf(registry, run), run.signal);
  } catch (error) {
    if (run.signal.aborted) return failed('broken_off', 'the run was aborted');
    return failed('threw', unexpectedFailure(error).message);
  }
}

async function outcomeOf(registry: CapabilityRegistry, run: CapabilityRun): Promise<Outcome> {
  const { capability: name, arguments: args, maxResultChars, signal, sessionId, idempotencyKey } = run;
  const capability = registry.get(name);
  const reading = await registry.readerOf(name)?.read(args);
  if (capability === undefined || reading === undefined)
    return failed('unknown_capability', `there is no capability ${quoted(name)}`);
  if (!reading.ok) return failed('arguments_misfit', reading.problem);
  try {
    const given = await capability.execute(reading.value, { signal, now: () => run.now(), sessionId, idempotencyKey });
    const output = textOf(given);
    if (output.length <= maxResultChars) return { success: true, output, code: null, error: null };
    return failed(
      'result_too_long',
      `the result has ${output.length} characters; at most ${maxResultChars} are taken: ask for less of it`,
    );
  } catch (error) {
    return failed('threw', unexpectedFailure(error).message);
  }
}

/** A text as it is, anything else as JSON; what JSON leaves out is no text. */
function textOf(given: unknown): string {
  return typeof given === 'string' ? given : (JSON.stringify(given) ?? '');
}

function failed(code: CapabilityFailure, error: string): Outcome {
  return { success: false, output: '', code, error: oneLine(error) };
}
