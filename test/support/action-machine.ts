import { initialActionState } from '../../machines/action/setup.ts';
import type { ActionInput, ActionState } from '../../machines/contracts/action-state.ts';
import { POLICY } from './attempt-machine.ts';

/** What the action machine is started with: these capabilities, and a request. */
export function actionInput(capabilities: readonly string[], changes: Partial<ActionInput> = {}): ActionInput {
  const request = 'Write a note.';
  return {
    id: 's1.action',
    identity: 'r1',
    input: {
      phase: 'action',
      runId: 'r1',
      request,
      prompt: request,
      cycle: 1,
      step: 1,
      content: '',
      messages: [],
      capabilities: capabilities.map((name) => ({
        name,
        description: `It can ${name}.`,
        arguments: {},
        timeoutMs: null,
      })),
    },
    policy: { ...POLICY, maxCorrections: 0 },
    continuationPolicy: changes.policy ?? { ...POLICY, maxCorrections: 0 },
    decider: 'function',
    approver: 'user',
    approvalMs: null,
    maxContinuations: 5,
    maxParallelCalls: 4,
    maxSameCalls: 3,
    capabilityMs: 1_000,
    maxResultChars: 100_000,
    maxTokens: 1_000_000,
    sessionId: null,
    calls: [],
    ...changes,
  };
}

/** A loop as it begins, with these changes. */
export function anActionState(changes: Partial<ActionState> = {}): ActionState {
  return { ...initialActionState(actionInput(['draft', 'review'])), ...changes };
}
