import type { CapabilityFailure, CapabilityRunResult } from '../../machines/contracts/capability.ts';
import { unexpectedFailure } from '../../machines/policies/failures.ts';
import { clippedLine } from '../../machines/text/clip.ts';
import { unlessAborted } from '../internal/async.ts';
import type { CapabilityContext } from './capability.ts';
import { quoted } from './error-text.ts';
import type { CapabilityRegistry } from './registry.ts';

export interface CapabilityRun extends CapabilityContext {
  readonly capability: string;
  /** As returned by `checkArguments`. */
  readonly arguments: Record<string, unknown>;
  /** The maximum characters of the output; a longer output fails the run. */
  readonly maxResultChars: number;
}

type Outcome = Pick<CapabilityRunResult, 'success' | 'output' | 'code' | 'error'>;

/**
 * Runs a capability on checked arguments. Anything that goes wrong becomes an unsuccessful result: a thrown error, a result that is not
 * JSON, an output that is too long. An abort ends the run at once, whatever the capability does afterwards. Never rejects.
 */
export async function runCapability(registry: CapabilityRegistry, run: CapabilityRun): Promise<CapabilityRunResult> {
  const { capability, arguments: args, sessionId } = run;
  const startedAtMs = run.now();
  const outcome = await outcomeUnlessAborted(registry, run);
  const durationMs = Math.max(0, run.now() - startedAtMs);
  return { capability, arguments: args, ...outcome, sessionId, synthesized: false, startedAtMs, durationMs };
}

async function outcomeUnlessAborted(registry: CapabilityRegistry, run: CapabilityRun): Promise<Outcome> {
  try {
    run.signal.throwIfAborted();
    return await unlessAborted(outcomeOf(registry, run), run.signal);
  } catch (error) {
    if (run.signal.aborted) return failed('aborted', 'the run was aborted');
    return failed('threw', unexpectedFailure(error).message);
  }
}

async function outcomeOf(registry: CapabilityRegistry, run: CapabilityRun): Promise<Outcome> {
  const { capability: name, arguments: args, maxResultChars, signal, sessionId, idempotencyKey } = run;
  const capability = registry.get(name);
  const validator = registry.validatorOf(name);
  if (capability === undefined || validator === undefined)
    return failed('unknown_capability', `unknown capability ${quoted(name)}`);
  // A run that waited for approval may continue with another version of the schema, which would drop a key that it no longer has.
  const unknownKey = validator.unknownKeyIn(args);
  if (unknownKey !== null) return failed('arguments_misfit', unknownKey);
  const validated = await validator.validate(args);
  if (!validated.ok) return failed('arguments_misfit', validated.problem);
  try {
    const context = { signal, now: () => run.now(), sessionId, idempotencyKey };
    const result = await capability.execute(validated.value, context);
    const output = typeof result === 'string' ? result : (JSON.stringify(result) ?? '');
    if (output.length <= maxResultChars) return { success: true, output, code: null, error: null };
    return failed(
      'result_too_long',
      `the result has ${output.length} characters; the maximum is ${maxResultChars}; request less of it`,
    );
  } catch (error) {
    return failed('threw', unexpectedFailure(error).message);
  }
}

function failed(code: CapabilityFailure, error: string): Outcome {
  return { success: false, output: '', code, error: clippedLine(error) };
}
