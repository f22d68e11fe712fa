import { fromPromise } from 'xstate';
import type { z } from 'zod';
import type { ArgumentsCheck, DecideContinuationInput, ExecuteCapabilityInput } from '../../machines/action/ports.ts';
import type { CapabilityCall, CapabilityResult, continuationSchema } from '../../machines/contracts/capability.ts';
import { unexpectedFailure } from '../../machines/policies/failures.ts';
import type { Clock } from '../attempts/clock.ts';
import type { CapabilityRegistry } from '../capabilities/registry.ts';

/** Says what comes after a capability's result [R1]: done, or one more call. */
export type Decider = (
  input: DecideContinuationInput,
  options: { readonly signal: AbortSignal },
) => DeciderSays | Promise<DeciderSays>;

type DeciderSays = z.input<typeof continuationSchema>;

/** Done after the first run: the default [R6]. */
export const noopDecider: Decider = () => ({ done: true, finalOutput: null });

/** The ports of the action machine but its attempt. */
export function createActionActors(registry: CapabilityRegistry, decider: Decider | null, clock: Clock) {
  return {
    validateArguments: fromPromise<ArgumentsCheck, CapabilityCall>(async ({ input }) =>
      checkArguments(registry, input),
    ),
    executeCapability: fromPromise<CapabilityResult, ExecuteCapabilityInput>(async ({ input, signal }) => {
      const startedAtMs = clock.now();
      const ran = await settled(() => run(registry, input, signal));
      const durationMs = Math.max(0, clock.now() - startedAtMs);
      return { ...input, ...ran, synthesized: false, startedAtMs, durationMs };
    }),
    decideContinuation: fromPromise<unknown, DecideContinuationInput>(async ({ input, signal }) =>
      (decider ?? noopDecider)(input, { signal }),
    ),
  };
}

async function run(registry: CapabilityRegistry, call: ExecuteCapabilityInput, signal: AbortSignal): Promise<string> {
  const capability = registry.get(call.capability);
  if (capability === undefined) throw new Error(`there is no capability "${call.capability}"`);
  const result = await capability.execute(await capability.arguments.parseAsync(call.arguments), { signal });
  return typeof result === 'string' ? result : (JSON.stringify(result) ?? '');
}

/** What a capability gives or throws, as a result [R7]. */
async function settled(given: () => Promise<string>): Promise<Pick<CapabilityResult, 'success' | 'output' | 'error'>> {
  try {
    return { success: true, output: await given(), error: null };
  } catch (error) {
    return { success: false, output: '', error: unexpectedFailure(error).message };
  }
}

async function checkArguments(registry: CapabilityRegistry, call: CapabilityCall): Promise<ArgumentsCheck> {
  const schema = registry.get(call.capability)?.arguments;
  if (schema === undefined) return { ok: false, problem: `there is no capability "${call.capability}"` };
  const given = parseObject(call.arguments);
  if (given === null) return { ok: false, problem: 'the arguments are no JSON object' };
  const checked = await schema.safeParseAsync(given);
  if (checked.success) return { ok: true, arguments: given };
  const [issue] = checked.error.issues;
  return { ok: false, problem: `${issue?.path.join('.') || 'the arguments'}: ${issue?.message ?? 'do not fit'}` };
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null;
  }
}
