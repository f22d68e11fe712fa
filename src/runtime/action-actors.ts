import { fromPromise } from 'xstate';
import type {
  ArgumentsCheck,
  Continuation,
  DecideContinuationInput,
  ExecuteCapabilityInput,
} from '../../machines/action/ports.ts';
import type { CapabilityCall, CapabilityResult } from '../../machines/contracts/capability.ts';
import { unexpectedFailure } from '../../machines/policies/failures.ts';
import type { CapabilityRegistry } from '../capabilities/registry.ts';
import type { Clock } from './clock.ts';

/** Says what comes after a capability's result [R1]: done, or one more call. */
export type Decider = (
  input: DecideContinuationInput,
  options: { readonly signal: AbortSignal },
) => Continuation | Promise<Continuation>;

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
      const ran = await attempt(async () => {
        const capability = registry.get(input.capability);
        if (capability === undefined) throw new Error(`there is no capability "${input.capability}"`);
        return asText(await capability.execute(input.arguments, { signal }));
      });
      const durationMs = Math.max(0, clock.now() - startedAtMs);
      return { ...input, ...ran, synthesized: false, startedAtMs, durationMs };
    }),
    decideContinuation: fromPromise<Continuation, DecideContinuationInput>(async ({ input, signal }) =>
      (decider ?? noopDecider)(input, { signal }),
    ),
  };
}

async function attempt(run: () => Promise<string>): Promise<Pick<CapabilityResult, 'success' | 'output' | 'error'>> {
  try {
    return { success: true, output: await run(), error: null };
  } catch (error) {
    return { success: false, output: '', error: unexpectedFailure(error).message };
  }
}

async function checkArguments(registry: CapabilityRegistry, call: CapabilityCall): Promise<ArgumentsCheck> {
  const schema = registry.get(call.capability)?.arguments;
  if (schema === undefined) return { ok: false, problem: `there is no capability "${call.capability}"` };
  const checked = await schema.safeParseAsync(parseObject(call.arguments));
  if (!checked.success) return { ok: false, problem: checked.error.message };
  return { ok: true, arguments: checked.data as Record<string, unknown> };
}

function parseObject(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
