import type { Capability, CapabilityContext } from './capability.ts';
import type { CapabilityRegistry } from './registry.ts';

export interface CheckedCall {
  readonly capability: string;
  readonly arguments: Record<string, unknown>;
}

/**
 * Whether a call must be approved before it runs. A capability without `approval` follows the default. If its function throws or returns
 * anything but a boolean, approval is needed. Never rejects.
 */
export async function needsApproval(
  registry: CapabilityRegistry,
  { capability: name, arguments: given }: CheckedCall,
  byDefault: 'always' | 'never',
  context: Omit<CapabilityContext, 'idempotencyKey'>,
): Promise<boolean> {
  const approval: Capability['approval'] = registry.get(name)?.approval ?? byDefault;
  if (typeof approval !== 'function') return approval !== 'never';
  try {
    const validated = await registry.validatorOf(name)?.validate(given);
    return !validated?.ok || (await approval(validated.value, context)) !== false;
  } catch {
    return true;
  }
}
